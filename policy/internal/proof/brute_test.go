package proof_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/policy/internal/proof"
	"pgregory.net/rapid"
)

// The policy once more, straight from its definition: every annotation on the way
// to a resource is read line by line, and each pattern tried at each place.

type bruteRule struct {
	allow, final, named bool
	pattern             string // rebased, in URI form
	depth               int
}

// bruteRules gives what the annotations on the way say to a robot.
func bruteRules(path []*dir, robot string) (rules []bruteRule, shut bool) {
	base := ""
	for i, d := range path {
		if i > 0 {
			base += "/" + d.name
		}
		for _, n := range d.notes {
			if n.Err != nil {
				return nil, true
			}
			all, own, speaks := bruteRead(string(n.Data), robot)
			if speaks {
				all = own
			}
			for _, r := range all {
				r.named, r.depth = speaks && robot != "*", i
				forms := []string{bruteForm(r.pattern, true)}
				if !r.allow && strings.Contains(r.pattern, "%") {
					forms = append(forms, bruteForm(r.pattern, false))
				}
				for _, form := range forms {
					r.pattern = bruteEscape(base) + form
					rules = append(rules, r)
				}
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(rules), func(r bruteRule) bool { return bruteVoid(rules, r) }), false
}

// bruteVoid: an Allow to all does not open what is denied above by name.
func bruteVoid(rules []bruteRule, w bruteRule) bool {
	if !w.allow || w.named {
		return false
	}
	head, _, _ := strings.Cut(strings.TrimSuffix(w.pattern, "$"), "*")
	denied, size := false, -1
	for _, r := range rules {
		if !r.named || r.final || r.depth >= w.depth || strings.HasSuffix(r.pattern, "$") || !bruteMatch(r.pattern, head) {
			continue
		}
		if n := len(r.pattern); n > size || n == size && r.allow {
			denied, size = !r.allow, n
		}
	}
	return denied
}

func bruteRead(text, robot string) (all, own []bruteRule, speaks bool) {
	names, ended := []string{"*"}, true
	for line := range strings.SplitSeq(text, "\n") {
		field, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		field = strings.ToLower(strings.TrimSpace(field))
		switch field {
		case "user-agent":
			if ended {
				names, ended = nil, false
			}
			names = append(names, strings.ToLower(value))
		case "content-usage":
			ended = true
		case "allow", "disallow", "final":
			ended = true
			rule := bruteRule{allow: field == "allow", final: field == "final", pattern: value}
			if slices.Contains(names, "*") && value != "" {
				all = append(all, rule)
			}
			if robot != "*" && slices.Contains(names, robot) {
				speaks = true
				if value != "" {
					own = append(own, rule)
				}
			}
		}
	}
	return all, own, speaks
}

func bruteForm(pattern string, decode bool) string {
	if pattern[0] != '/' {
		pattern = "/" + pattern
	}
	body, anchored := strings.CutSuffix(pattern, "$")
	parts := strings.Split(body, "*")
	for i, part := range parts {
		if decode {
			var b strings.Builder
			for len(part) > 0 {
				var c byte
				if len(part) >= 3 && part[0] == '%' && strings.Trim(part[1:3], "0123456789abcdefABCDEF") == "" {
					_, _ = fmt.Sscanf(part[:3], "%%%2x", &c)
					if part = part[3:]; c == '/' {
						b.WriteString("\x00") // stands for itself: no name has one
						continue
					}
				} else {
					c, part = part[0], part[1:]
				}
				b.WriteByte(c)
			}
			part = b.String()
		}
		parts[i] = strings.ReplaceAll(bruteEscape(part), "%00", "%2F")
	}
	body = strings.Join(parts, "*")
	if anchored {
		body += "$"
	}
	return body
}

func bruteEscape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!&'()+,;=:@/", s[i]) >= 0 {
			b.WriteByte(s[i])
		} else {
			fmt.Fprintf(&b, "%%%02X", s[i])
		}
	}
	return b.String()
}

// bruteMatch tries every length for every star.
func bruteMatch(p, s string) bool {
	switch {
	case p == "":
		return true
	case p == "$":
		return s == ""
	case p[0] == '*':
		for i := range len(s) + 1 {
			if bruteMatch(p[1:], s[i:]) {
				return true
			}
		}
		return false
	}
	return s != "" && p[0] == s[0] && bruteMatch(p[1:], s[1:])
}

// bruteDenied says whether a robot is denied a canonical selector.
func bruteDenied(path []*dir, robot, sel string) bool {
	rules, shut := bruteRules(path, robot)
	if shut {
		return true
	}
	form := bruteEscape(sel)
	limit := 1 << 30
	for _, f := range rules {
		if f.final && bruteMatch(f.pattern, form) && f.depth < limit && bruteBest(rules, form, func(r bruteRule) bool { return r.depth == f.depth }) {
			limit = f.depth
		}
	}
	return bruteBest(rules, form, func(r bruteRule) bool { return !r.allow || r.depth <= limit })
}

func bruteBest(rules []bruteRule, form string, counts func(bruteRule) bool) (denied bool) {
	size := -1
	for _, r := range rules {
		if r.final || !counts(r) || !bruteMatch(r.pattern, form) {
			continue
		}
		if n := len(r.pattern); n > size || n == size && r.allow {
			denied, size = !r.allow, n
		}
	}
	return denied
}

