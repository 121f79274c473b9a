package readers

import (
	"fmt"
	"slices"
	"strings"
)

// Dialect is one way of reading robots lines. The zero value is [Gopher].
type Dialect uint8

// The dialects. doc.go lists the choices where a text is silent.
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
	// Gemini is "robots.txt for Gemini", the companion specification: Disallow by
	// prefix, every other line ignored.
	Gemini
)

var dialectNames = [...]string{
	Gopher:       "gopher",
	GopherStrict: "gopher-strict",
	Veronica2:    "veronica2",
	RFC9309:      "rfc9309",
	Standard1994: "1994",
	Extended:     "extended",
	Gemini:       "gemini",
}

// Dialects lists all dialects.
func Dialects() []Dialect {
	return []Dialect{Gopher, GopherStrict, Veronica2, RFC9309, Standard1994, Extended, Gemini}
}

// ParseDialect is the inverse of [Dialect.String].
func ParseDialect(name string) (Dialect, error) {
	if i := slices.Index(dialectNames[:], name); i >= 0 {
		return Dialect(i), nil
	}
	return Gopher, fmt.Errorf("unknown dialect %q", name)
}

// String returns the name that [ParseDialect] takes: gopher, gopher-strict,
// veronica2, rfc9309, 1994, extended or gemini.
func (d Dialect) String() string {
	if int(d) < len(dialectNames) {
		return dialectNames[d]
	}
	return fmt.Sprintf("dialect(%d)", uint8(d))
}

// Web reports whether selectors are URI paths, perhaps written as a whole URL.
func (d Dialect) Web() bool { return d >= RFC9309 }

// BareCR reports whether a CR alone ends a line. The Gopher text knows only LF
// and CRLF (G3).
func (d Dialect) BareCR() bool { return d.Web() }

// Reader returns the row of the dialect: how a robot that goes by its text reads a file.
func (d Dialect) Reader() Reader {
	if int(d) >= len(dialectRows) {
		d = Gopher
	}
	r := dialectRows[d]
	r.Name = d.String()
	r.Dialect = d
	r.Bare = true
	r.Forms = rawForm
	if d == RFC9309 {
		r.Forms = normalForm
	}
	return r
}

var (
	rawForm    = []Form{Raw}
	normalForm = []Form{Normal}
)

var dialectRows = [...]Reader{
	Gopher:       {Groups: true, Ends: UsageField, Loose: true, Star: true},
	GopherStrict: {Loose: true, Star: true},
	Veronica2:    {Groups: true, Loose: true, Star: true, Below: true},
	RFC9309: {
		Groups:  true,
		Ends:    UsageField,
		Allow:   true,
		Star:    true,
		Dollar:  true,
		Escapes: Letter,
		Web:     true,
	},
	Standard1994: {
		Groups: true,
		Names:  Part,
		Exact:  true,
		First:  true,
		Blank:  true,
		Web:    true,
	},
	Extended: {
		Groups: true,
		Names:  Part,
		Exact:  true,
		First:  true,
		Ends:   AnyField,
		Allow:  true,
		Web:    true,
	},
	Gemini: {Groups: true, Web: true},
}

// Version is the meaning that Robot-version gives to a group of [Extended] (C3).
type Version uint8

// The versions.
const (
	Version1     Version = iota // 1.0, absent, or not understood
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
