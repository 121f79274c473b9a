package server

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"
)

// A ServeMux hands a request to the handler whose pattern is the longest that
// fits its selector. A pattern that ends in a slash fits everything below it
// and the same without the slash; any other pattern fits one selector. The
// leading slash counts for nothing: "/a" and "a" are the same, and "/" fits
// everything. A handler that returns ErrDeclined before it has written anything
// is not meant: the next longest pattern that fits is tried. What the handler has
// at hand (see Quick), the mux has. The zero value is ready to use.
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
	if rest := fitting(m.all(), selector); len(rest) > 0 {
		return rest[0].handler
	}
	return NotFoundHandler()
}

func (m *ServeMux) all() []rule {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.rules
}

// fitting returns the rules from the first on that fits a selector.
func fitting(rules []rule, selector string) []rule {
	sel := strings.TrimPrefix(selector, "/")
	for len(rules) > 0 && !rules[0].fits(sel) {
		rules = rules[1:]
	}
	return rules
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
	err := error(ErrNotFound)
	for rest := fitting(m.all(), r.Selector); len(rest) > 0; rest = fitting(rest[1:], r.Selector) {
		if err = rest[0].handler.ServeGopher(w, r); !errors.Is(err, ErrDeclined) {
			break
		}
	}
	return err
}

// Quick asks the handler for the request, if it is Quick, too.
func (m *ServeMux) Quick(r *Request) (a Answer, ok bool) {
	quick, is := m.Handler(r.Selector).(Quick)
	if !is {
		return Answer{}, false
	}
	return quick.Quick(r)
}
