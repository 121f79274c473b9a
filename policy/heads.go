package policy

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots"
)

// heads are the beginnings of patterns, as far as they mean the same to all
// readers, with a slash in front of those that have none. Each stands for what
// is said by the patterns that begin so, as the sum of their hashes.
type heads struct {
	sums   map[string]uint64
	sorted []string
	totals []uint64 // of sorted, up to and without each
}

func newHeads() *heads { return &heads{sums: map[string]uint64{}} }

// add takes a pattern; text is all that is said by it.
func (h *heads) add(pattern, text string) {
	h.sums[head("/"+strings.TrimPrefix(pattern, "/"))] += maphash.String(headSeed, text) | 1
}

var headSeed = maphash.MakeSeed()

// finish sorts the table.
func (h *heads) finish() {
	h.sorted = make([]string, 0, len(h.sums))
	for s := range h.sums {
		h.sorted = append(h.sorted, s)
	}
	slices.Sort(h.sorted)
	h.totals = make([]uint64, len(h.sorted)+1)
	for i, s := range h.sorted {
		h.totals[i+1] = h.totals[i] + h.sums[s]
	}
}

// headsOf takes the rules of a file, each with the robot it is for. The names of
// all robots are part of what every rule says: a group replaces another.
func headsOf(file []byte) *heads {
	h := newHeads()
	groups := robots.Parse(robots.RFC9309, file).Groups()
	var names []string
	for _, g := range groups {
		for _, a := range g.Agents {
			names = append(names, a.Token)
		}
	}
	all := strings.Join(names, " ")
	for _, g := range groups {
		for _, r := range g.Rules {
			text := "disallow "
			if r.Allow {
				text = "allow "
			}
			for _, a := range g.Agents {
				text += a.Token + " "
			}
			if r.Pattern != "" {
				h.add(r.Pattern, text+r.Pattern+" "+all)
			}
		}
	}
	h.finish()
	return h
}

// head gives what comes before the first octet that is more than itself to some
// reader.
func head(s string) string {
	for i := range len(s) {
		if c := s[i]; !unreservedOctets[c] && c != '/' {
			return s[:i]
		}
	}
	return s
}

// reach is the patterns whose heads are a beginning of a directory's selector.
type reach struct {
	hit bool   // there are some
	sum uint64 // what they say
}

// enter goes down to a directory, given the reach of the one above it.
func (h *heads) enter(sel string, above reach) reach {
	at := head(sel)
	start := strings.LastIndexByte(strings.TrimSuffix(sel, "/"), '/') + 1
	for n := min(start, len(at)); n <= len(at); n++ {
		if sum, ok := h.sums[at[:n]]; ok {
			above.hit, above.sum = true, above.sum+sum
		}
	}
	return above
}

// below gives what is said by the patterns whose heads begin with a directory's
// selector, and whether there are any.
func (h *heads) below(sel string) (sum uint64, any bool) {
	at := head(sel)
	first, _ := slices.BinarySearch(h.sorted, at)
	last, _ := slices.BinarySearchFunc(h.sorted, at, func(s, at string) int {
		if strings.HasPrefix(s, at) || s < at {
			return -1
		}
		return 1
	})
	return h.totals[last] - h.totals[first], last > first
}
