// Package programs lets programs answer: requests for certain selectors go to
// FastCGI applications on Unix sockets. gophd starts none of them.
//
//	selector → which socket → the script in the tree → parameters → reply
//	   reply: CGI header off → menu of a .dcgi, or as it comes
//	a map's program (answer.Runner) → which socket → parameters → text of the map
package programs

import (
	"cmp"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/internal/fastcgi"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// A Mapping maps selectors, or the programs that make menus, to a socket.
type Mapping struct {
	Prefix string           // "/cgi-bin": it, and what follows it and a slash or a question mark
	Suffix string           // instead: ".dcgi": files whose names end so, and index.dcgi as a menu
	Menus  bool             // instead: the programs of maps
	Client *fastcgi.Program // a * in its Socket stands for the user's name
}

// menus, in place of a prefix, maps the programs that make menus.
const menus = "menus"

// ParseRule parses the value of -fastcgi: /PREFIX=SOCKET, *.EXT=SOCKET or menus=SOCKET, where
// SOCKET is an absolute path; or /~*/NAME=SOCKET or menus=SOCKET with one * in the last
// element of SOCKET, which is replaced by the user's name.
func ParseRule(s string) (Mapping, error) {
	what, socket, _ := strings.Cut(s, "=")
	r := Mapping{Client: &fastcgi.Program{Socket: strings.TrimPrefix(socket, "unix:")}}
	if !filepath.IsAbs(r.Client.Socket) {
		return r, errors.New("the socket is not an absolute path")
	}
	if ext, ok := strings.CutPrefix(what, "*."); ok && ext != "" {
		r.Suffix = "." + ext
	} else if what == menus {
		r.Menus = true
	} else {
		r.Prefix = strings.TrimSuffix(what, "/")
	}
	if strings.HasPrefix(r.Prefix, "/*") ||
		!r.Menus && (r.Prefix+r.Suffix == "" || policy.CheckProgram(r.Selector()) != nil) {
		return r, errors.New("neither /PREFIX nor *.EXT nor menus")
	}
	dir, base := filepath.Split(r.Client.Socket)
	if stars := strings.Count(base, "*"); strings.Contains(dir, "*") || stars > 1 ||
		stars == 1 && !r.Menus && !r.ofUsers() {
		return r, errors.New("a * in the last element of the socket is a user's name, with /~*/PREFIX or menus")
	}
	return r, nil
}

// ofUsers reports whether the rule is for a directory of each user.
func (r Mapping) ofUsers() bool { return strings.HasPrefix(r.Prefix, "/~*/") }

// Fixed reports whether the rule has one socket.
func (r Mapping) Fixed() bool { return !strings.Contains(r.Client.Socket, "*") }

// Selector is how a rule is written in robots.txt: /cgi-bin, /*.dcgi, /~*/cgi-bin; "" for
// the programs of maps.
func (r Mapping) Selector() string {
	if r.Suffix != "" {
		return "/*" + r.Suffix
	}
	return r.Prefix
}

// userOf returns the user in whose tree a file is; "" if it is in none.
func userOf(name string) string {
	top, _, below := strings.Cut(name, "/")
	user, ok := strings.CutPrefix(top, "~")
	if !ok || !below || user == "." || user == ".." || !plain(user) {
		return ""
	}
	return user
}

// plain reports whether an element may be part of a request to a program.
func plain(elem string) bool {
	reason := selector.Refusal(elem)
	return reason == "" || reason == selector.Program
}

// Programs is the answer.Source that runs programs by its rules, for all hosts of a process.
type Programs struct {
	Rules []Mapping

	// Software is sent to programs as the server's name.
	Software string

	// Log gets the standard error of programs, and which have failed. If nil, both are
	// dropped.
	Log *slog.Logger
}

// Answer runs a program and returns its reply. It declines a directory.
func (h *Programs) Answer(q *answer.Asked) (*answer.Value, error) {
	rule, name, ours := h.match(q.Request.Selector)
	if !ours {
		return nil, server.ErrDeclined
	}
	if rule.ofUsers() { // the user must exist
		user := userOf(name)
		if _, isDir, err := look(q.View, "~"+user); user == "" || !isDir {
			return nil, cmp.Or(err, error(errNoScript))
		}
		rule.Prefix = "/~" + user + strings.TrimPrefix(rule.Prefix, "/~*")
	}
	s, err := find(q.View, rule, name)
	if err != nil {
		return nil, err
	}
	return h.run(q, rule, s)
}

// match returns the rule for a selector, that with the longest prefix, and the name that the
// selector requests, without the query.
func (h *Programs) match(sel string) (rule Mapping, name string, ok bool) {
	sel, _, _ = strings.Cut(strings.TrimPrefix(sel, "/"), "?")
	for _, r := range h.Rules {
		prefix := strings.TrimPrefix(r.Prefix, "/")
		if below, users := strings.CutPrefix(prefix, "~*"); users && strings.HasPrefix(sel, "~") {
			user, _, _ := strings.Cut(sel, "/")
			prefix = user + below
		}
		switch {
		case r.Menus:
		case r.Suffix != "":
			if !ok && hasScript(sel, r.Suffix) {
				rule, ok = r, true
			}
		case (sel == prefix || strings.HasPrefix(sel, prefix+"/")) &&
			(!ok || len(r.Prefix) > len(rule.Prefix)):
			rule, ok = r, true
		}
	}
	return rule, sel, ok
}

// Runs reports whether a program of the tree is run for a menu.
func (h *Programs) Runs(name string) bool { return h.maker(name) != nil }

// maker returns the program that runs a file for a menu, nil if none does: of its prefix,
// its extension, the user whose file it is, or of all menus.
func (h *Programs) maker(name string) *fastcgi.Program {
	if rule, _, ok := h.match(name); ok {
		return rule.client(name)
	}
	var all *fastcgi.Program
	for _, r := range h.Rules {
		if p := r.client(name); r.Menus && p != nil && (all == nil || !r.Fixed()) {
			all = p
		}
	}
	return all
}

// Run returns what a program of a map prints.
func (h *Programs) Run(q *answer.Asked, name, called string) (string, error) {
	client := h.maker(name)
	if client == nil {
		return "", errNoScript
	}
	out, _, err := h.begin(q, client, script{
		name:   name,
		called: called,
		isMap:  true,
	})
	if err != nil {
		return "", err
	}
	return q.ReadMap(out)
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
	called string // the part of the selector that names the file, without slashes around it
	info   string // the rest of the selector: "" or with a slash in front
	isMap  bool   // its output is a map
}

var errNoScript = &server.Error{Kind: server.NotFound, Err: errors.New("no such program")}

// find returns the first file on the path of a name; the rest is PATH_INFO. Below a prefix no
// file is required: the application behind the socket resolves the name.
func find(v *site.View, rule Mapping, name string) (script, error) {
	name, slash := strings.CutSuffix(name, "/")
	last := "" // of PATH_INFO
	if slash {
		last = "/"
	}
	elems := strings.Split(name, "/")
	for _, elem := range elems {
		if !plain(elem) {
			return script{}, errNoScript
		}
	}
	called := strings.TrimPrefix(rule.Prefix, "/")
	for n := strings.Count(called, "/") + 1; n <= len(elems); n++ {
		at := strings.Join(elems[:n], "/")
		s := script{
			name:   at,
			called: at,
			info:   strings.TrimPrefix(name, at) + last,
		}
		switch isFile, isDir, err := look(v, at); {
		case err != nil:
			return s, err
		case isFile && !strings.HasSuffix(at, rule.Suffix):
			return s, errNoScript
		case isFile:
			return s, nil
		case isDir && n == len(elems): // the site makes its menu
			return s, server.ErrDeclined
		}
	}
	if rule.Suffix != "" {
		return script{}, errNoScript
	}
	return script{called: called, info: strings.TrimPrefix(name, called) + last}, nil
}

// look reports whether a name is a regular file or a directory. A file that this process may not
// read is a program, too: only the program's user needs to read it.
func look(v *site.View, name string) (isFile, isDir bool, err error) {
	f, err := v.Open(name)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return true, false, nil
	case v.Err() != nil:
		return false, false, &server.Error{Kind: server.Busy, Err: v.Err()}
	case err != nil:
		return false, false, nil
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return false, false, err
	}
	return info.Mode().IsRegular(), info.IsDir(), nil
}
