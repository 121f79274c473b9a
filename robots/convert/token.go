package convert

import (
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// Token returns the CRAWLER token of an IRC network for a file: allow if everything is
// allowed, deny if everything is denied, and otherwise none, which is reported.
func Token(f *robots.File) (readers.Crawler, []diag.Diagnostic) {
	c := converter{file: f, said: map[string]bool{}, seen: map[loss]bool{}}
	rules := c.rules(f.Agent("*").Groups())
	crawler := readers.Crawler{Cooldown: readers.DefaultCooldown}
	if len(rules) == 0 {
		crawler.Index = readers.IndexAllow
	}
	for _, r := range rules {
		switch {
		case r.rule.Allow:
			c.lose(r.rule.Line, "ALLOW", "Allow: %q cannot be expressed", r.rule.Pattern)
		case r.shape.all():
			crawler.Index = readers.IndexDeny
		default:
			c.lose(r.rule.Line, "PATTERN", "Disallow: %q: a network is indexed or not",
				r.rule.Pattern)
		}
	}
	for _, name := range names(f)[1:] {
		c.lose(name.Line, "AGENT", "the rules for %q", name.Token)
	}
	for l := range f.Lines() {
		if name := strings.ToLower(l.Field); l.Kind == readers.KindField &&
			name != "robot-version" {
			c.lose(l.Number, "FIELD", "the field %q", name)
		}
	}
	return crawler, c.lost
}
