package robots

import (
	"fmt"
	"slices"
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

// String gives the name that [ParseDialect] takes: gopher, gopher-strict,
// veronica2, rfc9309, 1994, extended or ircv3.
func (d Dialect) String() string {
	if int(d) < len(dialectNames) {
		return dialectNames[d]
	}
	return fmt.Sprintf("dialect(%d)", uint8(d))
}

// web reports whether selectors are URI paths, perhaps written as a whole URL.
func (d Dialect) web() bool { return d == RFC9309 || d == Standard1994 || d == Extended }

// bareCR reports whether a CR alone ends a line. The Gopher text knows only LF
// and CRLF (G3), and IRC sends CRLF.
func (d Dialect) bareCR() bool { return d.web() }

// style says what the patterns of a dialect, or of a reader, mean.
type style struct {
	allow    bool // Allow lines are rules, too
	glob     bool // * stands for any run of octets
	anchor   bool // $ at the end of a pattern ends the selector
	whole    bool // a pattern covers the whole selector, not its beginning (C5)
	percent  bool // compare in the normal form of R6
	slash    bool // /path/ also covers /path (Veronica-2)
	trimStar bool // patterns with an inner * are dropped, a final one is cut off
	first    bool // the first rule that matches decides, not the longest
}

// style gives the meaning of patterns; the version is that of the group and
// matters for Extended only.
func (d Dialect) style(v version) style {
	switch d {
	case RFC9309:
		return style{allow: true, glob: true, anchor: true, percent: true}
	case Standard1994:
		return style{}
	case Extended:
		return style{allow: true, glob: v == version2, whole: v == version2}
	case Veronica2:
		return style{glob: true, slash: true}
	default:
		return style{glob: true}
	}
}
