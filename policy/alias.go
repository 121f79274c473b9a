package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// An Alias is another selector of a file or directory that has one of its own: a symbolic
// link, or a mount of a directory that the tree has as well. Both selectors are canonical:
// "/blog/" and "/phlog/", or "/latest.txt" and "/phlog/2026-01-03.txt". Annotations below the
// target are given once, under the target.
//
// An alias is denied as a whole if a rule may deny something at or below its target. Robots
// then read it under the target alone.
type Alias struct {
	Selector string
	Target   string
}

// denyAliases denies the aliases that show what the rules of the given directories deny,
// and reports whether there are any. A denied alias counts as a rule for aliases of
// directories above it.
func (w *work) denyAliases(live []*note) (denied bool) {
	if len(w.aliases) == 0 || live[0].shut != nil {
		return false
	}

	// Collect the patterns by their literal beginnings.
	rules := map[string][]string{}
	add := func(f form) { rules[headOf(f.uri)] = append(rules[headOf(f.uri)], f.uri) }
	for _, n := range live {
		if n.shut != nil {
			add(n.shut.form)
		}
		for _, r := range n.rules {
			if !r.allow {
				add(r.form)
			}
		}
	}
	for _, p := range w.programs {
		if strings.Contains(p.uri, "*") {
			continue // it covers the alias, too
		}
		for _, line := range p.lines {
			add(line.form)
		}
	}

	// A denied alias adds a pattern, so repeat until none is added.
	for found := true; found; {
		found = false
		heads := slices.Sorted(maps.Keys(rules))
		for _, a := range w.aliases {
			if w.denied[a.Selector] != nil || !shows(rules, heads, a) {
				continue
			}
			w.denied[a.Selector] = w.deniedAlias(a)
			add(w.denied[a.Selector].shut.form)
			found, denied = true, true
		}
	}
	return denied
}

// shows reports whether a rule may deny something at or below the target of an alias, and
// does not deny the alias in the same way. The rules are given by their literal beginnings,
// which heads lists in order.
func shows(rules map[string][]string, heads []string, a Alias) bool {
	target, alias := escape(a.Target), escape(a.Selector)
	isDir := strings.HasSuffix(target, "/")

	// A rule that begins with the target is about something below it.
	at, _ := slices.BinarySearch(heads, target)
	if isDir && at < len(heads) && strings.HasPrefix(heads[at], target) {
		return true
	}

	// Others begin with a part of it.
	for n := range len(target) + 1 {
		for _, r := range rules[target[:n]] {
			switch {
			case !isDir && matches(r, target) && !matches(r, alias):
				return true
			case isDir && mayMeet(r, target) && !(isLiteral(r) && strings.HasPrefix(alias, r)):
				return true
			}
		}
	}
	return false
}

// deniedAlias is the note of an alias that is denied as a whole.
func (w *work) deniedAlias(a Alias) *note {
	n := &note{sel: a.Selector, at: directory(a.Selector)}
	if !strings.HasSuffix(a.Selector, "/") {
		n.at = formOf([]string{a.Selector}, false, true, true)
	}
	n.top, _, _ = strings.Cut(strings.TrimPrefix(n.at.uri, "/"), "/")

	file, why := strings.Trim(a.Selector, "/"), fmt.Sprintf("robots read %s at %s", a.Selector, a.Target)
	n.shut = n.denied(file, why)
	w.stale = true
	w.said = append(w.said, NewReport(CodeAlias, file, 0, why))
	return n
}
