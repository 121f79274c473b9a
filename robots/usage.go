package robots

// Which Content-Usage lines hold for a path (draft-ietf-aipref-attach). The lines of
// a file are parsed once, at the first question about any of them; those that bind a
// robot stand in an index of the same kind as its rules.

import (
	"slices"
	"strings"

	"github.com/gophd/gophd/robots/readers"
)

// usageLine is a Content-Usage line that parses.
type usageLine struct {
	record uint32
	line   uint32
	path   string // in normal form; "": all paths
	stated preferences
}

// usageIndex finds the Content-Usage lines of a robot by path.
type usageIndex struct {
	matcher *readers.Matcher // Ref is a place in paths
	paths   []*usagePath
	general usagePath
}

// usagePath is what lines with the same path state together. It keeps the lines that add
// something to those before.
type usagePath struct {
	all   preferences
	lines []usageLine
}

func (p *usagePath) add(l usageLine) {
	if all := p.all.restrict(l.stated); all != p.all {
		p.all, p.lines = all, append(p.lines, l)
	}
}

// splitUsage takes a Content-Usage line apart: a path begins with "/" and ends at a blank.
func splitUsage(text string) (path, value string) {
	if !strings.HasPrefix(text, "/") {
		return "", text
	}
	end := strings.IndexAny(text, " \t")
	if end < 0 {
		return text, ""
	}
	return text[:end], strings.Trim(text[end:], " \t\n\v\f\r")
}

// usageLines parses the Content-Usage lines.
func (f *File) usageLines() []usageLine {
	var list []usageLine
	for i, r := range f.lines.Records {
		if r.Kind != readers.KindUsage {
			continue
		}
		path, value := splitUsage(r.Value)
		if f.reader.Escapes == readers.Letter {
			path = readers.NormalPattern(path)
		}
		if dict, err := parseDictionary(value); err == nil {
			list = append(list, usageLine{uint32(i), r.Line, path, preferencesIn(dict)})
		}
	}
	return slices.Clip(list)
}

// compileUsage makes the index of the robot's Content-Usage lines.
func (r *Rules) compileUsage() *usageIndex {
	f := r.file
	x := &usageIndex{}
	f.stated.Do(func() { f.usages = f.usageLines() })
	stated := f.usages
	at := func(record uint32) int {
		i, _ := slices.BinarySearchFunc(stated, record, func(l usageLine, record uint32) int { return int(l.record) - int(record) })
		return i
	}
	byPath := map[string]*usagePath{"": &x.general}
	var rules []readers.MatchRule
	for _, g := range r.groups {
		span := f.lines.Groups[g]
		for _, l := range stated[at(span.From):at(span.To)] {
			p := byPath[l.path]
			if p == nil {
				p = &usagePath{}
				byPath[l.path] = p
				for _, pattern := range f.reader.Patterns(Rule{Pattern: l.path}) {
					rules = append(rules, readers.MatchRule{Pattern: pattern, Ref: len(x.paths)})
				}
				x.paths = append(x.paths, p)
			}
			p.add(l)
		}
	}
	x.matcher = f.reader.NewMatcher(rules)
	return x
}

// Usage is as [File.Usage], for the robot of these rules.
func (r *Rules) Usage(path string) Statement {
	if r == nil || r.file == nil || !r.Allowed(path) {
		return nil
	}
	if r.file.reader.Web {
		path = readers.PathOf(path)
	}
	x := r.usage.Load()
	if x == nil {
		x = r.compileUsage()
		if r.file.reserve(len(x.paths)) {
			r.usage.Store(x)
		}
	}

	// The longest paths that match, or else what is stated of all paths.
	lines, size := x.general.lines, 0
	for _, m := range x.matcher.Matching(r.file.reader.Forms[0].Of(path)) {
		switch {
		case m.Size > size:
			lines, size = x.paths[m.Ref].lines, m.Size
		case m.Size == size:
			lines = slices.Concat(lines, x.paths[m.Ref].lines)
		}
	}
	var all Statement
	for _, l := range lines {
		all = all.Combine(l.stated.statement(int(l.line)))
	}
	return all
}
