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
	groups map[grouping]*Grouped
}

// Open takes a robots file.
func Open(data []byte) *Parsed {
	text, _ := DecodeUTF16(data)
	return &Parsed{text: string(text), groups: map[grouping]*Grouped{}}
}

func (f *Parsed) groupsOf(by grouping) *Grouped {
	f.mu.Lock()
	defer f.mu.Unlock()
	list, ok := f.groups[by]
	if !ok {
		list = by.read(f.text)
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
	grouped := f.groupsOf(r.grouping())
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
func (r *Reading) Allowed(agent, selector string) bool { return r.Agent(agent).Allowed(selector) }

// AllowedAs is [Reading.Allowed] for a caller that knows the item type.
func (r *Reading) AllowedAs(typ byte, agent, selector string) bool {
	return r.Agent(agent).AllowedAs(typ, selector)
}

// Names returns the product tokens that the file names, in lower case, sorted.
func (f *Parsed) Names() []string {
	var names []string
	for _, rec := range f.groupsOf(grouping{dialect: RFC9309, groups: true}).Records {
		if name := strings.ToLower(ProductToken(rec.Value)); rec.Kind == KindAgent && name != "" && name != "*" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
