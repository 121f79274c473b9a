package policy

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// misshapen tells what in a file is not of the shape that all known readers
// share.
func misshapen(file []byte) error {
	if !bytes.HasPrefix(file, []byte("User-agent: *\n")) || !bytes.HasSuffix(file, []byte("\n")) {
		return fmt.Errorf("no * group first, or no final newline")
	}
	for i, group := range strings.Split(strings.TrimSuffix(string(file), "\n"), "\n\n") {
		lines := strings.Split(group, "\n")
		if strings.HasPrefix(lines[0], "Sitemap: ") {
			continue
		}
		if !strings.HasPrefix(lines[0], "User-agent: ") || !strings.Contains(group, "\nDisallow: ") {
			return fmt.Errorf("group %d begins with %q or has no Disallow", i, lines[0])
		}
		if err := misshapenRules(lines[1:]); err != nil {
			return err
		}
		if err := nestedRules(lines[1:]); err != nil {
			return err
		}
	}
	return nil
}

func misshapenRules(lines []string) error {
	fields := false
	for _, l := range lines {
		field, value, ok := strings.Cut(l, ": ")
		rule := field == "Allow" || field == "Disallow"
		switch {
		case !ok || value == "" || strings.IndexFunc(l, func(r rune) bool { return r < ' ' || r == 0x7f }) >= 0:
			return fmt.Errorf("malformed line %q", l)
		case rule && (fields || strings.ContainsAny(value, "#") || strings.TrimSpace(value) != value):
			return fmt.Errorf("misplaced or misread rule %q", l)
		case !rule && field != "Crawl-delay" && field != "Request-rate" && field != "Visit-time" &&
			field != "Comment" && field != "Index" && field != "Cooldown":
			return fmt.Errorf("unknown field %q", l)
		}
		fields = fields || !rule
	}
	return nil
}

// nestedRules finds a Disallow that a shorter one covers, with no Allow between.
func nestedRules(lines []string) error {
	for _, long := range lines {
		p, ok := strings.CutPrefix(long, "Disallow: ")
		for _, short := range lines {
			q, also := strings.CutPrefix(short, "Disallow: ")
			if !ok || !also || p == q || !strings.HasPrefix(p, q) || strings.Contains(q, "*") || strings.HasSuffix(q, "$") {
				continue
			}
			between := func(l string) bool {
				a, allow := strings.CutPrefix(l, "Allow: ")
				a = naiveNormal(strings.TrimSuffix(a, "$"))
				return allow && strings.HasPrefix(a, naiveNormal(q)) && strings.HasPrefix(naiveNormal(p), a)
			}
			if strings.HasPrefix(naiveNormal(p), naiveNormal(q)) && !slices.ContainsFunc(lines, between) {
				return fmt.Errorf("%q is covered by %q", long, short)
			}
		}
	}
	return nil
}

func FuzzAnnotation(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /a\nAllow: /ab\nUser-agent: foo\nDisallow:\n"), []byte("Disallow: *.zip$\n"))
	f.Add([]byte("\ufeffDisallow: /\r\nAllow: /%41\rCrawl-delay: 1e9\nComment: \x1b\n"), []byte("User-agent: \x00\nDisallow: /\n"))
	f.Add([]byte("Sitemap: x\nVisit-time: 0600-0845\nRequest-rate: 1/10m\nIndex: deny\nCooldown: 60\n"), []byte(""))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		root := tree("a", "ab", "a#b", "a$", "x.zip", "é", "d/a", "d/A", "d/%41", "d/e/ f", "d/e/*")
		root.Notes = []*Annotation{{File: ".robots", Data: a}}
		root.Dirs[0].Notes = []*Annotation{{File: "d/.robots", Data: b}}
		c := Compile(root, nil)
		if len(c.Unproven()) > 0 {
			t.Errorf("unproven: %v\n%s", c.Unproven(), c.File())
		}
		if err := misshapen(c.File()); err != nil {
			t.Errorf("%v:\n%s", err, c.File())
		}
		for _, r := range c.Reports() {
			if r.Hint == "" || strings.ContainsAny(r.Message, "\n\r\x1b") {
				t.Errorf("report %+v", r)
			}
		}
	})
}
