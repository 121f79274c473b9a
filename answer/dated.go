package answer

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site"
)

// A DatedText is a text whose name begins with a date, such as a phlog entry.
type DatedText struct {
	Name string // real name below the root
	Day  time.Time
}

// HasFeed reports whether a directory has a feed: it contains dated texts, and robots may
// fetch the directory. The root has one if any directory contains dated texts. The feed may
// be empty, if robots may fetch none of the texts.
func HasFeed(v *site.View, dir string) bool {
	snap := v.Now()
	if snap == nil {
		return false
	}
	dir = snap.Real(dir)
	return len(snap.Tree.Phlogs(dir, dir == ".")) > 0 &&
		(dir == "." || !snap.Compiled.DeniedToAll(dir, true))
}

// NewestTexts returns the newest n dated texts of a directory that robots may fetch, newest
// first. If deep is true, it includes the directories below.
func NewestTexts(v *site.View, dir string, deep bool, n int) (list []DatedText, err error) {
	snap, err := v.Snapshot()
	if err != nil {
		return nil, fmt.Errorf("waiting for the first scan: %w", err)
	}
	v.DependOnTree()
	for _, dir := range snap.Tree.Phlogs(snap.Real(dir), deep) {
		entries, err := v.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return nil, err
		}
		for _, e := range entries {
			name := snap.Real(selector.Join(dir, e.Name()))
			if day, ok := menu.DatedText(e.Name()); ok && !e.IsDir() && snap.Open(name, false) {
				list = append(list, DatedText{name, day})
			}
		}
		slices.SortFunc(list, func(a, b DatedText) int {
			return cmp.Or(b.Day.Compare(a.Day), strings.Compare(b.Name, a.Name))
		})
		list = slices.CompactFunc(list, func(a, b DatedText) bool {
			return a.Name == b.Name
		}) // a text, and a link to it
		list = slices.Clone(list[:min(len(list), n)])
		v.Release()
	}
	return list, nil
}

// A Rule is an Allow or Disallow line of robots.txt in the group "User-agent: *".
type Rule struct {
	Allow   bool
	Pattern string

	// Prefix is the beginning of all names that the rule can match: "phlog/drafts/".
	Prefix string
}

// Rules returns the rules of a snapshot. If a rule is in only one of two snapshots, their
// decisions can differ only for names that begin with its Prefix.
func Rules(snap *site.Snapshot) map[Rule]bool {
	rules := map[Rule]bool{}
	for _, g := range robots.Parse(robots.RFC9309, snap.Robots).Groups() {
		for _, r := range g.Rules {
			if g.IsForAll() && r.Pattern != "" {
				rules[Rule{r.Allow, r.Pattern, literal(r.Pattern)}] = true
			}
		}
	}
	return rules
}

// literal returns the part of a pattern before its first wildcard, unescaped, without the
// leading slash.
func literal(pattern string) string {
	if i := strings.IndexAny(pattern, "*$"); i >= 0 {
		pattern = pattern[:i]
	}
	name, err := url.PathUnescape(strings.TrimPrefix(pattern, "/"))
	if err != nil {
		return ""
	}
	return name
}
