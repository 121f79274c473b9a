package proof

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots/readers"
)

// class is robots that the annotations and the file treat alike.
type class struct {
	names  []string        // sorted
	asked  []string        // the first, and each name that contains a name of another class
	groups []int           // of the file
	named  map[string]bool // by annotations in these top-level directories; "": in the root
}

// virtual are the robots of Gemini that one program may be several of.
var virtual = []string{"archiver", "indexer", "researcher", "webproxy"}

var seed = maphash.MakeSeed()

func hashOf(texts ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, s := range texts {
		_, _ = h.WriteString(s)
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// classes groups the robots that annotations or the file name.
func classes(list []*annotation, f *file, rows []readers.Reader) map[string]*class {
	ways, named := map[string]uint64{}, map[string]map[string]bool{}
	for i, a := range list {
		k := 0
		a.each(func(_ *noteText, g *noteGroup) {
			k++
			if !g.speaks && !g.prefers {
				return
			}
			for _, name := range g.names {
				ways[name] += mix(uint64(i), uint64(k))
				if named[name] == nil {
					named[name] = map[string]bool{}
				}
				named[name][topOf(a.dir)] = true
			}
		})
	}
	groups := map[string][]int{}
	for i := range f.groups {
		for _, name := range f.groups[i].agents {
			if name != "" && name != "*" && !slices.Contains(groups[name], i) {
				groups[name] = append(groups[name], i)
				ways[name] += mix(1<<32, uint64(i))
			}
		}
	}
	if slices.ContainsFunc(virtual, func(name string) bool { _, ok := ways[name]; return ok }) {
		for _, name := range virtual {
			ways[name] += 0
		}
	}
	byWay, all := map[uint64]*class{}, map[string]*class{}
	for name, way := range ways {
		if slices.Contains(virtual, name) || slices.ContainsFunc(rows, func(r readers.Reader) bool { return r.Agent == name }) {
			way = hashOf(name)
		}
		c := byWay[way]
		if c == nil {
			c = &class{groups: groups[name], named: named[name]}
			byWay[way] = c
		}
		c.names, all[name] = append(c.names, name), c
	}
	for _, c := range byWay {
		slices.Sort(c.names)
		c.asked = c.names[:1:1]
	}
	for name, c := range all {
		for other, o := range all {
			if o != c && len(other) < len(name) && strings.Contains(name, other) && !slices.Contains(c.asked, name) {
				c.asked = append(c.asked, name)
			}
		}
	}
	for _, c := range byWay {
		slices.Sort(c.asked)
	}
	return all
}

// mix makes one number of two.
func mix(a, b uint64) uint64 {
	return maphash.Comparable(seed, [2]uint64{a, b})
}
