package menu

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/selector"
)

// ProgramHead is how many bytes of a file [IsProgram] looks at.
const ProgramHead = 16

// IsProgram reports whether a file that begins so is a program, which a server
// that runs maps would run: a script (#!) or an ELF file. A script is one behind a
// byte order mark and in UTF-16, too: no kernel runs it, but it is no less a source.
func IsProgram[T string | []byte](head T) bool {
	s := string(head[:min(len(head), ProgramHead)])
	if strings.HasPrefix(s, "\x7fELF") {
		return true
	}
	s = strings.ReplaceAll(s, "\x00", "")
	for _, mark := range []string{byteOrderMark, "\xff\xfe", "\xfe\xff"} {
		s = strings.TrimPrefix(s, mark)
	}
	return strings.HasPrefix(s, "#!")
}

// isProgramName reports whether a name is that of a program, or is below a
// directory of programs.
func isProgramName(name string) bool {
	for elem := range strings.SplitSeq(name, "/") {
		if selector.IsProgram(elem) {
			return true
		}
	}
	return false
}

// interpreter is what runs a file that need not begin like a program.
var interpreter = regexp.MustCompile(`^(ba|da|k|z|a|fi|c|tc)?sh$|^(python|perl|php|ruby|node|lua|tclsh|[gm]?awk|sed|guile|runghc|runhaskell)[0-9.]*$`)

// maxWords is how many words of a command are looked at as names of files.
const maxWords = 16

// Includes reads the map of a directory, or a file that is a menu, without what it
// links: it returns the names of the files that it includes, whether they are there
// or not, those that its commands give to an interpreter, and what is to be said of
// programs among them. If such a file is a program (the latter are), it is the
// author's, like that of a directory of programs: its source must not be shown.
func (b *Builder) Includes(name string) (files, interpreted []string, found []diag.Diagnostic) {
	m := b.begin(context.Background(), name)
	m.looks, m.mapsOnly = 0, true
	if IsMenuFile(path.Base(name)) {
		m.dir = path.Dir(name)
		_ = m.file(name)
	} else {
		m.mapped()
		_, _ = m.source(selector.Join(name, tagName))
	}
	slices.Sort(m.included)
	found = slices.DeleteFunc(m.menu.Problems, func(d diag.Diagnostic) bool { return d.Code != CodeProgram })
	return slices.Compact(m.included), m.interpreted, found
}

// includeLine goes on with another map, and reports whether the line is one that
// says so: a heading in equals signs is not.
func (m *making) includeLine(sel string) bool {
	if sel == "" || sel[0] == '=' || sel[0] == ' ' || sel[0] == '\t' {
		return false
	}
	m.include(strings.TrimSpace(sel))
	return true
}

// include goes on with another map, whose name is relative to the directory of the
// menu or, with a slash, to the root. Other servers run it if it is a command.
func (m *making) include(sel string) {
	m.includes++
	switch {
	case len(m.maps) > maxDepth:
		m.problem(CodeLimit, "includes are nested more than %d deep", maxDepth)
		return
	case m.includes > maxIncludes:
		m.problem(CodeLimit, "more than %d includes", maxIncludes)
		return
	}
	name := fold(m.dir, sel)
	text, err := m.includeFile(name)
	if err == nil {
		m.maps = append(m.maps, m.newSource(name, text))
		return
	}
	_, arguments, _ := strings.Cut(sel, " ")
	missing := errors.Is(err, fs.ErrNotExist) || arguments != "" && errors.Is(err, errHidden)
	if line, ok := m.printed(sel); ok && missing {
		m.text(line)
		return
	}
	if arguments != "" {
		words := slices.DeleteFunc(strings.Fields(sel), func(word string) bool { return word[0] == '-' })
		for _, word := range words[:min(len(words), maxWords)] {
			_, _ = m.includeFile(fold(m.dir, word)) // if it is a program, its source is not shown
		}
		if len(words) > 1 && interpreter.MatchString(path.Base(words[0])) {
			m.interpreted = append(m.interpreted, fold(m.dir, words[1]))
		}
	}
	switch {
	case errors.Is(err, errProgram):
		m.problem(CodeProgram, "a command, which is not run: %q", sel)
	case missing:
		m.problem(CodeProgram, "no file to include, and a command is not run: %q", sel)
	default:
		m.problem(CodeInclude, "including %q: %s", sel, cause(err))
	}
}

var (
	errHidden         = errors.New("a hidden file")
	errIncludesItself = errors.New("a map that includes itself")
)

// includeFile reads a file that is to be included.
func (m *making) includeFile(name string) (string, error) {
	switch {
	case hiddenName(name) || selector.HasControl(name):
		return "", errHidden
	case slices.ContainsFunc(m.maps, func(s mapSource) bool { return s.file == name }):
		return "", errIncludesItself
	case isProgramName(name):
		return "", errProgram
	}
	m.included = append(m.included, name)
	text, err := m.read(name)
	if err == nil && (IsProgram(text) || Sniff([]byte(text[:min(len(text), sniffLen)])) == TypeBinary) {
		err = errProgram
	}
	return text, err
}
