package readers

import (
	"slices"
	"strings"
	"sync"
)

// Parsed is a robots file for several readers, which share the steps that they have in
// common. It may be used concurrently.
type Parsed struct {
	text   string
	mu     sync.Mutex
	groups map[grouping]*named
}

// named is a file with its groups by their names.
type named struct {
	*Grouped
	byName map[string][]int
	always []int // groups that may bind anybody
}

// Groups are looked up by name if there are manyNames, unless the robot's name is long:
// all of its parts are tried.
const (
	manyNames = 64
	longName  = 64 // bytes
)

// index finds groups by the names that readers may compare.
func index(f *Grouped) *named {
	n := &named{Grouped: f, byName: map[string][]int{}}
	for i := range f.Groups {
		names := namesOf(f, i)
		if len(names) == 0 || slices.ContainsFunc(names, func(name string) bool {
			return name == "" || strings.ContainsAny(name, "*%")
		}) {
			n.always = append(n.always, i)
			continue
		}
		for _, name := range names {
			n.byName[name] = append(n.byName[name], i)
		}
	}
	return n
}

// namesOf returns what readers compare of the names of a group, in lower case.
func namesOf(f *Grouped, group int) (names []string) {
	for _, rec := range f.Members(group) {
		if rec.Kind == KindAgent {
			value := strings.ToLower(rec.Value)
			names = append(names, value, RecordName(value), ProductToken(value))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// about returns the file with only the groups that may bind a robot, so that a reader need
// not compare all names, and the groups that share a name with one of these.
func (n *named) about(robot string) *Grouped {
	if len(n.byName) < manyNames || len(robot) > longName {
		return n.Grouped
	}
	robot = strings.ToLower(robot)
	groups := slices.Clone(n.always)
	for from := range robot {
		for to := from + 1; to <= len(robot); to++ {
			groups = append(groups, n.byName[robot[from:to]]...)
		}
	}
	for _, i := range groups {
		for _, name := range namesOf(n.Grouped, i) {
			groups = append(groups, n.byName[name]...)
		}
	}
	slices.Sort(groups)

	few := &Grouped{Records: n.Records, Known: n.Known}
	for _, i := range slices.Compact(groups) {
		few.Groups = append(few.Groups, n.Groups[i])
	}
	return few
}

// Open takes a robots file.
func Open(data []byte) *Parsed {
	text, _ := DecodeUTF16(data)
	return &Parsed{text: string(text), groups: map[grouping]*named{}}
}

func (f *Parsed) groupsOf(by grouping) *named {
	f.mu.Lock()
	defer f.mu.Unlock()
	list, ok := f.groups[by]
	if !ok {
		list = index(by.read(f.text))
		f.groups[by] = list
	}
	return list
}

// Rules returns the rules that bind the named robot to one reader, in file order. If
// the reader has an Agent, that name is used instead.
func (r Reader) Rules(f *Parsed, agent string) []Rule {
	if r.Agent != "" {
		agent = r.Agent
	}
	grouped := f.groupsOf(r.grouping()).about(agent)
	groups, _ := r.Choose(grouped, agent)
	return r.RulesOf(grouped, groups)
}

// Reading is a robots file as one reader takes it. It may be used by many goroutines at
// once.
type Reading struct {
	reader Reader
	file   *Parsed
	mu     sync.Mutex
	agents map[string]*Matcher
}

// Read takes a robots file.
func (r Reader) Read(data []byte) *Reading { return r.ReadFile(Open(data)) }

// ReadFile is like [Reader.Read], for a file that several readers share.
func (r Reader) ReadFile(f *Parsed) *Reading {
	return &Reading{reader: r, file: f, agents: map[string]*Matcher{}}
}

// Agent returns the rules for the named robot, ready for many questions.
func (r *Reading) Agent(agent string) *Matcher {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.agents[agent]
	if m == nil {
		m = r.reader.Matcher(r.reader.Rules(r.file, agent))
		r.agents[agent] = m
	}
	return m
}

// Allowed reports whether the named robot may fetch a selector. An empty selector, or
// one that ends in a slash, counts as a menu, any other as a text.
func (r *Reading) Allowed(agent, selector string) bool {
	return r.Agent(agent).Allowed(selector)
}
