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
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site"
)

// A DatedText is a text whose name begins with a date, as phlogs have them.
type DatedText struct {
	Name string // below the root
	Day  time.Time
}

// HasFeed reports whether a directory has dated texts, and robots may fetch it. The feed
// of the root is of the whole site. A feed without an entry says that robots may fetch
// none of the texts.
func HasFeed(v *site.View, dir string) bool {
	snap := v.Now()
	if snap == nil {
		return false
	}
	dir = snap.Real(dir)
	return len(snap.Tree.Phlogs(dir, dir == ".")) > 0 && (dir == "." || !snap.Compiled.DeniedToAll(dir, true))
}

// NewestTexts returns the newest n dated texts of a directory that robots may fetch, the
// newest first, under their real names; with deep, the directories below it count, too.
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
		slices.SortFunc(list, func(a, b DatedText) int { return cmp.Or(b.Day.Compare(a.Day), strings.Compare(b.Name, a.Name)) })
		list = slices.CompactFunc(list, func(a, b DatedText) bool { return a.Name == b.Name }) // a text, and a link to it
		list = slices.Clone(list[:min(len(list), n)])
		v.Release()
	}
	return list, nil
}

// A Rule is an Allow or Disallow line of robots.txt for robots that no annotation names.
type Rule struct {
	Line string

	// Prefix begins the names that the rule can match: "phlog/drafts/".
	Prefix string
}

// Rules returns the rules of a snapshot. Two snapshots that differ in some rules decide
// alike about all names that begin with none of their prefixes.
func Rules(snap *site.Snapshot) map[Rule]bool {
	rules := map[Rule]bool{}
	all, header := false, false // the group is for all robots; its head has not ended
	for line := range strings.Lines(string(snap.Robots)) {
		line = strings.TrimSpace(line)
		name, value, _ := strings.Cut(line, ": ")
		switch name {
		case "User-agent":
			all = all && header || value == "*"
			header = true
		case "Allow", "Disallow":
			header = false
			if all {
				rules[Rule{line, literal(value)}] = true
			}
		}
	}
	return rules
}

// literal is the part of a pattern before its first wildcard, as a name.
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
