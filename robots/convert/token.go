package convert

import (
	"strings"

	"github.com/gophd/gophd/robots/readers"
)

// fromToken writes the rules of the CRAWLER token, for the whole network.
func (c *converter) fromToken() {
	crawler, _ := c.file.Crawler()
	if crawler.Cooldown != readers.DefaultCooldown {
		c.lose(0, "FIELD", "the cooldown of %s", crawler.Cooldown)
	}
	if crawler.Index == readers.IndexUnspecified {
		return
	}
	if c.to != readers.GopherStrict {
		c.line("User-agent", "*")
	}
	if crawler.Index == readers.IndexAllow {
		c.open()
		return
	}
	c.line("Disallow", "/")
	if c.to.Syntax(readers.Version1).Glob && c.to != readers.RFC9309 {
		c.line("Disallow", "*") // the empty selector, too
	}
}

// token writes the CRAWLER token: allow if everything is allowed, deny if
// everything is denied. Of anything between it says nothing.
func (c *converter) token() {
	f := c.file
	rules := c.rules(f.Agent("*").Groups())
	crawler := readers.Crawler{Cooldown: readers.DefaultCooldown}
	if len(rules) == 0 {
		crawler.Index = readers.IndexAllow
	}
	for _, r := range rules {
		if r.rule.Allow {
			c.lose(r.rule.Line, "ALLOW", "Allow: %q cannot be said", r.rule.Pattern)
		} else if r.shape.all() {
			crawler.Index = readers.IndexDeny
		} else {
			c.lose(r.rule.Line, "PATTERN", "Disallow: %q: a network is indexed or not", r.rule.Pattern)
		}
	}
	for _, name := range names(f)[1:] {
		c.lose(name.Line, "AGENT", "the rules for %q", name.Token)
	}
	for l := range f.Lines() {
		if name := strings.ToLower(l.Field); l.Kind == readers.KindField && name != "robot-version" {
			c.lose(l.Number, "FIELD", "the field %q", name)
		}
	}
	if token := crawler.String(); token != "" {
		c.out = append(c.out, token+"\n"...)
	}
}
