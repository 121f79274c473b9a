package policy

import "slices"

// What was proven of a subtree before need not be proven again if everything is
// the same that the readers and the policy could see of it: the directory itself
// (the same pointer: directories never change), its selector, the annotations
// above it, the rules of the file that can match below it, and the spellings
// closed there. Rules and closed spellings are compared by a sum of 64-bit
// hashes. Only subtrees about which nothing had to be said are remembered, and
// only large ones: small ones are proven as quickly as they are looked up.
type memo struct {
	sel       string
	said      uint64 // by the rules that can match, and by closed spellings
	view      view
	selectors int
}

// minMemo is how many selectors a subtree has that is remembered. Tests set it.
var minMemo = 100

type memos map[*Dir]memo

// same reports whether two ways down have passed the same annotations.
func (v view) same(w view) bool {
	return slices.EqualFunc(v, w, func(a, b opinion) bool { return a.note == b.note && a.start == b.start })
}

// kept is what a class of robots was found to be told, for the next time: the
// verdicts on directories with annotations in or below them, and how the names
// in them begin each other. A verdict follows from the directory, its selector,
// and the rules that come down to it; those that were reported about are left
// out, so that they are reported again.
type kept struct {
	verdicts map[*Dir]judged
	siblings map[*verdict]*siblings
}

type judged struct {
	norm    string
	above   []state
	verdict *verdict
}

func newKept() *kept {
	return &kept{verdicts: map[*Dir]judged{}, siblings: map[*verdict]*siblings{}}
}

// same reports whether the same rules come down, matched equally far.
func (s *state) same(o *state) bool {
	return s.by == o.by && s.size == o.size && slices.Equal(s.live, o.live)
}

// verdict finds a verdict that still holds.
func (k *kept) verdict(d *Dir, norm []byte, above []state) *verdict {
	if k == nil {
		return nil
	}
	j, ok := k.verdicts[d]
	if !ok || j.norm != string(norm) || !slices.EqualFunc(j.above, above, func(a, b state) bool { return a.same(&b) }) {
		return nil
	}
	return j.verdict
}

// siblingsOf finds or makes the siblings in a directory.
func (k *kept) siblingsOf(v *verdict, sel string, prev *kept) *siblings {
	var s *siblings
	if prev != nil {
		s = prev.siblings[v]
	}
	if s == nil || s.sel != sel {
		s = newSiblings(v, sel)
	}
	k.siblings[v] = s
	return s
}

// keepBelow takes over what was kept of a directory and all below.
func (k *kept) keepBelow(d *Dir, prev *kept) {
	j, ok := prev.verdicts[d]
	if !ok {
		return
	}
	k.verdicts[d] = j
	for _, sub := range d.Dirs {
		k.keepBelow(sub, prev)
	}
}
