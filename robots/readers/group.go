package readers

import (
	"iter"
	"slices"
	"strings"
	"unicode"
)

// lineGroup is a group of a file as a reader sees it.
type lineGroup struct {
	names []string // as the reader compares them; none: rules before the first User-agent line
	rules []Rule
}

// hasAll reports whether the group is for everybody.
func (g *lineGroup) hasAll() bool { return slices.Contains(g.names, "*") }

// grouping holds the settings that determine groups; readers with equal ones share
// them.
type grouping struct {
	dialect Dialect
	groups  bool
	names   Names
	blank   bool
	ends    Fields
	python  bool
}

func (r Reader) grouping() grouping {
	return grouping{r.Dialect, r.Groups, r.Names, r.Blank, r.Ends, r.Python}
}

// read returns the groups of a file. If blank and python are set, a group without any
// field after its User-agent lines does not count.
func (by grouping) read(text string) (list []lineGroup) {
	now := -1       // the group that lines belong to
	named := false  // the next User-agent line joins it
	ruled := true   // it counts
	end := func() { // the group that lines belong to
		if now >= 0 && !ruled {
			list = list[:now]
		}
		now, named = -1, false
	}
	for l := range by.lines(text) {
		switch l.Kind {
		case KindBlank:
			if by.blank && (!by.python || strings.Trim(l.Text, "\r\n") == "") {
				end()
			}
		case KindAgent:
			if !by.groups {
				continue
			}
			if !named {
				end()
				list, now, named, ruled = append(list, lineGroup{names: []string{}}), len(list), true, !by.blank || !by.python
			}
			if name := by.name(l.Value); name != "" || by.names == Part && by.python {
				list[now].names = append(list[now].names, name)
			}
		case KindAllow, KindDisallow:
			if now < 0 {
				list, now, ruled = append(list, lineGroup{}), len(list), true
			}
			list[now].rules = append(list[now].rules, Rule{Allow: l.Kind == KindAllow, Pattern: l.Value, Line: l.Number})
			named, ruled = false, true
		case KindUsage:
			named = named && by.ends != AnyField && by.ends != UsageField
		case KindField:
			field := strings.ToLower(l.Field)
			if by.ends == AnyField || by.ends == RateFields && (field == "crawl-delay" || field == "request-rate") {
				named, ruled = false, true
			}
		}
	}
	end()
	return list
}

// name returns the name of a User-agent line as it is compared: in lower case, except
// for [ValueOrPart].
func (by grouping) name(value string) string {
	switch {
	case by.names == ValueOrPart:
		return value // in one case or the other
	case by.names == Token:
		value = ProductToken(value)
	case by.names == Part && by.python:
		value = unquote(value)
	case by.names == Part:
		value, _, _ = strings.Cut(value, "/")
		value = strings.TrimSpace(value)
	}
	return strings.ToLower(value)
}

// lines returns the lines of a text. Python knows more line ends and blanks. Like
// readers that compare names by [Value], it forgives no misspelt field.
func (by grouping) lines(text string) iter.Seq[Line] {
	s := NewScanner(by.dialect, by.python || by.names == Value, text, 0, 0)
	if !by.python {
		return s.Lines()
	}
	return func(yield func(Line) bool) {
		for l := range s.Lines() {
			for _, part := range by.split(l) {
				if !yield(part) {
					return
				}
			}
		}
	}
}

// split returns a line as Python takes it: as several, if it has other line ends.
func (by grouping) split(l Line) (parts []Line) {
	l.Value = strings.TrimFunc(l.Value, isPythonSpace)
	if !strings.ContainsAny(l.Text, pythonLineEnds) {
		return []Line{l}
	}
	for text := range strings.FieldsFuncSeq(l.Text, func(c rune) bool { return strings.ContainsRune(pythonLineEnds, c) }) {
		for part := range NewScanner(by.dialect, true, text, 0, 0).Lines() {
			part.Number, part.Text = l.Number, text
			part.Value = strings.TrimFunc(part.Value, isPythonSpace)
			parts = append(parts, part)
		}
	}
	return parts
}

const pythonLineEnds = "\v\f\x1c\x1d\x1e\u0085\u2028\u2029"

func isPythonSpace(c rune) bool { return unicode.IsSpace(c) || 0x1c <= c && c <= 0x1f }

// choose returns the rules that bind a robot, in the order of the file.
func (r Reader) choose(groups []lineGroup, robot string) (rules []Rule) {
	robot = strings.ToLower(robot)
	if r.Names == ValueOrPart && r.Groups {
		return chooseByKey(groups, robot)
	}
	word, _, _ := strings.Cut(robot, "/")
	token := strings.ToLower(ProductToken(robot))
	fits := func(name string) bool {
		switch r.Names {
		case Part:
			return name != "*" && strings.Contains(word, name)
		case Value:
			return name == robot
		}
		return name == token
	}
	var own, others, loose []int
	for i := range groups {
		switch g := &groups[i]; {
		case g.names == nil:
			loose = append(loose, i)
		case slices.ContainsFunc(g.names, fits) && !(r.Python && g.hasAll()) && token != "*":
			own = append(own, i)
		case g.hasAll():
			others = append(others, i)
		}
	}
	if r.First && len(own) > 0 {
		own = own[:1]
	}
	if r.First && r.Python && len(others) > 0 {
		others = others[:1]
	}
	if len(own) == 0 || r.Everybody {
		own = append(own, others...)
	}
	if r.Loose || !r.Groups {
		own = append(own, loose...)
	}
	slices.Sort(own)
	for _, i := range own {
		rules = append(rules, groups[i].rules...)
	}
	return rules
}

// chooseByKey follows CPython's reader since 3.15. It merges groups that share a
// name; the merged group is for the names that all of them have.
func chooseByKey(groups []lineGroup, robot string) []Rule {
	var order []string
	byName := map[string]*lineGroup{}
	for i := range groups {
		for _, name := range groups[i].names {
			key := strings.ToLower(name)
			g := byName[key]
			if g == nil {
				order, g = append(order, key), &lineGroup{names: groups[i].names}
				byName[key] = g
			}
			shared := func(name string) bool { return !slices.Contains(groups[i].names, name) }
			g.names = slices.DeleteFunc(slices.Clone(g.names), shared)
			g.rules = append(g.rules, groups[i].rules...)
		}
	}
	if g := byName[robot]; g != nil {
		return g.rules
	}
	robot, _, _ = strings.Cut(robot, "/")
	for _, key := range order {
		for _, name := range byName[key].names {
			if name != "*" && strings.Contains(robot, strings.ToLower(name)) {
				return byName[key].rules
			}
		}
	}
	if g := byName["*"]; g != nil {
		return g.rules
	}
	return nil
}
