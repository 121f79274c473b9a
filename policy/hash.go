package policy

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"strings"
)

// Hash gives two sums: of what the annotations mean, however it is spelt, and of
// the file. Two servers with the same tree have the same; which annotation says a
// thing, in which order, does not matter.
func (c *Compiled) Hash() (meaning, file [sha256.Size]byte) {
	return c.meaning, sha256.Sum256(c.file)
}

// meaningOf sums up what each robot is told: rules and preferences by pattern,
// without those that others make needless.
func meaningOf(groups []*group, fields []siteField) [sha256.Size]byte {
	var said []string
	for _, g := range groups {
		var list []string
		for _, e := range g.entries {
			if !e.dropped {
				list = append(list, e.field()+padded(e.uri, min(e.pad, 1)))
			}
		}
		for _, p := range merged(g.prefs) {
			list = append(list, "Content-Usage: "+p.uri+" "+p.value)
		}
		slices.Sort(list)
		names := slices.Clone(g.names)
		for i := range names {
			names[i] = strings.ToLower(names[i])
		}
		slices.Sort(names)
		said = append(said, strings.Join(names, " ")+"\n"+strings.Join(slices.Compact(list), "\n"))
	}
	slices.Sort(said[min(1, len(said)):])
	list := slices.Clone(fields)
	slices.SortStableFunc(list, func(a, b siteField) int { return cmp.Compare(a.name, b.name) })
	for _, f := range list {
		said = append(said, f.name+": "+f.value)
	}
	return sha256.Sum256([]byte(strings.Join(said, "\n\n")))
}
