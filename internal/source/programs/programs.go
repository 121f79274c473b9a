// Package programs lets programs answer: requests for certain selectors go to
// FastCGI applications on Unix sockets. gophd starts none of them.
//
//	selector → which socket → the script in the tree → parameters → reply
//	   reply: CGI header off → menu of a map or of a .dcgi, or as it comes
package programs

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/internal/fastcgi"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// A Mapping says which selectors a program answers.
type Mapping struct {
	Prefix string // "/cgi-bin": it, and what follows it and a slash or a question mark
	Suffix string // instead: ".dcgi": files whose names end so
	Client *fastcgi.Program
}

// ParseRule reads what a flag says: /PREFIX=SOCKET or *.EXT=SOCKET, where SOCKET is
// an absolute path.
func ParseRule(s string) (Mapping, error) {
	what, socket, _ := strings.Cut(s, "=")
	r := Mapping{Client: &fastcgi.Program{Socket: strings.TrimPrefix(socket, "unix:")}}
	if !filepath.IsAbs(r.Client.Socket) {
		return r, errors.New("the socket is not an absolute path")
	}
	if ext, ok := strings.CutPrefix(what, "*."); ok && ext != "" {
		r.Suffix = "." + ext
	} else {
		r.Prefix = strings.TrimSuffix(what, "/")
	}
	if strings.HasPrefix(r.Prefix, "/*") || policy.CheckProgram(r.Selector()) != nil {
		return r, errors.New("neither /PREFIX nor *.EXT")
	}
	return r, nil
}

// Selector is how a rule is written in robots.txt: /cgi-bin, /*.dcgi.
func (r Mapping) Selector() string {
	if r.Suffix != "" {
		return "/*" + r.Suffix
	}
	return r.Prefix
}

// plain reports whether an element may be part of a request to a program.
func plain(elem string) bool {
	reason := selector.Refusal(elem)
	return reason == "" || reason == selector.Program
}

// Programs is the answer.Source that runs programs by its rules.
type Programs struct {
	Rules []Mapping

	// Software is sent to programs as the server's name.
	Software string

	// Log gets the standard error of programs. If nil, it is dropped.
	Log *slog.Logger

	ahead atomic.Int64 // bytes that replies have read ahead of their clients

	mu     sync.Mutex
	askers map[asker]*askerPlaces
}

// Answer asks a program, or declines a directory that no program makes the menu of.
func (h *Programs) Answer(q *answer.Asked) (*answer.Value, error) {
	rule, name, ours := h.match(q.Request.Selector)
	if !ours {
		return nil, server.ErrDeclined
	}
	s, err := find(q.View, rule, name)
	switch {
	case err != nil:
		return nil, err
	case s.static:
		return nil, server.ErrDeclined
	}
	return h.run(q, rule, s)
}

// match returns the rule for a selector, that with the longest prefix, and the
// name that is asked for, without what follows a question mark.
func (h *Programs) match(sel string) (rule Mapping, name string, ok bool) {
	sel, _, _ = strings.Cut(strings.TrimPrefix(sel, "/"), "?")
	for _, r := range h.Rules {
		prefix := strings.TrimPrefix(r.Prefix, "/")
		switch {
		case r.Suffix != "":
			if !ok && hasScript(sel, r.Suffix) {
				rule, ok = r, true
			}
		case (sel == prefix || strings.HasPrefix(sel, prefix+"/")) && (!ok || len(r.Prefix) > len(rule.Prefix)):
			rule, ok = r, true
		}
	}
	return rule, sel, ok
}

// Answers reports whether a program is to answer a selector.
func (h *Programs) Answers(sel string) bool {
	_, _, ok := h.match(sel)
	return ok
}

// hasScript reports whether an element of a name ends so.
func hasScript(name, suffix string) bool {
	for elem := range strings.SplitSeq(name, "/") {
		if strings.HasSuffix(elem, suffix) && len(elem) > len(suffix) {
			return true
		}
	}
	return false
}

// script names the file of the tree to run.
type script struct {
	name   string // of the file, below the root; "" if there is none
	called string // the part of the selector that stands for it, without slashes around it
	info   string // the rest of the selector: "" or with a slash in front
	static bool   // it is a directory that no program makes the menu of
}

var errNoScript = &server.Error{Kind: server.NotFound, Err: errors.New("no such program")}

// find looks for the file that a request means: the first on its way. Below a
// prefix there need not be one: the application knows.
func find(v *site.View, rule Mapping, name string) (script, error) {
	name = strings.TrimSuffix(name, "/")
	elems := strings.Split(name, "/")
	for _, elem := range elems {
		if !plain(elem) {
			return script{}, errNoScript
		}
	}
	first := len(strings.Split(strings.TrimPrefix(rule.Prefix, "/"), "/"))
	if rule.Suffix != "" {
		first = 1
	}
	for n := first; n <= len(elems); n++ {
		at := strings.Join(elems[:n], "/")
		s := script{name: at, called: at, info: strings.TrimPrefix(name, at)}
		switch kind, err := look(v, at); {
		case err != nil:
			return s, err
		case kind == aFile && (rule.Suffix == "" || strings.HasSuffix(at, rule.Suffix)):
			return s, nil
		case kind == aFile:
			return s, errNoScript
		case kind == aDirectory && n == len(elems):
			return directory(v, rule, s)
		}
	}
	if rule.Suffix != "" {
		return script{}, errNoScript
	}
	called := strings.TrimPrefix(rule.Prefix, "/")
	return script{called: called, info: strings.TrimPrefix(name, called)}, nil
}

// directory finds the program that makes the menu of a directory.
func directory(v *site.View, rule Mapping, s script) (script, error) {
	for _, base := range []string{"gophermap", "index.dcgi"} {
		at := selector.Join(s.name, base)
		kind, err := look(v, at)
		if err != nil {
			return s, err
		}
		if kind == aFile && rule.Suffix == "" && (base != "gophermap" || begins(v, at, "#!")) {
			s.name = at
			return s, nil
		}
	}
	s.static = true
	return s, nil
}

// begins reports whether a file begins so. One that we may not read is a program:
// other readers must not get it, either.
func begins(v *site.View, name, with string) bool {
	f, err := v.Open(name)
	if err != nil {
		return errors.Is(err, fs.ErrPermission)
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, len(with))
	n, _ := f.Read(head)
	return string(head[:n]) == with
}

// kind distinguishes names.
type kind int

const (
	nothing kind = iota
	aFile
	aDirectory
)

// look returns the kind of a name. A file that this process may not read is a
// program, too: only the program's user needs to read it.
func look(v *site.View, name string) (kind, error) {
	f, err := v.Open(name)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return aFile, nil
	case v.Err() != nil:
		return nothing, &server.Error{Kind: server.Busy, Err: v.Err()}
	case err != nil:
		return nothing, nil
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nothing, fmt.Errorf("looking at %s: %w", path.Base(name), err)
	case info.IsDir():
		return aDirectory, nil
	case info.Mode().IsRegular():
		return aFile, nil
	}
	return nothing, nil
}
