package robots

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
)

// Reading is a robots file that any [Model] may read; it is parsed once for each
// dialect. It must not be used by several goroutines at once.
type Reading struct {
	data    []byte
	files   map[Dialect]*File
	entries []Group // those of CPython, names in lower case
	agent   string  // the robot that was asked for last
	bound   []Rule  // what RFC 9309 has for it; four models ask for that
	strict  []Rule  // every Disallow, each pattern once

	contents map[any]uint64 // hashes of groups
}

// NewReading takes a robots file. The data must not be changed.
func NewReading(data []byte) *Reading {
	return &Reading{data: data, files: map[Dialect]*File{}, contents: map[any]uint64{}}
}

func (r *Reading) file(d Dialect) *File {
	f := r.files[d]
	if f == nil {
		f = Parse(d, r.data)
		r.files[d] = f
	}
	return f
}

// Names returns the product tokens that the file names, in lower case, each once.
func (r *Reading) Names() []string {
	f := r.file(RFC9309)
	names := map[string]bool{}
	for _, g := range f.Groups() {
		for _, a := range g.Agents {
			if a.Token != "" && a.Token != "*" {
				names[strings.ToLower(a.Token)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Usages returns the Content-Usage lines that bind the named robot.
func (r *Reading) Usages(agent string) []Usage {
	f := r.file(RFC9309)
	var list []Usage
	for _, g := range f.Agent(agent).groups {
		for _, rec := range f.members(int(g)) {
			if rec.kind() == KindUsage {
				list = append(list, f.usage(rec))
			}
		}
	}
	return list
}

// Key returns the same for robots to which every reader without an Agent gives the
// same Rules, but for their lines, and the same Usages.
func (r *Reading) Key(agent string) string {
	var key []uint64
	for _, d := range []Dialect{RFC9309, Standard1994} {
		f := r.file(d)
		for _, g := range f.Agent(agent).groups {
			key = append(key, r.content(&f.groups[g], func(h *maphash.Hash) {
				for _, rec := range f.members(int(g)) {
					if rec.kind() != KindAgent {
						maphash.WriteComparable(h, rec.kind())
						maphash.WriteComparable(h, f.value(rec))
					}
				}
			}))
		}
		key = append(key, 0)
	}
	if e := r.entry(agent); e != nil {
		key = append(key, r.content(e, func(h *maphash.Hash) {
			for _, rule := range e.Rules {
				maphash.WriteComparable(h, rule.Allow)
				maphash.WriteComparable(h, rule.Pattern)
			}
		}))
	}
	return fmt.Sprint(key)
}

// content hashes what a group says, once.
func (r *Reading) content(group any, write func(h *maphash.Hash)) uint64 {
	sum, ok := r.contents[group]
	if !ok {
		var h maphash.Hash
		h.SetSeed(contentSeed)
		write(&h)
		sum = h.Sum64()
		r.contents[group] = sum
	}
	return sum
}

var contentSeed = maphash.MakeSeed()

// How the models choose the lines that bind them.

// bound returns the rules of the groups that the dialect chooses.
func bound(r *Reading, d Dialect, agent string) []Rule {
	f := r.file(d)
	if d != RFC9309 {
		return f.rulesIn(f.Agent(agent).groups)
	}
	if r.bound == nil || r.agent != agent {
		r.agent, r.bound = agent, f.rulesIn(f.Agent(agent).groups)
	}
	return r.bound
}

// denials is bound, without Allow lines.
func denials(r *Reading, d Dialect, agent string) []Rule {
	return slices.DeleteFunc(bound(r, d, agent), func(r Rule) bool { return r.Allow })
}

// everyDenial returns every Disallow of the file, whomever it is for. Groups repeat
// what is said to all: of equal patterns the first is given.
func everyDenial(r *Reading, d Dialect, agent string) []Rule {
	if r.strict == nil {
		r.strict = denials(r, d, agent)
		if len(r.file(d).groups) < 2 {
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
func together(r *Reading, d Dialect, agent string) []Rule {
	f := r.file(d)
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

// cpython takes the first record whose name is part of the robot's, else the
// first one for *.
func cpython(r *Reading, _ Dialect, agent string) []Rule {
	if e := r.entry(agent); e != nil {
		return e.Rules
	}
	return nil
}

func (r *Reading) entry(agent string) *Group {
	if r.entries == nil {
		r.entries = entries(r.file(RFC9309))
	}
	word, _, _ := strings.Cut(strings.ToLower(agent), "/")
	var others *Group
	for i := range r.entries {
		e := &r.entries[i]
		switch {
		case slices.ContainsFunc(e.Agents, func(a Agent) bool { return a.Token == "*" }):
			if others == nil {
				others = e
			}
		case slices.ContainsFunc(e.Agents, func(a Agent) bool { return strings.Contains(word, a.Token) }):
			return e
		}
	}
	return others
}

// entries follows urllib.robotparser: a blank line ends a record, and other
// fields that it knows end the run of User-agent lines.
func entries(f *File) []Group {
	list := []Group{}
	var now Group
	named, ruled := false, false // it has User-agent lines, and something after them
	end := func() {
		if ruled {
			list = append(list, now)
		}
		now, named, ruled = Group{}, false, false
	}
	for l := range f.Lines() {
		switch field := strings.ToLower(l.Field); {
		case strings.Trim(l.Text, "\r\n") == "":
			end()
		case field == "user-agent":
			if ruled {
				end()
			}
			named = true
			now.Agents = append(now.Agents, Agent{strings.ToLower(unquote(l.Value)), l.Number})
		case !named:
		case field == "allow" || field == "disallow":
			ruled = true
			now.Rules = append(now.Rules, Rule{Allow: field == "allow" || unquote(l.Value) == "", Pattern: l.Value, Line: l.Number})
		case field == "crawl-delay" || field == "request-rate":
			ruled = true
		}
	}
	end()
	return list
}

// gopherMCP follows parse_robots of gopher-mcp: every field but User-agent ends
// the run of User-agent lines, names are whole values, its own group replaces that
// of *.
func gopherMCP(r *Reading, _ Dialect, agent string) []Rule {
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
