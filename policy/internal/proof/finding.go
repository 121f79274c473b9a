package proof

import (
	"cmp"
	"hash/maphash"
	"iter"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// What a reader lacks to keep a rule.
const (
	Anchor        = "ANCHOR"         // the end of a pattern
	Digits        = "DIGITS"         // the escapes of bytes, a part of which a star matches
	Glob          = "GLOB"           // stars
	Index         = "INDEX"          // index.htm as a name, not as its directory
	MatchedLength = "MATCHED-LENGTH" // the length of patterns, not of what they match
	Name          = "NAME"           // the bytes of a name
	PartName      = "PART-NAME"      // whole names of robots
	OtherLines    = "READER"         // the lines of one group, in any order
	RootMenu      = "ROOT-MENU"      // the root's menu as a selector with a slash
)

const maxExamples = 2

// compare records the rules that one reader violates.
func (c *checker) compare(row int, robot string, v *view) {
	c.Rows[row].Rules += len(v.policy.rules)
	for _, l := range v.leaks() {
		f := Finding{Leak: true, Code: c.code(v, l, robot)}
		f.about(l.rule)
		if l.by == nil {
			c.add(f, row, robot, v, samples(&l.rule.Pattern, nil, c.token))
			continue
		}
		f.Written = l.by.Ref
		if by := c.author(v, l.by); by != nil {
			f.ByFile = by.file
			f.ByLine = by.line
			f.ByDir = by.dir
		}
		c.add(f, row, robot, v, samples(&l.rule.Pattern, &l.by.uri, c.token))
	}

	if root := v.policy.decide("/"); root != nil && !root.allow && v.reader.Bare && !v.reader.Web &&
		v.all.Permits("") {
		f := Finding{Leak: true, Code: RootMenu}
		f.about(root)
		c.add(f, row, robot, v, slices.Values([]string{""}))
	}

	switch {
	case strings.Contains(robot, "+") || !c.isNamed(robot):
		// It is denied what others are.
	case !isExact(v.reader):
		c.compareWeak(row, robot, v)
	default:
		for _, b := range v.blocks() {
			f := Finding{Written: b.line.Ref}
			if b.rule == nil {
				c.add(f, row, robot, v, samples(&b.line.uri, nil, c.token))
				continue
			}
			f.about(b.rule)
			c.add(f, row, robot, v, samples(&b.line.uri, &b.rule.Pattern, c.token))
		}
	}
}

// isExact reports whether a reader can take a file for exactly the policy.
func isExact(r readers.Reader) bool {
	return r.Allow && r.Star && r.Dollar && !r.Regexp && r.Groups &&
		r.Choice == readers.LongestPattern && slices.Equal(r.Forms, exact.Forms)
}

// compareWeak records what the file denies beyond the policy to a reader that cannot express
// the policy, if there is an example.
func (c *checker) compareWeak(row int, robot string, v *view) {
	for _, a := range v.policy.holes {
		denied := slices.ContainsFunc(symbols(v.reader.Forms[0], &a.Pattern),
			func(text string) bool {
				return !v.all.Permits(text)
			})
		if denied {
			f := Finding{}
			f.about(a)
			c.add(f, row, robot, v, samples(&a.Pattern, nil, c.token))
		}
	}
	for i := range v.lines {
		l := &v.lines[i]
		slashless := v.reader.Below && l.Whole                   // a directory's spelling without its slash
		written := readers.Plain(strings.Join(l.uri.Pieces, "")) // else for readers that know more
		if l.Allow || slashless || !written || l.stands() {
			continue
		}
		if strings.HasPrefix(l.uri.Pieces[0], "/") && v.policy.decide(symbol(&l.uri)) == nil {
			c.add(Finding{Written: l.Ref}, row, robot, v, samples(&l.uri, nil, c.token))
		}
	}
}

// about sets the rule that is violated.
func (f *Finding) about(r *counted) {
	f.File, f.Line, f.Dir, f.Pattern = r.file, r.line, r.dir, r.String()
}

// author returns the policy's Allow that an Allow of the file is written for; nil if
// there is none.
func (c *checker) author(v *view, l *line) *counted {
	p, ok := patternBelow("/", c.allows[l.Ref])
	for _, policy := range append(v.others, v.policy) {
		if by := policy.allowOf(&p); ok && by != nil {
			return by
		}
	}
	return nil
}

// add records a finding unless another robot has the same. Its examples are the first of
// names for which the reader's decision differs from the policy.
func (c *checker) add(f Finding, row int, robot string, v *view, names iter.Seq[string]) {
	if f.Reader = c.Rows[row].Name; c.seen[c.key(&f)] {
		return
	}
	for sel := range names {
		if len(f.Examples) == maxExamples {
			break
		}
		by := v.policy.decide(readers.URI.Of(sel))
		denied := by != nil && !by.allow
		asked := sel == "" || strings.HasPrefix(sel, "/") && sel != "/robots.txt" &&
			!slices.Contains(f.Examples, sel)
		if asked && denied == f.Leak && v.all.Allowed(sel) == f.Leak {
			f.Examples = append(f.Examples, sel)
		}
	}
	switch {
	case len(f.Examples) > 0:
	case !f.Leak && !isExact(v.reader):
		return
	default:
		f.Examples = []string{selector.Decoded(cmp.Or(f.Pattern, "/"))}
	}
	c.record(f, row, robot)
}

func (c *checker) record(f Finding, row int, robot string) {
	f.Reader, f.Robot = c.Rows[row].Name, robot
	key := c.key(&f)
	if c.seen[key] {
		return
	}
	c.seen[key] = true
	if f.Leak {
		c.Rows[row].Leaks++
	} else {
		c.Rows[row].OverBlocks++
	}
	c.Findings = append(c.Findings, f)
}

// key is equal for findings that are the same for several robots.
func (c *checker) key(f *Finding) uint64 {
	return maphash.Comparable(c.seed, struct {
		leak                                bool
		code, reader, file, pattern, byFile string
		line, byLine, written               int
	}{f.Leak, f.Code, f.Reader, f.File, f.Pattern, f.ByFile, f.Line, f.ByLine, f.Written})
}

// samples are names that a pattern matches; first those that another matches, too, if it
// is not nil.
func samples(p, other *readers.Pattern, token string) iter.Seq[string] {
	return func(yield func(string) bool) {
		list := []readers.Pattern{*p}
		if other != nil {
			lines, _ := p.Meeting(other)
			list = append(lines, *p)
		}
		for _, p := range list {
			for _, star := range []string{"", token, "%C3%A9", "%C3%A"} { // the last ends within an escape
				name := selector.Decoded(strings.Join(p.Pieces, star))
				if !yield(name) || !p.Whole &&
					(!yield(name+token) || !yield(name+"/") || !yield(name+"/"+token)) {
					return
				}
			}
		}
	}
}

// code returns the ability that a reader lacks to keep a rule: one that the Disallow needs,
// or the Allow that lets it in. It is "" if the file could have kept the reader out.
func (c *checker) code(v *view, l leak, robot string) string {
	r, d := v.reader, l.rule
	if !c.tellable(v, d, robot) {
		lacks := r.Lacks(readers.NeedsOf(d.String()) | readers.NeedsEscapes)
		switch {
		case lacks&readers.NeedsStar != 0:
			return Glob
		case lacks&readers.NeedsDollar != 0:
			return Anchor
		case lacks&readers.NeedsEscapes != 0 && inEscape(&d.Pattern):
			return Digits
		case lacks&readers.NeedsEscapes != 0 && !readers.Plain(strings.Join(d.Pieces, "")):
			return Name
		}
		return ""
	}
	isShort := len(robot) == 1 && robot != "*" && // a name that is no longer than "*"
		(r.Names == readers.LongestPart || r.Names == readers.LongestPrefix)
	if !c.isNamed(robot) || isShort {
		return PartName
	}
	if l.by == nil {
		return ""
	}

	a := l.by
	written := strings.Join(a.Pieces, "*")
	hasSyntax := !isPrefix(&d.Pattern) || d.Size == shutSize || !isPrefix(&a.Pattern)
	odd := !readers.Plain(strings.Join(d.Pieces, "")) ||
		!readers.Plain(strings.Join(a.uri.Pieces, ""))
	by := c.author(v, a)
	if by != nil {
		odd = odd || !readers.Plain(strings.Join(by.Pieces, ""))
	}
	endsInDropped := a.Whole && slices.ContainsFunc(dropped[r.Forms[0]], func(mark string) bool {
		return strings.HasSuffix(a.uri.Pieces[len(a.uri.Pieces)-1], mark)
	})
	obeysOthers := r.Lacks(readers.NeedsGroups) != 0 || strings.Contains(robot, "+")
	hasParts := robot != "*" && r.Names == readers.Part && !r.First // it obeys the groups of all names that are parts of its own
	switch {
	case r.Regexp && !isPrefix(&a.Pattern): // which it finds anywhere
		return Name
	case r.Words && by == nil: // a word of another line
		return Name
	case by == nil && !obeysOthers && !hasParts:
		return "" // no annotation has that Allow for this robot
	case endsInDropped && r.Choice == readers.LongestPattern:
		return Name
	case a.cut:
		return Digits
	case r.Choice == readers.LongestMatch && hasSyntax:
		return MatchedLength
	case a.Whole && (r.Index && strings.HasSuffix(written, "/") ||
		r.Below && by != nil && !by.Whole):
		return Index
	case r.Choice == readers.LongestPattern && d.Size == shutSize && !countsStars(r):
		return Glob // of the lines only one that ends in stars is longer than the Allow
	case r.Lacks(readers.NeedsStar) != 0 &&
		strings.HasSuffix(strings.TrimSuffix(d.String(), "$"), "*"):
		return Glob
	case r.Lacks(readers.NeedsDollar) != 0 && strings.HasSuffix(d.String(), "*$"):
		return Anchor // the line that it knows is shorter
	case r.Lacks(readers.NeedsEscapes) != 0 && odd:
		return Name
	case by != nil && r.Lacks(readers.NeedsOf(by.String())) != 0:
		return Name // to this reader the star or $ is a byte of a name
	case obeysOthers:
		return OtherLines
	case r.Choice == readers.FirstMatch &&
		(hasSyntax || r.EndStar && strings.HasSuffix(c.allows[a.Ref], "*")):
		return OtherLines // the lines are ordered for readers that take such a star for a byte
	case hasParts:
		return PartName
	}
	return ""
}

// countsStars reports whether a run of stars makes a pattern longer for a reader, and no
// different.
func countsStars(r readers.Reader) bool {
	list := r.Patterns(readers.Rule{Pattern: "/**"})
	return r.Lacks(readers.NeedsStar) == 0 && len(list) == 1 && list[0].Size == len("/**")
}

// tellable reports whether the lines that the compiler may write for a Disallow deny a reader
// all of it.
func (c *checker) tellable(v *view, d *counted, robot string) bool {
	r := v.reader
	weak := !r.Groups || r.Agent == veronica && (robot == "*" || robot == veronica)
	var list []readers.MatchRule
	for _, text := range writable(d.rule, weak) {
		for _, p := range r.Patterns(readers.Rule{Pattern: text}) {
			list = append(list, readers.MatchRule{Pattern: p})
		}
	}
	told := &view{reader: r, denies: exact.NewMatcher(list)}
	_, ok := told.covered(&d.Pattern)
	return ok
}

// inEscape reports whether a star of a pattern may end within an escape.
func inEscape(p *readers.Pattern) bool {
	return slices.ContainsFunc(p.Pieces[1:], func(piece string) bool {
		return piece != "" && strings.IndexByte(hexDigits, piece[0]) >= 0
	})
}

// breaks are the characters at which some reader ends a line.
const breaks = "\x00\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029"

// readAlone parses each line of the file alone. Each reader must find one line in it, with
// the same field and value.
func (c *checker) readAlone() {
	for l := range linesOf(c.File) {
		text := strings.TrimRight(l.Text, "\r\n")
		isPlain := !strings.ContainsAny(l.Value, " \t")
		if isPlain && !strings.ContainsFunc(text, func(c rune) bool {
			return c < ' ' && c != '\t' || c >= 0x7f
		}) {
			continue // all readers take it alike
		}
		isRule := l.Kind == readers.KindAllow || l.Kind == readers.KindDisallow
		for i, r := range c.Readers {
			// Without groups every rule of the text binds.
			r.Groups = false
			r.Loose = true
			r.Agent = ""
			var want []readers.Rule
			if isRule && (r.Allow || l.Kind == readers.KindDisallow) {
				want = []readers.Rule{{
					Allow:   l.Kind == readers.KindAllow,
					Pattern: l.Value,
					Line:    1,
				}}
			}
			got := r.Rules(readers.Open([]byte(text)), "zz")
			for i := range got {
				pattern := got[i].Pattern
				before, behind, _ := strings.Cut(l.Value, pattern)
				isBegin := r.Words && !strings.HasSuffix(pattern, "$")
				if l.Kind == readers.KindDisallow && strings.TrimFunc(before, isBlank) == "" &&
					(isBegin || strings.TrimFunc(behind, isBlank) == "") {
					got[i].Pattern = l.Value // it denies more
				}
			}
			if !strings.ContainsAny(text, breaks) && slices.Equal(got, want) {
				continue
			}

			// Find the annotation that the line comes from by its directory or its robots.
			f := Finding{
				Leak:     true,
				Written:  l.Number,
				Pattern:  readers.URI.Of(l.Value),
				Examples: []string{l.Value},
			}
			for _, a := range c.list {
				below := strings.HasPrefix(l.Value, a.dir) ||
					strings.HasPrefix(selector.Decoded(l.Value), a.dir)
				names := len(c.own(a, strings.ToLower(readers.ProductToken(l.Value)))) > 0
				if f.Dir == "" || below || names {
					f.File, f.Dir = a.file, a.dir
				}
			}
			if r.Words && !isRule {
				f.Code = Name
			}
			c.record(f, i, "*")
		}
	}
}
