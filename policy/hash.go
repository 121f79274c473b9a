package policy

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
	"strings"
)

// Hash is the SHA-256, in hexadecimal, of what the annotations mean and of the
// file. Two servers with the same tree have the same; which annotation says a
// thing, in which order and in which spelling, does not matter.
func (c *Compiled) Hash() string { return c.hash }

// hashOf sums up the policy and the file.
func hashOf(groups []*group, fields []siteField, file []byte) string {
	h := sha256.New()
	_, _ = io.WriteString(h, meaningOf(groups, fields))
	_, _ = h.Write(file)
	return hex.EncodeToString(h.Sum(nil))
}

// meaningOf says what each robot is told: rules and preferences by pattern,
// without those that others make needless.
func meaningOf(groups []*group, fields []siteField) string {
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
	return strings.Join(said, "\n\n")
}
