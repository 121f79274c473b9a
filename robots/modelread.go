package robots

import (
	"slices"
	"strings"

	"github.com/gophd/gophd/selector"
)

// How the models choose the lines that bind them, and what each makes of a
// pattern.

// bound returns the rules of the groups that the dialect chooses.
func bound(r *Reading, m Model, agent string) []Rule {
	f := r.file(m.dialect)
	if m.dialect != RFC9309 {
		return f.rulesIn(f.Agent(agent).groups)
	}
	if r.bound == nil || r.agent != agent {
		r.agent, r.bound = agent, f.rulesIn(f.Agent(agent).groups)
	}
	return r.bound
}

// denials is bound, without Allow lines.
func denials(r *Reading, m Model, agent string) []Rule {
	return slices.DeleteFunc(bound(r, m, agent), func(r Rule) bool { return r.Allow })
}

// everyDenial returns every Disallow of the file, whomever it is for. Groups repeat
// what is said to all: of equal patterns the first is given.
func everyDenial(r *Reading, m Model, agent string) []Rule {
	if r.strict == nil {
		r.strict = denials(r, m, agent)
		if len(r.file(m.dialect).groups) < 2 {
			return r.strict
		}
		seen := map[string]bool{}
		r.strict = slices.DeleteFunc(r.strict, func(rule Rule) bool {
			again := seen[rule.Pattern]
			seen[rule.Pattern] = true
			return again
		})
	}
	return r.strict
}

// together takes the denials of the robot's own groups and those of *.
func together(r *Reading, m Model, agent string) []Rule {
	f := r.file(m.dialect)
	all := append(slices.Clone(f.Agent(agent).groups), f.groupsOf("*")...)
	slices.Sort(all)
	return slices.DeleteFunc(f.rulesIn(slices.Compact(all)), func(r Rule) bool { return r.Allow })
}

func (f *File) rulesIn(groups []uint32) []Rule {
	n := 0
	for _, g := range groups {
		n += len(f.members(int(g)))
	}
	rules := make([]Rule, 0, n)
	for _, g := range groups {
		for _, r := range f.members(int(g)) {
			if k := r.kind(); k == KindAllow || k == KindDisallow {
				rules = append(rules, f.rule(r))
			}
		}
	}
	return rules
}

// urllibEntry is a record as urllib.robotparser keeps it.
type urllibEntry struct {
	names []string // lower case
	rules []Rule
	state int // 0: nothing yet, 1: in the User-agent lines, 2: behind them
}

// cpython takes the first record whose name is part of the robot's, else the
// first one for *.
func cpython(r *Reading, _ Model, agent string) []Rule {
	if e := r.entry(agent); e != nil {
		return e.rules
	}
	return nil
}

func (r *Reading) entry(agent string) *urllibEntry {
	if r.entries == nil {
		r.entries = entries(r.file(RFC9309))
	}
	word, _, _ := strings.Cut(strings.ToLower(agent), "/")
	var others *urllibEntry
	for i := range r.entries {
		e := &r.entries[i]
		switch {
		case slices.Contains(e.names, "*"):
			if others == nil {
				others = e
			}
		case slices.ContainsFunc(e.names, func(name string) bool { return strings.Contains(word, name) }):
			return e
		}
	}
	return others
}

// entries follows urllib.robotparser: a blank line ends a record, and other
// fields that it knows end the run of User-agent lines.
func entries(f *File) []urllibEntry {
	list := []urllibEntry{}
	var now urllibEntry
	end := func() {
		if now.state == 2 {
			list = append(list, now)
		}
		now = urllibEntry{}
	}
	for l := range f.Lines() {
		switch field := strings.ToLower(l.Field); {
		case strings.Trim(l.Text, "\r\n") == "":
			end()
		case field == "user-agent":
			if now.state == 2 {
				end()
			}
			now.names, now.state = append(now.names, strings.ToLower(unquote(l.Value))), 1
		case now.state == 0:
		case field == "allow" || field == "disallow":
			now.state = 2
			now.rules = append(now.rules, Rule{Allow: field == "allow" || unquote(l.Value) == "", Pattern: l.Value, Line: l.Number})
		case field == "crawl-delay" || field == "request-rate":
			now.state = 2
		}
	}
	end()
	return list
}

