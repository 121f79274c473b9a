package policy

import "strings"

// deny bars the denied entries of a directory. It returns the allowed ones that
// are barred with them, because a denied name begins theirs.
func (e *emitter) deny(v *verdict, s *siblings, c cover) map[string]over {
	barred := map[string]over{}
	if c.weak {
		return barred
	}
	done := "" // the prefix that covered the last name
	for _, n := range s.denied {
		if e.kinds.covers(v.denial(n), n) {
			continue
		}
		if done != "" && strings.HasPrefix(n.name, done) {
			continue
		}
		done = ""
		name := s.shorten(n.name)
		pure := s.pure(name)
		if pure && !s.tricky() {
			done = name
		} else {
			e.nested = true
		}
		if !pure && n.dir {
			name += "/"
			e.closeBare(s.sel + name)
		}
		e.bar(v, s, name, n, barred)
	}
	return barred
}

// bar writes the lines for all that begins with a name of the directory, or with
// the name and a slash, as far as it can be written.
func (e *emitter) bar(v *verdict, s *siblings, name string, n entry, barred map[string]over) {
	by := v.denial(n)
	before, _, found := cutName(s.sel + name)
	if found {
		if cut, ok := s.within(before); ok && s.pure(cut) && !strings.HasSuffix(cut, "$") {
			e.nested = true
			e.prefix(s.sel+cut, by)
			return
		}
		e.globs[v.dir]++
		e.sels[v.dir] = s.sel
		if e.globs[v.dir] <= maxGlobs || s.sel == "/" { // else all of it will be denied
			e.glob(s.sel+name, by)
		}
		return
	}
	cut, ok := s.within(before)
	switch {
	case !ok: // nothing but blanks: a star keeps them from being trimmed
		e.both(false, s.sel+name+"*", by)
		e.rescue(s.sel+name, s.sel+name+"*")
		e.exposeName(s.sel+name, by)
	case strings.HasSuffix(cut, "$"):
		e.nested = true
		e.dollar(v, s, cut, by)
		e.mark(s, cut, barred)
	default:
		e.nested = e.nested || cut != name
		e.prefix(s.sel+cut, by)
		e.mark(s, cut, barred)
	}
}

// within gives what is left of a name if its selector is cut and blanks at its
// end are left out. It is false if that is nothing.
func (s *siblings) within(sel string) (name string, ok bool) {
	sel = strings.TrimRight(sel, " ")
	if len(sel) <= len(s.sel) {
		return "", false
	}
	return sel[len(s.sel):], true
}

func (e *emitter) mark(s *siblings, prefix string, barred map[string]over) {
	for name, o := range s.begun(prefix) {
		barred[name] |= o
	}
}

// prefix bars all selectors that begin with sel, which needs no care but for
// octets that are not ASCII.
func (e *emitter) prefix(sel string, by *rule) {
	e.both(false, sel, by)
	if high := escapeHigh(sel); high != sel {
		e.both(false, high, by)
	}
}

// dollar bars a name that ends in $, which is an anchor to readers that know it:
// for them it is escaped, and what the anchored form matches is allowed again.
func (e *emitter) dollar(v *verdict, s *siblings, name string, by *rule) {
	e.prefix(s.sel+name, by)
	stem := strings.TrimSuffix(name, "$")
	e.both(false, escape(s.sel+name), by)
	target := escape(s.sel+stem) + "$"
	n, ok := s.rival(stem)
	switch {
	case stem == "" && v.menu == nil,
		ok && (v.kindOf(n) == allowed || v.dirs[n.i].menu == nil):
		e.both(true, target, nil)
	}
}

// glob bars a name with a # or * in it by putting a star there. Readers without
// globs do not understand it.
func (e *emitter) glob(sel string, by *rule) {
	g := globOf(sel)
	e.both(false, g, by)
	if high := escapeHigh(g); high != g {
		e.both(false, high, by)
	}
	before, _, _ := cutName(sel)
	e.rescue(before, g)
	e.exposeName(sel, by)
}

func (e *emitter) exposeName(sel string, by *rule) {
	e.exposed.add(exposure{
		report: NewReport(CodeName, by.file, by.line, "readers without globs cannot be told to keep out of this name"),
		sel:    sel, prefix: true,
	})
}

// rescue lets readers that know Allow in where the glob matches something
// allowed that begins with prefix.
func (e *emitter) rescue(prefix, glob string) {
	p := newPattern(glob)
	match := live{rule: &rule{pattern: p}}
	e.eachAllowed(e.root, e.verdict, "/", prefix, func(sel string) {
		for _, spelling := range spellings(sel) {
			if spelling != "" && spelling[0] == '/' && match.matches([]byte(normal(spelling))) && e.closed[spelling] == "" {
				e.both(true, escape(spelling)+"$", nil)
			}
		}
	})
}

// eachAllowed calls fn for every allowed resource of the directory whose
// selector begins with the prefix, in one form or the other.
func (e *emitter) eachAllowed(d *Dir, v *verdict, sel, prefix string, fn func(sel string)) {
	if v.kind == denied || !related(sel, prefix) {
		return
	}
	if v.kind == allowed || v.menu == nil {
		fn(sel)
	}
	for i, name := range d.Files {
		if (v.kind == allowed || v.files[i] == nil) && !skipped(sel, name) && related(sel+name, prefix) {
			fn(sel + name)
		}
	}
	for i, sub := range d.Dirs {
		below := allAllowed
		if v.kind == mixed {
			below = v.dirs[i]
		}
		if speakable(sub.Name) {
			e.eachAllowed(sub, below, sel+sub.Name+"/", prefix, fn)
		}
	}
}

// related reports whether one begins the other, to readers that compare normal
// forms. A cut inside an escape keeps prefix from being normalized as a whole,
// so percent signs end the comparison.
func related(sel, prefix string) bool {
	sel, _, _ = strings.Cut(sel, "%")
	prefix, _, _ = strings.Cut(prefix, "%")
	n := min(len(sel), len(prefix))
	return sel[:n] == prefix[:n]
}
