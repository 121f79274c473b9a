package convert

import (
	"strings"
	"unicode/utf8"

	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// shape is the meaning of a pattern, free of any dialect's spelling.
type shape struct {
	pieces []string // bytes; between two of them a star
	whole  bool     // it covers the whole selector, not only its beginning
	uri    bool     // the pieces are written as in a URI
	bytes  int      // of the pattern: where the longest decides, its precedence
}

// The ways in which a pattern of one dialect has no equal in another. The
// pattern as written covers more, or with the last less.
const (
	lostEnd  = "the end of the selector cannot be matched"
	lostStar = "a star can be written only at the end"
	lostByte = "a byte of it cannot be written: a star stands for it"

	lostEscape = "a star that is a byte counts only where it is escaped"
)

// shapeOf parses a pattern. For a dialect with percent-encoding the pieces are in normal
// form, except for stars and dollars, which URIs do not escape.
func shapeOf(p string, d readers.Dialect, v readers.Version) shape {
	r := d.Reader()
	escapes := r.Escapes == readers.Letter
	sh := shape{whole: v == readers.Version2, uri: d.Web()}
	if escapes {
		p = readers.NormalPattern(p)
	}
	sh.bytes = len(p)
	if r.Dollar {
		p, sh.whole = strings.CutSuffix(p, "$")
	}
	sh.pieces = []string{p}
	if r.Star || v == readers.Version2 {
		sh.pieces = strings.Split(p, "*")
	}
	if escapes {
		sh.pieces = sh.each(plainSpecials)
	}
	return sh
}

// each returns what a function makes of the pieces.
func (s shape) each(of func(string) string) []string {
	pieces := make([]string, len(s.pieces))
	for i, piece := range s.pieces {
		pieces[i] = of(piece)
	}
	return pieces
}

// plain reports whether the pattern is a prefix without wildcards.
func (s shape) plain() bool { return len(s.pieces) == 1 && !s.whole }

// gopher writes a pattern of the Gopher dialects: bytes and stars, without an end anchor.
func (s shape) gopher() (p, lost string) {
	pieces := s.each(func(piece string) string {
		if s.uri {
			piece = selector.Decoded(piece)
		}
		return writable(piece)
	})
	p = strings.Join(pieces, "*")
	switch {
	case s.whole && pieces[len(pieces)-1] != "":
		lost = lostEnd
	case strings.Count(p, "*") >= len(pieces):
		lost = lostByte
	}
	trimmed := strings.Trim(p, " \t\r\n\v\f")
	if !strings.HasPrefix(p, trimmed) {
		trimmed = "*" + trimmed
	}
	if trimmed != p {
		lost = lostByte
	}
	return trimmed, lost
}

// writable replaces bytes that would end the line or the pattern. It keeps a star, which now
// matches any bytes.
func writable(piece string) string {
	var b strings.Builder
	for len(piece) > 0 {
		_, n := utf8.DecodeRuneInString(piece)
		if c := piece[:n]; c == "#" || selector.HasControl(c) {
			b.WriteByte('*')
		} else {
			b.WriteString(c)
		}
		piece = piece[n:]
	}
	return b.String()
}

// rfc writes a pattern of RFC 9309, which can express every shape.
func (s shape) rfc() string {
	p := strings.Join(s.each(readers.NormalPath), "*")
	if s.whole {
		p += "$"
	}
	return p
}

// prefix writes a pattern that has no wildcards.
func (s shape) prefix() (p, lost string) {
	p = s.encoded()[0]
	switch {
	case len(s.pieces) == 2 && s.pieces[1] == "" && p != "":
	case len(s.pieces) > 1:
		lost = lostStar
	case s.whole:
		lost = lostEnd
	}
	if p == "" {
		p = "/"
	}
	return p, lost
}

// explicit writes a value of an Extended 2.0 set, which cannot express a literal star: in a
// rule that denies, it becomes any bytes, and in one that allows, the escape, so that
// neither lets more in.
func (s shape) explicit(allow bool) (p, lost string) {
	pieces := s.encoded()
	p = strings.Join(pieces, "*")
	if strings.Count(p, "*") >= len(pieces) {
		lost = lostByte
		if allow {
			lost = lostEscape
			for i := range pieces {
				pieces[i] = strings.ReplaceAll(pieces[i], "*", "%2A")
			}
			p = strings.Join(pieces, "*")
		}
	}
	if !s.whole {
		p += "*"
	}
	return p, lost
}

// encoded returns the pieces escaped as in a URI. It also escapes #, which starts no comment
// in Extended, but does in the other dialect.
func (s shape) encoded() []string {
	return s.each(func(piece string) string {
		if s.uri {
			return strings.ReplaceAll(piece, "#", "%23")
		}
		return plainSpecials(readers.NormalPath(piece))
	})
}

// plainSpecials undoes what the normal form does to * and $.
func plainSpecials(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "%2A", "*"), "%24", "$")
}
