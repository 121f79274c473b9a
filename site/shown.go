package site

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/selector"
)

// A menu shows the text of a file that has a selector of its own: a directory its index.gmi,
// index.gph or x.gophermap, and each map what it includes. A rule that denies the file leaves
// the menu open.

// shown is a file whose text a menu shows.
type shown struct {
	file string // its name
	menu string // the canonical selector of the menu
}

// shownIn returns the files of a directory that its menu is made of, by their base names.
// Its map may end with a listing.
func shownIn(dir string, names []string, isListed bool) (list []shown) {
	sel := selector.Canonical(dir, true)
	for _, base := range []string{"gophermap", ".gophermap", "index.gph", "index.gmi"} {
		if slices.Contains(names, base) {
			list = []shown{{selector.Join(dir, base), sel}}
			break
		}
	}
	if list != nil && !isListed {
		return list
	}
	for _, base := range names {
		if menu.IsMenuFile(base) && !menu.IsMap(base) && strings.HasSuffix(base, ".gophermap") {
			list = append(list, shown{selector.Join(dir, base), sel})
		}
	}
	return list
}

// shown returns the files whose text a menu shows, in order.
func (s *scanner) shown() (list []shown) {
	for _, p := range s.programs {
		list = append(list, p.shown...)
	}
	slices.SortFunc(list, func(a, b shown) int { return strings.Compare(a.file+"\n"+a.menu, b.file+"\n"+b.menu) })
	return list
}

// shownElsewhere reports rules that deny a file whose text an open menu shows. What reads
// texts for robots leaves out such menus, too.
func (s *Snapshot) shownElsewhere() (reports []policy.Report) {
	s.shows = map[string]bool{}
	for _, x := range s.shown {
		name := path.Clean(strings.TrimPrefix(x.menu, "/"))
		by := s.Compiled.DeniedBy(x.file, false)
		if by == nil || by.Line == 0 || s.Compiled.DeniedToAll(name, strings.HasSuffix(x.menu, "/")) {
			continue
		}
		s.shows[name] = true

		// The line of the same annotation that denies the menu, or else of the root's.
		line, where := x.menu, " in the root's .robots"
		if dir := selector.Canonical(path.Dir(by.File), true); strings.HasPrefix(x.menu, dir) {
			line, where = x.menu[len(dir)-1:], ""
		}
		if strings.HasSuffix(line, "/") {
			line += "$"
		}
		reports = append(reports, policy.NewReport(policy.CodeShownElsewhere, by.File, by.Line,
			fmt.Sprintf("%s shows the text of /%s: Disallow: %s%s denies that, too", x.menu, x.file, line, where)))
	}
	return reports
}

// maxEscaped is how many names with escapes are looked at in a directory, and 50 times as
// many in all.
const maxEscaped = 20

// escaped reports rules that deny a name with an escape, such as 50%faster.txt, by what stands
// behind a star, to readers that take the escape for one byte and are let in.
func (s *Snapshot) escaped(scan *scanner) (reports []policy.Report) {
	var list []string
	for _, p := range scan.programs {
		list = append(list, p.escaped...)
	}
	slices.Sort(list)
	for _, sel := range list[:min(len(list), 50*maxEscaped)] {
		name, dir := path.Clean(sel[1:]), strings.HasSuffix(sel, "/")
		by := s.Compiled.DeniedBy(name, dir)
		if by == nil || by.Line == 0 {
			continue
		}
		r := policy.NewReport(policy.CodeDigits, by.File, by.Line, sel+" holds an escape, which some readers take for one byte")
		r.Selector, r.Leaks = sel, []string{sel}
		r.Readers = slices.DeleteFunc(s.Compiled.LetIn(name, dir), func(reader string) bool {
			return slices.ContainsFunc(s.Compiled.Reports(), func(o policy.Report) bool {
				return o.File == by.File && o.Line == by.Line && slices.Contains(o.Readers, reader)
			})
		})
		if len(r.Readers) > 0 {
			reports = append(reports, r)
		}
	}
	return reports
}
