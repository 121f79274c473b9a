package readers

import (
	"fmt"
	"slices"
	"strings"
)

// Dialect is one way of reading robots lines. The zero value is [Gopher].
type Dialect uint8

// The dialects. Where each text was silent, doc.go says what was chosen.
const (
	// Gopher is "Robots and Gopher" (2019), with groups honoured where
	// User-agent lines exist; rules before the first bind everyone.
	Gopher Dialect = iota
	// GopherStrict is the same text to the letter: every Disallow line binds
	// everyone (G4), every other keyword is ignored (G10).
	GopherStrict
	// Veronica2 is Gopher as that search engine reads it: a pattern that ends
	// in a slash also covers the selector without it.
	Veronica2
	// RFC9309 is the Robots Exclusion Protocol.
	RFC9309
	// Standard1994 is "A Standard for Robot Exclusion".
	Standard1994
	// Extended is "An Extended Standard for Robot Exclusion", version 2.0.
	Extended
	// IRCv3 is the CRAWLER token of IRC networks.
	IRCv3
)

var dialectNames = [...]string{
	Gopher:       "gopher",
	GopherStrict: "gopher-strict",
	Veronica2:    "veronica2",
	RFC9309:      "rfc9309",
	Standard1994: "1994",
	Extended:     "extended",
	IRCv3:        "ircv3",
}

// Dialects lists all dialects.
func Dialects() []Dialect {
	return []Dialect{Gopher, GopherStrict, Veronica2, RFC9309, Standard1994, Extended, IRCv3}
}

// ParseDialect is the inverse of [Dialect.String].
func ParseDialect(name string) (Dialect, error) {
	if i := slices.Index(dialectNames[:], name); i >= 0 {
		return Dialect(i), nil
	}
	return Gopher, fmt.Errorf("unknown dialect %q", name)
}

// String returns the name that [ParseDialect] takes: gopher, gopher-strict,
// veronica2, rfc9309, 1994, extended or ircv3.
func (d Dialect) String() string {
	if int(d) < len(dialectNames) {
		return dialectNames[d]
	}
	return fmt.Sprintf("dialect(%d)", uint8(d))
}

// Web reports whether selectors are URI paths, perhaps written as a whole URL.
func (d Dialect) Web() bool { return d == RFC9309 || d == Standard1994 || d == Extended }

// BareCR reports whether a CR alone ends a line. The Gopher text knows only LF
// and CRLF (G3), and IRC sends CRLF.
func (d Dialect) BareCR() bool { return d.Web() }

// Syntax describes the patterns of a dialect.
type Syntax struct {
	Allow   bool // Allow lines are rules, too
	Glob    bool // * stands for any run of bytes
	Anchor  bool // $ at the end of a pattern ends the selector
	Whole   bool // a pattern covers the whole selector, not its beginning (C5)
	Escapes bool // patterns and selectors are compared in the normal form of R6
	Bare    bool // /path/ also covers /path (Veronica-2)
}

// Syntax returns the syntax of patterns. v is the version of the group; it matters
// for [Extended] only.
func (d Dialect) Syntax(v Version) Syntax {
	switch d {
	case RFC9309:
		return Syntax{Allow: true, Glob: true, Anchor: true, Escapes: true}
	case Standard1994:
		return Syntax{}
	case Extended:
		return Syntax{Allow: true, Glob: v == Version2, Whole: v == Version2}
	default:
		return Syntax{Glob: true, Bare: d == Veronica2}
	}
}

// Version is the meaning that Robot-version gives to a group of [Extended] (C3).
type Version uint8

// The versions.
const (
	Version1     Version = iota // 1.0, or not said, or not understood
	Version2                    // 2.0, or a later stable one
	Experimental                // an odd minor number: the group is ignored
)

// ParseVersion reads the value of a Robot-version line, M.N or M.N.R, and ignores
// R. If the value is neither, or M is not 1 or 2, it returns [Version1] and
// false.
func ParseVersion(value string) (v Version, ok bool) {
	word, _, _ := strings.Cut(value, " ")
	major, rest, _ := strings.Cut(word, ".")
	minor, _, _ := strings.Cut(rest, ".")
	switch {
	case major != "1" && major != "2" || !digits(minor):
		return Version1, false
	case (minor[len(minor)-1]-'0')%2 == 1:
		return Experimental, true
	case major == "2":
		return Version2, true
	}
	return Version1, true
}
