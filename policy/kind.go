package policy

import "strings"

// Where the file is too long otherwise, files that a pattern denies for how they
// end are not listed: they are denied by a pattern again, with a star. Readers
// without globs do not understand that, and are reported.

// kinds are the rules that are written with a star, for one class of robots.
type kinds struct {
	index   *index
	token   string
	home    map[*rule]string // the directory of the annotation
	files   map[*rule]int    // that a rule denies for how they end
	written map[*rule]bool
}

// countKinds finds the rules that deny many files of a kind.
func countKinds(x *index, s *section, root *Dir) *kinds {
	k := &kinds{index: x, token: s.class.tokens[0], home: map[*rule]string{}, files: map[*rule]int{}, written: map[*rule]bool{}}
	k.count(root, s.verdict, "/")
	for by, n := range k.files {
		if home, ok := k.home[by]; ok && n > maxListed && !strings.ContainsAny(home, "#*") {
			k.written[by] = true
		}
	}
	return k
}

// count counts the files that would have to be listed.
func (k *kinds) count(d *Dir, v *verdict, sel string) {
	if n := k.index.notes[d]; n != nil {
		for _, r := range n.rulesFor(k.token) {
			k.home[r] = sel
		}
	}
	for i, by := range v.files {
		if isKind(by, d.Files[i]) {
			k.files[by]++
		}
	}
	for i, sub := range v.dirs {
		if sub.kind == mixed {
			k.count(d.Dirs[i], sub, sel+d.Dirs[i].Name+"/")
		}
	}
}

// covers reports whether a file is denied by a pattern that was written.
func (k *kinds) covers(by *rule, n entry) bool {
	return k != nil && !n.dir && k.written[by] && isKind(by, n.name)
}

// isKind reports whether a rule denies a file for how it ends.
func isKind(by *rule, name string) bool {
	if by == nil {
		return false
	}
	tail := tailOf(by)
	return tail != "" && strings.Contains(name, tail)
}

// tailOf gives what a pattern has behind its last star, if that can be written
// as it is.
func tailOf(by *rule) string {
	last := len(by.pattern.pieces) - 1
	if last < 1 {
		return ""
	}
	tail := string(by.pattern.pieces[last])
	if head(tail) != tail || strings.Contains(tail, "/") {
		return ""
	}
	return tail
}

// kind bars all below a directory that has the tail in it.
func (e *emitter) kind(home, tail string, by *rule) {
	g := home + "*" + tail
	e.prefix(g, by)
	if home == "/" {
		e.out.add(false, g[1:], by)
	}
	e.rescue(home, g)
	e.exposed.add(exposure{
		report: NewReport(CodeGlob, by.file, by.line, "too many files to list: readers without globs cannot be told to keep out of them"),
		sel:    home, prefix: true, tail: tail,
	})
}
