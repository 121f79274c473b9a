package policy

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/selector"
)

// CheckProgram returns an error unless p may stand in [Input.Programs]: a selector
// that begins with a slash ("/cgi-bin", "/now/"), "/*" and the end of names ("/*.dcgi"),
// or "/~*/" and a name ("/~*/cgi-bin"). It has no other *, no ?, at most 4096 bytes, and
// no empty, hidden or malformed element (see [selector.Refusal]).
func CheckProgram(p string) error {
	name, ok := strings.CutPrefix(p, "/")
	if end, isEnd := strings.CutPrefix(name, "*"); isEnd {
		name, ok = "x"+end, ok && end != "" && !strings.Contains(end, "/")
	} else if below, isUsers := strings.CutPrefix(name, "~*/"); isUsers {
		name = below
	} else if name = strings.TrimSuffix(name, "/"); p == "/" {
		return nil
	}
	for elem := range strings.SplitSeq(name, "/") {
		reason := selector.Refusal(elem)
		ok = ok && (reason == "" || reason == selector.Program || reason == selector.TooLong)
	}
	if !ok || strings.ContainsAny(name, "*?") || len(p) > selector.MaxRequest {
		return fmt.Errorf(`%.80q is neither a selector ("/cgi-bin", "/~*/cgi-bin") nor "/*" and the end of names ("/*.dcgi")`, p)
	}
	return nil
}

// program is a prefix or an extension that programs answer, and the lines that deny it.
type program struct {
	uri   string // "/cgi-bin", "/now/", "/*.dcgi" or "/~*/cgi-bin"
	lines []*rule
}

// programsOf returns the lines that deny each program: its selector, everything below
// it, and everything after a question mark; of a menu its selector alone. Reports name the
// flag of each.
func programsOf(selectors []string, flags map[string]string, root *note) (list []program) {
	for _, p := range selectors {
		value := "a program answers it; denied, because no Allow names the program"
		flag := cmp.Or(flags[p], "-fastcgi "+p)
		uri := formOf(strings.Split(p, "*"), false, true).uri
		next := program{uri: uri}
		ends := []string{"$", "/", "?"}
		if strings.HasSuffix(p, "/") {
			ends = ends[:1]
		}
		for _, end := range ends {
			pieces := strings.Split(strings.TrimSuffix(p+end, "$"), "*")
			next.lines = append(next.lines, &rule{form: formOf(pieces, end == "$", true), value: value, file: flag, program: true, of: root})
		}
		list = append(list, next)
	}
	return list
}

// names reports whether an Allow names a program: its path is the program's own, or ends
// in its extension.
func (p program) names(a *rule) bool {
	path := a.uri
	ends := []string{"/", "%3F", "*", "$"}
	isMenu := strings.HasSuffix(p.uri, "/")
	if isMenu {
		ends = ends[2:]
	}
	for _, end := range ends {
		if cut, ok := strings.CutSuffix(path, end); ok {
			path = cut
			break
		}
	}
	if isMenu {
		return path == p.uri
	}
	if ext, isExt := strings.CutPrefix(p.uri, "/*"); isExt {
		return strings.HasSuffix(path, ext)
	}
	return covers(p.uri+"$", path+"$")
}

// reports returns what an Allow that names a program does not open.
func (p program) reports(a *rule) (list []Report) {
	if !p.names(a) {
		return nil
	}
	for i, d := range p.lines {
		if len(a.uri) >= len(d.uri) || !meets(a.uri, d.uri) {
			continue
		}
		path := strings.TrimRight(strings.TrimSuffix(a.value, "$"), "*/?")
		message := fmt.Sprintf("it opens nothing of %s, whose line is longer: write %s*, and %[2]s? for its queries", d.file, path)
		switch {
		case strings.HasSuffix(p.uri, "/"):
			message = fmt.Sprintf("it does not open the menu that %s makes: write %s$", d.file, a.value)
		case i == len(p.lines)-1:
			message = fmt.Sprintf("it does not open the queries of %s: write %s?, too", d.file, path)
		}
		r := NewReport(CodeProgram, a.file, a.line, message)
		r.Severity, r.Hint = diag.Notice, "what a program answers is denied unless an Allow that is as long as its line names it"
		return append(list, r)
	}
	return nil
}
