package readers

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/gophd/gophd/robots"
)

// Parsed is a robots file that several readers read: what they take alike is made once. It
// may be used by many goroutines at once.
type Parsed struct {
	data   []byte
	mu     sync.Mutex
	parsed map[robots.Dialect]*robots.File
	groups map[grouping][]lineGroup
}

// Open takes a robots file. The data must not be changed.
func Open(data []byte) *Parsed {
	return &Parsed{data: data, parsed: map[robots.Dialect]*robots.File{}, groups: map[grouping][]lineGroup{}}
}

func (f *Parsed) groupsOf(by grouping) []lineGroup {
	f.mu.Lock()
	defer f.mu.Unlock()
	list, ok := f.groups[by]
	if !ok {
		if f.parsed[by.dialect] == nil {
			f.parsed[by.dialect] = robots.Parse(by.dialect, f.data)
		}
		list = by.read(f.parsed[by.dialect])
		f.groups[by] = list
	}
	return list
}

// Rules returns the rules that bind the named robot to one reader, in file order. To a
// reader with an Agent of its own the name is that.
func (r Reader) Rules(f *Parsed, agent string) []robots.Rule {
	if r.Agent != "" {
		agent = r.Agent
	}
	rules := r.choose(f.groupsOf(r.grouping()), agent)
	if r.Choice == FirstMatch {
		for i := range rules {
			rules[i].Allow = rules[i].Allow || unquote(rules[i].Pattern) == ""
		}
	}
	return slices.DeleteFunc(rules, func(rule robots.Rule) bool { return rule.Allow && !r.Allow })
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

// ReadFile is [Reader.Read] of a file that others read, too.
func (r Reader) ReadFile(f *Parsed) *Reading {
	return &Reading{reader: r, file: f, agents: map[string]*Matcher{}}
}

// Agent returns the rules for the named robot, ready for many questions.
func (r *Reading) Agent(agent string) *Matcher {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.agents[agent]
	if m == nil {
		m = newMatcher(r.reader, r.reader.Rules(r.file, agent))
		r.agents[agent] = m
	}
	return m
}

// Allowed reports whether the named robot may fetch a selector. One that ends in a slash
// is taken for a menu, another for a text.
func (r *Reading) Allowed(agent, selector string) bool { return r.Agent(agent).Allowed(selector) }

// AllowedAs is [Reading.Allowed] for a caller that knows the item type.
func (r *Reading) AllowedAs(typ byte, agent, selector string) bool {
	return r.Agent(agent).AllowedAs(typ, selector)
}

// Allowed is [Reading.Allowed].
func (m *Matcher) Allowed(selector string) bool {
	if selector == "" || strings.HasSuffix(selector, "/") {
		return m.AllowedAs('1', selector)
	}
	return m.AllowedAs('0', selector)
}

// AllowedAs is [Reading.AllowedAs].
func (m *Matcher) AllowedAs(typ byte, selector string) bool {
	r := &m.reader
	if r.Web {
		if selector = robots.PathOf(selector); selector == "/robots.txt" {
			return true
		}
	}
	return !slices.ContainsFunc(r.spelt(string(typ), selector), func(form string) bool { return !m.Decide(form) })
}

// spelt returns everything that the reader compares for a selector.
func (r *Reader) spelt(typ, selector string) []string {
	if !r.Typed {
		return []string{string(r.Forms[0].Append(nil, selector))}
	}
	selector = "/" + strings.TrimPrefix(selector, "/")
	var list []string
	for _, f := range r.Forms {
		for _, s := range []string{selector, "/" + typ + selector, typ + selector} {
			list = append(list, string(f.Append(nil, s)))
		}
	}
	return list
}

// Matcher is rules that are ready to be asked. It never changes. Rules are sorted by the
// first pieces of their patterns: those that are beginnings of a form are found from the
// longest to the shortest.
type Matcher struct {
	reader Reader
	rules  []matcherRule
	heads  []firstPiece
}

type matcherRule struct {
	Pattern
	allow bool
	line  int
}

// firstPiece is a first piece.
type firstPiece struct {
	text     string
	from, to int // the rules that begin so
	shorter  int // the longest head that is a proper beginning of this one; -1 if there is none
}

func newMatcher(r Reader, rules []robots.Rule) *Matcher {
	m := &Matcher{reader: r}
	for i, rule := range rules {
		for _, p := range r.Patterns(rule) {
			if r.Choice == FirstMatch {
				p.Size = -i
			}
			m.rules = append(m.rules, matcherRule{p, rule.Allow, rule.Line})
		}
	}
	slices.SortStableFunc(m.rules, func(a, b matcherRule) int {
		return cmp.Or(strings.Compare(a.Pieces[0], b.Pieces[0]), cmp.Compare(b.Size, a.Size))
	})
	for i := range m.rules {
		text := m.rules[i].Pieces[0]
		if n := len(m.heads); n > 0 && m.heads[n-1].text == text {
			m.heads[n-1].to = i + 1
			continue
		}
		up := len(m.heads) - 1
		for up >= 0 && !strings.HasPrefix(text, m.heads[up].text) {
			up = m.heads[up].shorter
		}
		m.heads = append(m.heads, firstPiece{text, i, i + 1, up})
	}
	return m
}

// Decide reports whether a form of a selector is allowed.
func (m *Matcher) Decide(form string) bool {
	at, found := slices.BinarySearchFunc(m.heads, form, func(h firstPiece, form string) int { return strings.Compare(h.text, form) })
	if !found {
		at--
	}
	var best *matcherRule
	size := 0
	for at >= 0 {
		h := &m.heads[at]
		if at = h.shorter; !strings.HasPrefix(form, h.text) {
			continue
		}
		for i := h.from; i < h.to; i++ {
			rule := &m.rules[i]
			n := rule.covers(form)
			if n < 0 {
				continue
			}
			if m.reader.Choice != LongestMatch {
				n = rule.Size
			}
			if best == nil || n > size || n == size && best.allow != rule.allow && rule.allow == (m.reader.Ties == TiesAllow) {
				best, size = rule, n
			}
		}
	}
	return best == nil || best.allow
}

// Names returns the product tokens that the file names, in lower case, sorted.
func (f *Parsed) Names() []string {
	var names []string
	for _, g := range f.groupsOf(grouping{dialect: robots.RFC9309, groups: true}) {
		names = append(names, g.names...)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "*" })
}
