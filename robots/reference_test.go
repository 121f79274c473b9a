package robots

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/gophd/gophd/robots/readers"
)

// This file states the dialects a second time, without any cleverness, as the
// oracle of the tests. It shares no code with the package.

type refRule struct {
	allow   bool
	pattern string
	line    int
}

type refGroup struct {
	agents  []string
	rules   []refRule
	version string
}

func refWeb(d Dialect) bool {
	return d == RFC9309 || d == readers.Standard1994 || d == readers.Extended || d == readers.Gemini
}

func refLines(d Dialect, text string) []string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if refWeb(d) {
		text = strings.ReplaceAll(text, "\r", "\n")
	}
	return strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
}

// refField returns key and value; comment says that the line holds nothing else.
func refField(d Dialect, line string) (key, value string, blank, comment bool) {
	line, _, _ = strings.Cut(line, "\x00")
	for i := range len(line) {
		if line[i] == '#' && (d != readers.Extended || i == 0 ||
			strings.IndexByte(" \t\v\f\r", line[i-1]) >= 0) {
			line, comment = line[:i], true
			break
		}
	}
	line = strings.Trim(line, " \t\v\f\r")
	key, value, ok := strings.Cut(line, ":")
	key, value = strings.Trim(key, " \t\v\f\r"), strings.Trim(value, " \t\v\f\r")
	if !ok {
		key = ""
	}
	return strings.ToLower(key), value, line == "" && !comment, comment && line == ""
}

func refGroups(d Dialect, text string) []refGroup {
	groups := []refGroup{{}} // the first holds what stands outside of groups
	open, full, justAgent := false, false, false
	for i, line := range refLines(d, text) {
		key, value, blank, _ := refField(d, line)
		last := &groups[len(groups)-1]
		switch {
		case blank && d == readers.Standard1994:
			open = false
		case key == "":
		case key == "user-agent" && d != readers.GopherStrict:
			if !open || full {
				groups = append(groups, refGroup{})
				last = &groups[len(groups)-1]
			}
			last.agents = append(last.agents, value)
			open, full, justAgent = true, false, true
		case key == "allow" || key == "disallow":
			if !open {
				last = &groups[0]
			}
			last.rules = append(last.rules, refRule{key == "allow", value, i + 1})
			full, justAgent = true, false
		case key == "content-usage" && (d == RFC9309 || d == Gopher):
			full = true
		default:
			if d == readers.Extended && open {
				full = true
				if justAgent && key == "robot-version" {
					last.version = value
				}
			}
			justAgent = false
		}
	}
	return groups
}

func refExperimental(version string) bool {
	var major, minor int
	n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor)
	return n == 2 && (major == 1 || major == 2) && minor%2 == 1
}