// gopherMCP follows parse_robots of gopher-mcp: every field but User-agent ends
// the run of User-agent lines, names are whole values, its own group replaces that
// of *.
func gopherMCP(r *Reading, _ Model, agent string) []Rule {
	groups := map[string][]Rule{}
	var names []string
	open := true
	for l := range r.file(RFC9309).Lines() {
		switch field := strings.ToLower(l.Field); field {
		case "":
		case "user-agent":
			if !open {
				names, open = nil, true
			}
			if name := strings.ToLower(l.Value); name != "" {
				names = append(names, name)
				groups[name] = append([]Rule{}, groups[name]...) // it is named, if only so
			}
		default:
			open = false
			for _, name := range names {
				if field == "disallow" && l.Value != "" {
					groups[name] = append(groups[name], Rule{Pattern: l.Value, Line: l.Number})
				}
			}
		}
	}
	if own, ok := groups[agent]; ok {
		return own
	}
	return groups["*"]
}

// globs: a star is any bytes, nothing else means anything.
func globs(value string, _ bool) []Pattern {
	if value == "" {
		return nil
	}
	return []Pattern{{Pieces: strings.Split(value, "*"), Size: len(value)}}
}

// veronica: /path/ also covers /path, and no other string that begins so.
func veronica(value string, allow bool) []Pattern {
	list := globs(value, allow)
	if bare, ok := strings.CutSuffix(value, "/"); ok && bare != "" && !strings.HasSuffix(bare, "*") {
		list = append(list, Pattern{strings.Split(bare, "*"), true, len(value)})
	}
	return list
}

// letter: the normal form of R6, where * is any bytes and $ at the end is the end.
func letter(value string, _ bool) []Pattern {
	if value == "" {
		return nil
	}
	value = NormalPattern(value)
	list := anchored(value)
	for _, form := range queryForms(value) {
		list = append(list, Pattern{anchored(form)[0].Pieces, list[0].Whole, len(value)})
	}
	return list
}

func anchored(value string) []Pattern {
	body, whole := strings.CutSuffix(value, "$")
	pieces := strings.Split(body, "*")
	if whole && len(pieces) > 1 && pieces[len(pieces)-1] == "" {
		whole = false // any bytes, and the end
	}
	return []Pattern{{pieces, whole, len(value)}}
}

// google: of a pattern only bytes from 0x80 are escaped, and escapes are written
// in capitals. An Allow of index.htm… at the end is one of the directory itself.
func google(value string, allow bool) []Pattern {
	if value == "" {
		return nil
	}
	b := High.Append(nil, value)
	for i := 0; i+2 < len(b); i++ {
		if c, n := selector.DecodePercent(string(b[i : i+3])); n > 0 {
			selector.AppendPercent(b[:i], c)
			i += 2
		}
	}
	value = string(b)
	list := anchored(value)
	if i := strings.LastIndexByte(value, '/'); allow && i >= 0 && strings.HasPrefix(value[i:], "/index.htm") {
		list = append(list, anchored(value[:i+1]+"$")...)
	}
	return list
}

// prefix: nothing but itself.
func prefix(value string, _ bool) []Pattern {
	if value == "" {
		return nil
	}
	return []Pattern{{Pieces: []string{value}, Size: len(value)}}
}

// quoted: decoded and quoted again, as CPython does; an empty one covers all.
func quoted(value string, _ bool) []Pattern {
	form := string(appendKept(nil, unparsed(unquote(value), false), &kept[1]))
	return []Pattern{{Pieces: []string{form}, Size: len(form)}}
}

// trimmed: a final star is cut off, patterns with another have no effect.
func trimmed(value string, _ bool) []Pattern {
	value = strings.TrimSuffix(value, "*")
	if value == "" || strings.Contains(value, "*") {
		return nil
	}
	return []Pattern{{Pieces: []string{value}, Size: len(value)}}
}

// eitherWay: as it is written, and decoded.
func eitherWay(value string, _ bool) []Pattern {
	if value == "" {
		return nil
	}
	list := anchored(value)
	if plain := unquote(value); plain != value {
		list = append(list, anchored(plain)...)
	}
	return list
}