// asked is a resource and the directories on the way to it.
type asked struct {
	path []*dir
	sel  string
}

func resources(root *dir) (list []asked) {
	var walk func(path []*dir, sel string)
	walk = func(path []*dir, sel string) {
		d := path[len(path)-1]
		list = append(list, asked{path, sel})
		for _, f := range d.files {
			list = append(list, asked{path, sel + f})
		}
		for _, sub := range d.dirs {
			walk(append(path[:len(path):len(path)], sub), sel+sub.name+"/")
		}
	}
	walk([]*dir{root}, "/")
	return list
}

var vile = []string{
	"a", "ab", "abc", "b", "a.txt", "x", "x.zip", "y.zip", "index.html", "index.htm", "drafts", "later",
	"a#", "#a", "a*", "*a", "*", "a$", "$", "a$$", "a b", "b ", "%41", "%", "%4", "A", "a%2Ab", "%24", "%25", "x%41.txt", "%C3%A9",
	"é", "日本", "0", "1", "~u", "Allow: ", "a:b", "a?b", "a;b", "a=b", "a;", "a?", "[a]", "a&b", "a'b", "Disallow",
}

var names = []string{"foo", "foobot", "veronica", "gopher-mcp"}

func drawDir(t *rapid.T, name string, depth int, few []string) *dir {
	d := &dir{name: name}
	list := rapid.SliceOfNDistinct(rapid.SampledFrom(few), 0, 5, rapid.ID[string]).Draw(t, "names")
	slices.Sort(list)
	for _, n := range list {
		if depth < 3 && rapid.IntRange(0, 2).Draw(t, "dir") == 0 {
			d.dirs = append(d.dirs, drawDir(t, n, depth+1, few))
		} else {
			d.files = append(d.files, n)
		}
	}
	if rapid.IntRange(0, 2).Draw(t, "noted") == 0 {
		d.notes = []proof.Note{{File: name + "/.robots", Data: []byte(drawRules(t, few, true))}}
	}
	return d
}

func drawRules(t *rapid.T, few []string, final bool) string {
	var b strings.Builder
	piece := rapid.SampledFrom(append(slices.Clone(few), "/", "/", "/", "*", "*", "$", "a", ".zip", "%41", "%2A", "/*/", "a/"))
	for range rapid.IntRange(1, 6).Draw(t, "lines") {
		field := rapid.SampledFrom([]string{"Allow: ", "Disallow: ", "Disallow: ", "Final: ", "User-agent: "}).Draw(t, "field")
		switch {
		case field == "User-agent: ":
			b.WriteString(field + rapid.SampledFrom(append([]string{"*"}, names...)).Draw(t, "agent") + "\n")
			continue
		case rapid.IntRange(0, 9).Draw(t, "usage") == 0:
			field = "Content-Usage: "
		case field == "Final: " && !final:
			field = "Disallow: "
		}
		p := rapid.SampledFrom([]string{"", "/", "/", "/"}).Draw(t, "slash")
		for range rapid.IntRange(0, 3).Draw(t, "pieces") {
			p += piece.Draw(t, "piece")
		}
		p = strings.TrimSpace(strings.ReplaceAll(p, "#", ""))
		if field == "Content-Usage: " {
			if p, _, _ = strings.Cut(p, " "); !strings.HasPrefix(p, "/") {
				p = ""
			}
			p = strings.TrimSpace(p + " train-ai=" + rapid.SampledFrom([]string{"y", "n", "n, search=y"}).Draw(t, "value"))
		}
		b.WriteString(field + p + "\n")
	}
	return b.String()
}

// TestCounts holds what the proof counts against every reader asked for every
// spelling, of files that have nothing to do with the annotations.
func TestCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		few := rapid.SliceOfNDistinct(rapid.SampledFrom(vile), 3, 8, rapid.ID[string]).Draw(t, "few")
		root := drawDir(t, "", 0, few)
		file := "User-agent: *\n" + drawRules(t, few, false) + drawRules(t, few, false)
		for robot, rows := range proof.Counts(proof.Input[*dir]{Root: root, Look: look, File: []byte(file), Closed: closed}, false) {
			for _, m := range proof.Models() {
				got, asked := rows[m.Name]
				if !asked { // another class is this reader's
					continue
				}
				want := bruteCount(root, m.ReadTyped([]byte(file), robot), robot)
				if got != want {
					t.Fatalf("%s as %s: %d leaks and over-blocks, want %d\n%s", m.Name, robot, got, want, file)
				}
			}
		}
	})
}

func bruteCount(root *dir, allows func(byte, string) bool, robot string) (n [2]int) {
	for _, r := range resources(root) {
		denied := bruteDenied(r.path, robot, r.sel)
		spellings := []string{r.sel, r.sel[1:]}
		if last := len(r.sel) - 1; last > 0 && r.sel[last] == '/' && (denied || !bruteDenied(r.path[:len(r.path)-1], robot, r.sel[:last])) {
			spellings = append(spellings, r.sel[:last], r.sel[1:last])
		}
		typ := byte('0')
		if strings.HasSuffix(r.sel, "/") {
			typ = '1'
		}
		for _, s := range spellings {
			switch got := allows(typ, s); {
			case got && denied && !closed(r.sel, s):
				n[0]++
			case !got && !denied:
				n[1]++
			}
		}
	}
	return n
}
