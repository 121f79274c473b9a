package server

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// A ServeMux hands a request to the handler whose pattern is the longest that
// fits its selector. A pattern that ends in a slash fits everything below it
// and the same without the slash; any other pattern fits one selector. The
// leading slash counts for nothing: "/a" and "a" are the same, and "/" fits
// everything. The zero value is ready to use.
type ServeMux struct {
	mu    sync.RWMutex
	rules []rule // longest first
}

type rule struct {
	pattern string // without its leading slash
	handler Handler
}

// Handle adds a handler for a pattern, or replaces the one it has.
func (m *ServeMux) Handle(pattern string, h Handler) {
	m.mu.Lock()
	defer m.mu.Unlock()
	pattern = strings.TrimPrefix(pattern, "/")
	rules := slices.DeleteFunc(slices.Clone(m.rules), func(r rule) bool { return r.pattern == pattern })
	rules = append(rules, rule{pattern, h})
	slices.SortStableFunc(rules, func(a, b rule) int { return cmp.Compare(len(b.pattern), len(a.pattern)) })
	m.rules = rules
}

// HandleFunc adds a function for a pattern.
func (m *ServeMux) HandleFunc(pattern string, f func(ResponseWriter, *Request) error) {
	m.Handle(pattern, HandlerFunc(f))
}

// Handler returns the handler for a selector; if none fits, one that answers
// "Not found".
func (m *ServeMux) Handler(selector string) Handler {
	m.mu.RLock()
	rules := m.rules
	m.mu.RUnlock()
	sel := strings.TrimPrefix(selector, "/")
	for _, r := range rules {
		if r.fits(sel) {
			return r.handler
		}
	}
	return NotFoundHandler()
}

func (r rule) fits(sel string) bool {
	dir, isDir := strings.CutSuffix(r.pattern, "/")
	switch {
	case r.pattern == "":
		return true
	case isDir:
		return sel == dir || strings.HasPrefix(sel, r.pattern)
	}
	return sel == r.pattern
}

// ServeGopher hands the request on.
func (m *ServeMux) ServeGopher(w ResponseWriter, r *Request) error {
	return m.Handler(r.Selector).ServeGopher(w, r)
}