func refWord(s string) string {
	s = strings.Trim(s, " \t\v\f\r")
	if first, _, _ := strings.Cut(strings.ReplaceAll(s, "\t", " "), " "); first == "*" ||
		s == "*\u00a0" || s == "*\xa0" {
		return "*"
	}
	word := strings.TrimLeft(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")
	return strings.ToLower(strings.TrimSuffix(s, word))
}

// refChoose returns the groups that bind the robot.
func refChoose(d Dialect, groups []refGroup, agent string) []refGroup {
	var own, exact, star []refGroup
	name, _, _ := strings.Cut(strings.ToLower(agent), "/")
	for _, g := range groups[1:] {
		isOwn, isExact, isStar := false, false, false
		for _, a := range g.agents {
			known, _, _ := strings.Cut(strings.ToLower(a), "/")
			known = strings.Trim(known, " \t\v\f\r")
			switch {
			case refWord(a) == "*":
				isStar = true
			case d == readers.Standard1994 || d == readers.Extended:
				isOwn = isOwn || known != "" && strings.Contains(name, known)
				isExact = isExact || known != "" && name == known
			default:
				isOwn = isOwn || refWord(a) != "" && refWord(a) == refWord(agent)
			}
		}
		if d == readers.Extended && refExperimental(g.version) {
			continue
		}
		if isOwn {
			own = append(own, g)
		}
		if isExact {
			exact = append(exact, g)
		}
		if isStar {
			star = append(star, g)
		}
	}
	if len(exact) > 0 {
		own = exact
	}
	if len(own) > 1 && (d == readers.Standard1994 || d == readers.Extended) {
		own = own[:1]
	}
	chosen := own
	if len(own) == 0 {
		chosen = star
	}
	if d == Gopher || d == readers.GopherStrict || d == readers.Veronica2 {
		chosen = append([]refGroup{groups[0]}, chosen...)
	}
	return chosen
}

// refGlob matches bytes that no escape stands for.
func refGlob(pattern, text string, whole bool) bool {
	raw := func(s string) []refUnit {
		var units []refUnit
		for i := range len(s) {
			units = append(units, refUnit{c: s[i]})
		}
		return units
	}
	stars := raw(pattern)
	for i := range stars {
		stars[i].star = stars[i].c == '*'
	}
	return refURI(stars, raw(text), whole)
}

func refUnreserved(c byte) bool {
	return strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~", c) >= 0
}

const refReserved = ":/?[]@!&'()+,;="

// refUnit is a byte of a path or pattern as R6 compares it.
type refUnit struct {
	c                    byte
	escaped, query, star bool
}

// refUnits takes a path or a pattern apart; query is set behind the first "?".
func refUnits(s string, pattern bool) []refUnit {
	var units []refUnit
	query := false
	for i := 0; i < len(s); i++ {
		u := refUnit{c: s[i], query: query, star: pattern && s[i] == '*'}
		if i+2 < len(s) && s[i] == '%' && strings.Trim(s[i+1:i+3], "0123456789abcdefABCDEF") == "" {
			_, _ = fmt.Sscanf(s[i+1:i+3], "%2x", &u.c)
			u.escaped = true
			i += 2
		}
		query = query || u.c == '?' && !u.escaped
		units = append(units, u)
	}
	return units
}

// weight is how many bytes the unit has in normal form.
func (u refUnit) weight() int {
	switch {
	case u.star, refUnreserved(u.c):
		return 1
	case strings.IndexByte(refReserved, u.c) >= 0 && (!u.escaped || u.query):
		return 1
	}
	return 3
}

// refSame compares a unit of a pattern with one of a path.
func refSame(p, s refUnit) bool {
	if strings.IndexByte(refReserved, p.c) >= 0 && !s.query && p.escaped != s.escaped {
		return false
	}
	return p.c == s.c
}

// refKeeps reports whether some reserved byte is escaped behind a star and before any
// "?": then the query's are compared as they are written, too.
func refKeeps(pattern []refUnit) bool {
	star := false
	for _, p := range pattern {
		if star && p.escaped && !p.query && strings.IndexByte(refReserved, p.c) >= 0 {
			return true
		}
		star = star || p.star
	}
	return false
}

// refURI matches by a table: after i units of the pattern, row[j] says that they match j
// units of the path.
func refURI(pattern, path []refUnit, whole bool) bool {
	if refKeeps(pattern) {
		path = slices.Clone(path)
		for i := range path {
			path[i].query = false
		}
	}
	row := make([]bool, len(path)+1)
	row[0] = true
	for _, p := range pattern {
		next := make([]bool, len(path)+1)
		for j := range next {
			if p.star {
				next[j] = row[j] || j > 0 && next[j-1]
			} else {
				next[j] = j > 0 && row[j-1] && refSame(p, path[j-1])
			}
		}
		if row = next; !slices.Contains(row, true) {
			return false
		}
	}
	return whole && row[len(path)] || !whole && slices.Contains(row, true)
}

// refStars writes a run of stars as one, and no "$" behind a star.
func refStars(p string) string {
	for strings.Contains(p, "**") {
		p = strings.ReplaceAll(p, "**", "*")
	}
	return p
}

// refNormal tells patterns apart.
func refNormal(p string) string {
	body, whole := strings.CutSuffix(p, "$")
	body = refStars(body)
	whole = whole && !strings.HasSuffix(body, "*")
	var b strings.Builder
	for _, u := range refUnits(body, true) {
		b.WriteString(string([]byte{u.c, byte(u.weight()), '-'}))
		if u.star {
			b.WriteByte('*')
		}
	}
	return b.String() + fmt.Sprint(whole)
}

func refPath(s string) string {
	if i := strings.Index(s, "://"); i > 0 &&
		!strings.ContainsAny(s[:i], "/:?#[]@!$&'()*,;=% \"<>\\^`{|}\x00\x7f") && refASCII(s[:i]) {
		s, _, _ = strings.Cut(s[i+3:], "#")
		if j := strings.IndexAny(s, "/?"); j >= 0 {
			s = s[j:]
		} else {
			s = ""
		}
		if s == "" || s[0] == '?' {
			s = "/" + s
		}
	}
	if s == "" {
		s = "/"
	}
	return s
}

func refASCII(s string) bool {
	for i := range len(s) {
		if c := s[i]; !refUnreserved(c) && c != '+' || c == '_' || c == '~' {
			return false
		}
	}
	return true
}

// refMatch reports whether the rule covers the selector, and how much it weighs.
func refMatch(d Dialect, g refGroup, r refRule, sel string) (weight int, ok bool) {
	p := r.pattern
	two := strings.HasPrefix(g.version, "2.")
	switch {
	case p == "":
		return 0, false
	case r.allow && d != RFC9309 && d != readers.Extended:
		return 0, false
	case d == RFC9309:
		body, whole := strings.CutSuffix(p, "$")
		units := refUnits(body, true)
		for _, u := range units {
			weight += u.weight()
		}
		if whole {
			weight++
		}
		return weight, refURI(units, refUnits(sel, false), whole)
	case d == readers.Standard1994, d == readers.Gemini, d == readers.Extended && !two:
		return len(p), strings.HasPrefix(sel, p)
	case d == readers.Extended:
		return len(p), refGlob(p, sel, true)
	case d == readers.Veronica2 && len(p) > 1 && p[len(p)-1] == '/' && p[len(p)-2] != '*' &&
		refGlob(p[:len(p)-1], sel, true):
		return len(p), true
	}
	return len(p), refGlob(p, sel, false)
}

// refFound is a rule that covers the selector.
type refFound struct {
	refRule
	weight int
}

// refAll returns the rules that cover the selector, most binding first, without
// those that only repeat an earlier one.
func refAll(d Dialect, data []byte, agent, sel string) []refFound {
	if refWeb(d) {
		sel = refPath(sel)
	}
	var all []refFound
	seen := map[string]bool{}
	for _, g := range refChoose(d, refGroups(d, string(data)), agent) {
		for _, r := range g.rules {
			w, ok := refMatch(d, g, r, sel)
			if !ok {
				continue
			}
			normal := r.pattern
			switch {
			case d == RFC9309:
				normal = refNormal(normal)
			case d.Reader().Star || strings.HasPrefix(g.version, "2."):
				normal = refStars(normal)
			}
			key := fmt.Sprint(w, r.allow, d == readers.Extended &&
				strings.HasPrefix(g.version, "2."), normal)
			if !seen[key] {
				all = append(all, refFound{r, w})
			}
			seen[key] = true
		}
	}
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i], all[j]
		return a.weight > b.weight ||
			a.weight == b.weight && (a.allow && !b.allow || a.allow == b.allow && a.line < b.line)
	})
	return all
}

// Reference answers as [File.Allowed] must.
func Reference(d Dialect, data []byte, agent, sel string) bool {
	if d == RFC9309 && refPath(sel) == "/robots.txt" {
		return true
	}
	all := refAll(d, data, agent, sel)
	return len(all) == 0 || all[0].allow
}
