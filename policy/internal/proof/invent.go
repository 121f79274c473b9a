package proof

import (
	"slices"
	"strings"

	"github.com/gophd/gophd/robots/readers"
)

// later and other are names that nobody has given yet. Where rules speak of one, as those
// that hold a letter do, what they say of the other tells more.
const later, other = "later", "_"

// invent asks for names that do not exist: a file and a directory, and for each
// pattern that no directory below has taken over names that it just matches and
// names that it just does not. Of the file those count that the policy does not have.
func (p *prover[D]) invent(at *place, rules, lines []span, dirs []D, t *tally) {
	c := p.class
	p.deep = nil
	form := string(readers.URI.Append(nil, at.dir))
	p.invented(at, at, at.dir+later, t)
	if pieces, ok := c.goBy(at); !ok || at.dir == "/" || holds(later, pieces) { // of the root some lines are left out
		p.invented(at, at, at.dir+other, t)
	}
	if p.isFinal(at) { // what globs from above deny here an Allow may not open
		for _, o := range at.at[0].open[:min(len(at.at[0].open), maxExamples)] {
			if e := c.policy.entries[o.entry]; len(e.head()) < len(form) {
				e.Pieces = append([]string{form}, e.Pieces[o.piece:]...)
				p.around(at, &e, t)
			}
		}
	}
	c.policy.left(at.at[0], rules, func(e *entry) {
		if !p.opens(at, dirs, e) && (e.sides != statedSide || !c.policy.has(e, wantedSide)) {
			p.around(at, e, t)
		}
	})
	c.file.left(at.at[c.uri], lines, func(e *entry) {
		isRead := e.sides&c.exact != 0 || c.exact == 0
		if isRead && !c.policy.has(e, policySide) && !p.opens(at, dirs, e) && (!e.Whole || len(e.Pieces) > 1 || !p.isDir(at, dirs, e.head())) {
			p.around(at, e, t)
		}
	})
}

// opens reports whether a pattern's first star stands at the beginning of the names in
// one of the directories: there it is asked for.
func (p *prover[D]) opens(at *place, dirs []D, e *entry) bool {
	dir, ok := strings.CutSuffix(e.head(), "/")
	return ok && len(dir) >= len(at.dir) && (e.Whole && len(e.Pieces) > 1 || strings.Join(e.Pieces[1:], "") != "") && p.isDir(at, dirs, dir)
}

// isFinal reports whether what is said below a place is not the last word.
func (p *prover[D]) isFinal(at *place) bool {
	return slices.ContainsFunc(at.at[0].full, func(i int) bool {
		r := p.class.rule(i)
		return r != nil && r.final
	})
}

// isDir reports whether a selector without a slash at its end is that of one of the
// directories: it was asked for with them.
func (p *prover[D]) isDir(at *place, dirs []D, sel string) bool {
	_, ok := slices.BinarySearchFunc(dirs, strings.TrimPrefix(sel, at.dir), func(d D, name string) int {
		return strings.Compare(p.in.Name(d), name)
	})
	return ok
}

// around asks for the names around a pattern.
func (p *prover[D]) around(at *place, e *entry, t *tally) {
	in := p.under(at, e.head())
	for _, fill := range []string{"", later, other} {
		if len(e.Pieces) == 1 && fill != "" {
			return
		}
		name, ok := plainName(strings.Join(e.Pieces, fill))
		if !ok || len(name) <= len(at.dir) || !strings.HasPrefix(name, at.dir) {
			continue
		}
		list := []string{name, name + later}
		if !e.Whole {
			list = append(list, strings.TrimSuffix(name, "/")+"/"+later, name[:len(name)-1])
		}
		for _, name := range list {
			if name = strings.TrimRight(name, "/"); len(name) > len(in.dir) {
				p.invented(at, in, name, t)
			} else {
				p.invented(at, at, name, t)
			}
		}
	}
}

// under goes down into the directory of a pattern's head, which need not exist. What many
// patterns look for there is then asked of those alone that may have it. The place is
// good until the next one.
func (p *prover[D]) under(at *place, head string) *place {
	dir, ok := plainName(head[:strings.LastIndexByte(head, '/')+1])
	if !ok || len(dir) <= len(at.dir) || !strings.HasPrefix(dir, at.dir) {
		return at
	}
	if p.deep == nil {
		p.deep = newPlace(len(p.class.lanes))
	}
	if p.deep.dir != dir {
		p.class.below(at, p.deep, dir)
	}
	return p.deep
}

// invented asks for a name as a file and as a directory; in is at, or a directory below
// it. No name has two slashes beside each other: the server takes them for one.
func (p *prover[D]) invented(at, in *place, sel string, t *tally) {
	if len(sel) <= len(at.dir) || strings.Contains(sel, "//") || !askable(at, sel[len(at.dir):]) || p.skipped(sel) || p.skipped(sel+"/") {
		return
	}
	if t = p.into(at, sel, t); t != nil {
		p.resource(in, sel, false, false, t)
		p.resource(in, sel+"/", true, false, t)
	}
}

// plainName decodes a name in URI form; no name has a slash that was escaped.
func plainName(form string) (name string, ok bool) {
	name = string(readers.Decoded.Append(nil, form))
	return name, strings.Count(name, "/") == strings.Count(form, "/")
}
