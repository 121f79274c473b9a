package robotscmd

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"

	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// verdict is the answer for one selector.
type verdict struct {
	Selector string `json:"selector"`
	Allowed  bool   `json:"allowed"`
	Line     int    `json:"line,omitempty"`
	Rule     string `json:"rule,omitempty"`
	Pattern  string `json:"pattern,omitempty"`
	RunnerUp string `json:"runner_up,omitempty"`
	Why      string `json:"why"`
	Agent    string `json:"agent"`
	Source   string `json:"source"`
	Index    string `json:"index,omitempty"`    // of an IRC network: allow, deny or unspecified
	Cooldown int    `json:"cooldown,omitempty"` // of an IRC network, in seconds

	Missing bool `json:"missing,omitempty"` // nothing in the directory is called that now

	Usage []preference `json:"usage,omitempty"` // what Content-Usage lines state of it
}

// preference is the stated preference for one use.
type preference struct {
	Key        string `json:"key"`
	Preference string `json:"preference"` // y, n or unstated
	Line       int    `json:"line"`
}

// Test answers for each selector; exit status 1 if any is denied.
func (c *Command) Test(ctx context.Context) error {
	if len(c.Args) == 0 {
		return exit.Usagef("gophd robots test ./content /phlog/drafts/",
			"test needs a target and a selector")
	}
	agent, err := c.product()
	if err != nil {
		return err
	}
	s, err := c.load(ctx, c.Args[0])
	if err != nil {
		return err
	}
	selectors := c.Args[1:]
	if len(selectors) == 0 && s.network == nil {
		return exit.Usagef(diag.Command("gophd", "robots", "test", "--", c.Args[0], "/phlog/"),
			"test needs at least one selector")
	}
	if len(selectors) == 0 {
		selectors = []string{s.name}
	}
	if err := noURLs(selectors); err != nil {
		return err
	}
	var verdicts []verdict
	text, allowed := "", true
	for _, sel := range selectors {
		v := s.verdict(agent, sel)
		verdicts = append(verdicts, v)
		text += v.String() + "\n"
		allowed = allowed && v.Allowed
	}
	return c.print(verdicts, text, allowed)
}

// noURLs refuses URLs for selectors: no rule would match them, and the answer
// would be that they are allowed.
func noURLs(selectors []string) error {
	for _, sel := range selectors {
		scheme, rest, found := strings.Cut(sel, "://")
		if !found || selector.PortOf(strings.ToLower(scheme)) == 0 {
			continue
		}
		_, want, _ := strings.Cut(rest, "/")
		if u, err := selector.ParseURL(sel); err == nil {
			want = strings.TrimPrefix(u.Selector, "/")
		}
		return exit.Usagef("without scheme, host and type: "+strconv.Quote("/"+want),
			"%q is a URL, not a selector", sel)
	}
	return nil
}

func (s ruleSource) verdict(agent, sel string) verdict {
	if s.network != nil {
		return s.networkVerdict(agent, sel)
	}
	asked := sel
	if s.gopher && s.file.Dialect() == readers.RFC9309 {
		asked = string(selector.AppendURI(nil, sel))
	}
	d := s.file.Decide(agent, asked)
	v := verdict{
		Selector: sel,
		Allowed:  d.Allowed,
		Line:     d.Rule.Line,
		Pattern:  d.Pattern,
		Why:      d.Reason.String(),
		Agent:    agent,
		Source:   s.name,
		Rule:     ruleText(d.Rule),
		RunnerUp: ruleText(d.RunnerUp),
	}
	if s.snap != nil {
		r, err := find(s.snap, sel)
		v.Missing = err == nil && !r.exists
	}
	for _, p := range s.file.Usage(agent, asked) {
		v.Usage = append(v.Usage, preference{p.Key, p.Preference.String(), p.Line})
	}
	if s.note != "" {
		v.Why = s.note
	}
	if err := s.file.Readable(); err != nil {
		return verdict{
			Selector: sel,
			Why:      err.Error() + ", so a robot must take everything as denied",
			Agent:    agent,
			Source:   s.name,
		}
	}
	return v
}

// networkVerdict is the verdict about an IRC network: only index:allow is a permission.
func (s ruleSource) networkVerdict(agent, sel string) verdict {
	why := "the CRAWLER token binds every robot"
	if s.network.Index == readers.IndexUnspecified {
		why = "the network states no preference, which is no permission"
	}
	return verdict{
		Selector: sel,
		Allowed:  s.network.Index == readers.IndexAllow,
		Rule:     s.network.String(),
		Why:      why,
		Agent:    agent,
		Source:   s.name,
		Index:    s.network.Index.String(),
		Cooldown: int(s.network.Cooldown / time.Second),
	}
}

func ruleText(r readers.Rule) string {
	switch {
	case r.Line == 0:
		return ""
	case r.Allow:
		return "Allow: " + r.Pattern
	}
	return "Disallow: " + r.Pattern
}

// String returns the verdict in one line: the answer, what decides, and why; and a
// line for each preference about its use.
func (v verdict) String() string {
	answer, reason := "allow", "no rule matches"
	if !v.Allowed {
		answer = "deny "
	}
	switch {
	case v.Index == readers.IndexUnspecified.String():
		answer, reason = v.Index, "no CRAWLER token with an index"
	case v.Index != "":
		reason = v.Rule
	case v.Line > 0:
		reason = diag.Place(v.Source, v.Line) + ": " + v.Rule
	}
	text := fmt.Sprintf("%s %s  %s (%s)", answer, strconv.Quote(v.Selector), reason, v.Why)
	if v.Missing {
		text += "\n      " + notThere(v.Allowed)
	}
	for _, p := range v.Usage {
		text += fmt.Sprintf("\n      %s=%s  %s", p.Key, p.Preference,
			diag.Place(v.Source, p.Line))
	}
	return text
}

// notThere is the remark about a selector that names nothing: what the rules would decide.
func notThere(allowed bool) string {
	if allowed {
		return "nothing is called that now; it would be allowed"
	}
	return "nothing is called that now; the rule would deny it"
}
