package policy

import (
	"slices"
	"strings"
)

// exposure names a leak before the proof finds it: something that readers which
// know only Disallow cannot be told.
type exposure struct {
	report Report
	sel    string
	globs  bool   // readers with globs are concerned, too
	prefix bool   // the selector stands for all that begins with it
	tail   string // and has this behind it
}

// exposures are those of one class of robots, by selector.
type exposures map[string][]*exposure

func (x exposures) add(e exposure) {
	e.report.Selector = e.sel
	for _, old := range x[e.sel] {
		if old.report.Code == e.report.Code && old.tail == e.tail {
			return
		}
	}
	x[e.sel] = append(x[e.sel], &e)
}

// name gives the exposure that a leak falls under, nil if it has none. The
// nearest one is taken: that of the selector itself, then those of what begins
// it.
func (x exposures) name(selector string, r *reading) *exposure {
	if r.exact || len(x) == 0 {
		return nil
	}
	if !strings.HasPrefix(selector, "/") {
		selector = "/" + selector
	}
	for n := len(selector); n > 0; n-- {
		for _, e := range x[selector[:n]] {
			if (e.globs || !r.globs) && e.covers(selector) {
				return e
			}
		}
	}
	return nil
}

// covers reports whether the exposure is about a selector that begins with its own.
func (e *exposure) covers(selector string) bool {
	rest := selector[len(e.sel):]
	return rest == "" || e.prefix && strings.Contains(rest, e.tail)
}

// found notes a leak in the report that names it.
func (e *exposure) found(reader, selector string) {
	if n := len(e.report.Leaks); n == 0 || e.report.Leaks[n-1] != selector {
		e.report.Leaks = append(e.report.Leaks, selector)
	}
	e.report.Readers = appendNew(e.report.Readers, reader)
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
