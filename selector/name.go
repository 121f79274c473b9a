package selector

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// This file defines which file names can be requested. All code that lists a tree, opens
// a name in it, or writes about it in a robots.txt uses it, so that the same names are
// left out everywhere.

// Cause is why a request or a selector was refused.
type Cause string

// The reasons. They are words for people; none repeats what was sent.
const (
	Control   Cause = "a control character"
	TooLong   Cause = "too long"
	Empty     Cause = "an empty element"
	Dots      Cause = "an element of dots"
	Hidden    Cause = "a hidden element"
	Source    Cause = "the source of a menu"
	Program   Cause = "a program"
	Malformed Cause = "no UTF-8"
	Scheme    Cause = "a scheme that is neither gopher nor gophers"
	Host      Cause = "no valid host"
	Port      Cause = "no port from 1 to 65535"
	Escape    Cause = "a malformed percent escape"
	Type      Cause = "no valid item type"
)

// RefusedError is a request, a selector or a URL that was refused. Its message does not
// repeat what was sent, so it can be logged or sent to a client.
type RefusedError struct {
	Reason Cause // why
}

// Error names the reason.
func (e *RefusedError) Error() string { return "refused: " + string(e.Reason) }

// Path returns the file name of a selector, in the form of [io/fs.ValidPath]: "/a/b" and
// "a/b" are "a/b"; "" and "/" are ".". dir reports whether the selector ends with a slash,
// which only a directory's may.
//
// It returns a [*RefusedError] for a selector longer than [MaxRequest], with an empty
// element ("//"), or with one that is not [Askable]: "." and "..", hidden ones
// ("....//" too), control characters, programs, and the sources of menus. Only the last
// element, a file's, may be invalid UTF-8. Nothing is decoded: "%2e%2e" is a name like
// another.
func Path(sel string) (name string, dir bool, err error) {
	if len(sel) > MaxRequest {
		return "", false, &RefusedError{TooLong}
	}
	name = strings.TrimPrefix(sel, "/")
	if name == "" {
		return ".", true, nil
	}
	name, dir = strings.CutSuffix(name, "/")
	reason := refuseName(name)
	if reason == "" && dir && !utf8.ValidString(name) {
		reason = Malformed
	}
	if reason != "" {
		return "", false, &RefusedError{reason}
	}
	return name, dir, nil
}

// maxElement is the longest element of a file name, in bytes, as file systems
// have it.
const maxElement = 255

// Askable reports whether a client can request file names that contain elem as an
// element, and may find it in a listing. A file whose name is invalid UTF-8 is in no
// listing, since clients disagree about its bytes, but [Path] accepts a request for it.
// A client cannot request:
//
//   - names that begin with a dot, or have a dot after a backslash, which divides
//     elements on some systems;
//   - control characters (of ASCII and U+0080 to U+009F), invalid UTF-8, and more
//     than 255 bytes;
//   - programs, whose source is their author's: *.cgi, *.dcgi, cgi-bin, and the
//     copies of them that an editor leaves, with a ~ at the end;
//   - the sources of menus, whose comments are their author's: gophermap and
//     gophertag, and such copies. It can request an index.gph, and gets a menu.
func Askable(elem string) bool { return Refusal(elem) == "" }

// AskableName reports whether each element of a file name in the form of
// [io/fs.ValidPath] is [Askable], except that the last one may be invalid UTF-8. The
// root, ".", is.
func AskableName(name string) bool {
	return name == "." || refuseName(name) == ""
}

// IsProgram reports whether an element of a file name names a program, or a directory
// of programs. It ignores an argument after a question mark, as in the selectors of
// geomyidae, and the ~ of a copy that an editor leaves (x.cgi~), which has the same
// source.
func IsProgram(elem string) bool {
	elem, _, _ = strings.Cut(elem, "?")
	elem = strings.ToLower(strings.TrimRight(elem, "~"))
	return strings.HasSuffix(elem, ".cgi") || strings.HasSuffix(elem, ".dcgi") || elem == "cgi-bin"
}

// Join returns the file name of an element in a directory; "." is the root.
func Join(dir, elem string) string {
	if dir == "." {
		return elem
	}
	return dir + "/" + elem
}

func refuseName(name string) Cause {
	for {
		elem, rest, more := strings.Cut(name, "/")
		reason := Refusal(elem)
		if reason == Malformed && !more {
			reason = refuseBytes(elem)
		}
		if reason != "" || !more {
			return reason
		}
		name = rest
	}
}

// Refusal returns why elem is not [Askable]; it is empty if it is.
func Refusal(elem string) Cause {
	switch {
	case elem == "":
		return Empty
	case HasControl(elem):
		return Control
	case !utf8.ValidString(elem):
		return Malformed
	}
	return refuseBytes(elem)
}

// refuseBytes is Refusal for an element in any character set.
func refuseBytes(elem string) Cause {
	if elem[0] == '.' || strings.IndexByte(elem, '\\') >= 0 {
		if reason := refuseDots(elem); reason != "" {
			return reason
		}
	}
	switch {
	case strings.TrimRight(elem, "~") == "gophermap" || strings.TrimRight(elem, "~") == "gophertag":
		return Source
	case IsProgram(elem):
		return Program
	case len(elem) > maxElement:
		return TooLong
	}
	return ""
}

func refuseDots(elem string) Cause {
	for part := range strings.SplitSeq(elem, `\`) {
		switch {
		case part == "." || part == "..":
			return Dots
		case strings.HasPrefix(part, "."):
			return Hidden
		}
	}
	return ""
}

// Canonical returns the one selector that menus link for a file name in the form
// of [io/fs.ValidPath]: a slash before it, and one after it for a directory. The
// root is "/".
func Canonical(name string, dir bool) string {
	switch {
	case name == "." || name == "":
		return "/"
	case dir:
		return "/" + name + "/"
	}
	return "/" + name
}

// Spellings returns every selector that [Path] takes for a file name, the
// canonical one first: "/p" and "p"; "/d/", "/d", "d/" and "d"; for the root "/"
// and "". Percent-encoded forms are not among them.
func Spellings(name string, dir bool) []string {
	c := Canonical(name, dir)
	return slices.Compact([]string{c, strings.TrimSuffix(c, "/"), c[1:], strings.Trim(c, "/")})
}
