package robotscmd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"

	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site"
)

// explained is the answer for one selector.
type explained struct {
	Asked   string `json:"asked"` // the selector as it was given
	Exists  bool   `json:"exists"`
	Pointer bool   `json:"pointer"` // the requested spelling gets only a pointer to the selector
	policy.Explanation
}

// Explain prints why each selector is allowed or denied; exit status 1 if any is
// denied.
func (c *Command) Explain(ctx context.Context) error {
	agent, err := c.product()
	if err != nil {
		return err
	}
	if len(c.Args) == 0 || c.Root == "" && len(c.Args) == 1 {
		return exit.Usagef("gophd robots explain ./content /phlog/drafts/",
			"explain needs a directory and a selector")
	}
	snap, err := c.readRoot(ctx)
	if err != nil {
		return err
	}
	if err := noURLs(c.Args); err != nil {
		return err
	}
	var all []explained
	var texts []string
	allowed := true
	for _, sel := range c.Args {
		e, err := explain(snap, agent, sel)
		if err != nil {
			return err
		}
		all = append(all, e)
		texts = append(texts, e.String())
		allowed = allowed && e.Allowed
	}
	return c.print(all, strings.Join(texts, "\n"), allowed)
}

// explain decides a selector by the policy. Like the server, it tries the other spellings of a
// selector that names nothing.
func explain(snap *site.Snapshot, agent, sel string) (explained, error) {
	r, err := find(snap, sel)
	for _, form := range selector.Forms(sel) {
		if found, formErr := find(snap, form); !r.exists && formErr == nil &&
			(found.exists || err != nil) {
			r, err = found, nil
		}
	}
	if err != nil {
		return explained{}, err
	}
	closed := snap.Compiled.Closed(selector.Canonical(r.name, r.dir), sel)
	return explained{
		Asked:       sel,
		Exists:      r.exists,
		Pointer:     closed,
		Explanation: snap.Compiled.Explain(agent, r.name, r.dir),
	}, nil
}

// resource is the file or directory that a selector names.
type resource struct {
	name   string // below the root
	dir    bool
	exists bool
}

func find(snap *site.Snapshot, sel string) (resource, error) {
	name, dir, err := selector.Path(sel)
	var refused *selector.RefusedError
	if errors.As(err, &refused) && refused.Reason == selector.Program && snap.Answers(sel) {
		return resource{strings.Trim(sel, "/"), strings.HasSuffix(sel, "/"), true}, nil
	} else if errors.As(err, &refused) {
		return resource{}, exit.Usagef("the server answers it with an error: no robot gets it",
			"selector %s: %s", strconv.Quote(sel), refused.Reason)
	}
	has := func(dir bool) bool {
		gemini := snap.Capsules()
		return snap.Has(name, dir) || gemini != nil && gemini.Has(name, dir)
	}
	if has(true) {
		return resource{name, true, true}, nil
	}
	return resource{name, dir, snap.Answers(sel) ||
		!dir && (has(false) || name == "robots.txt")}, nil
}

// String returns the explanation in a few lines.
func (e explained) String() string {
	var b strings.Builder
	answer := "allow"
	if !e.Allowed {
		answer = "deny "
	}
	fmt.Fprintf(&b, "%s %s for %s\n", answer, strconv.Quote(e.Selector), e.Agent)
	row := func(what, text string) {
		if text != "" {
			fmt.Fprintf(&b, "    %-11s %s\n", what, text)
		}
	}
	if !e.Exists {
		row("note", notThere(e.Allowed))
	}
	if e.Pointer {
		row("note", strconv.Quote(e.Asked)+
			" is answered with a pointer to it: no robots.txt can name that spelling")
	}
	none := "nothing: what no rule matches is allowed"
	if e.Selector == "/robots.txt" {
		none = "nothing: robots.txt is always allowed"
	}
	row("decided by", sourceText(e.By, none))
	row("overrules", sourceText(e.Overrules, ""))
	if e.Joined {
		row("joined", "robots.txt would be too large, so that line holds for all robots that joined directories name")
	}
	for _, s := range e.Struck {
		row("struck", fmt.Sprintf("%s, since %s must not be undone", sourceText(&s.Allow, ""),
			sourceText(&s.By, "")))
	}
	written := "nothing: no line of robots.txt matches"
	if e.Line > 0 {
		written = fmt.Sprintf("robots.txt:%d: %s", e.Line, e.Text)
	}
	row("written as", written)
	for _, p := range e.Usage {
		by := "no annotation"
		if p.By != nil {
			by = diag.Place(p.By.File, p.By.Line) + ": Content-Usage"
		}
		row("preference", fmt.Sprintf("%s=%s  %s, written as robots.txt:%d", p.Key,
			p.Value, by, p.Line))
	}
	if e.NoUsage != "" {
		row("preference", "none: "+e.NoUsage)
	}
	readers := map[bool][]string{}
	for _, r := range e.Readers {
		readers[r.Allowed] = append(readers[r.Allowed], r.Reader)
	}
	row("let in", strings.Join(readers[true], ", "))
	row("kept out", strings.Join(readers[false], ", "))
	return b.String()
}

func sourceText(s *policy.RuleSource, none string) string {
	switch {
	case s == nil:
		return none
	case s.Line == 0:
		return diag.Place(s.File, 0) + ": " + s.Value
	}
	return diag.Place(s.File, s.Line) + ": " + s.Text()
}
