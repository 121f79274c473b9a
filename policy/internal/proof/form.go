package proof

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// Patterns are in URI form here. A reader compares another form, into which they are
// translated piece by piece. This is exact for names without escapes; no rule can express
// how readers interpret other names.

const anyBytes = "\n" // in place of a star: no request contains it

// symbol returns a text for all that a pattern matches: what matches the text matches
// all of it.
func symbol(p *readers.Pattern) string {
	text := strings.Join(p.Pieces, anyBytes)
	if !p.Whole {
		text += anyBytes
	}
	return text
}

// symbols returns texts in the form of a reader. A pattern that matches all of them matches
// all that p matches.
func symbols(f readers.Form, p *readers.Pattern) (list []string) {
	if f == readers.URI || len(p.Pieces) == 1 && readers.Plain(p.Pieces[0]) {
		return []string{symbol(p)}
	}

	plain := readers.Pattern{Whole: p.Whole}
	for i, piece := range p.Pieces {
		if i > 0 {
			// A star may end within the escape of a byte that this form does not escape.
			piece = piece[longestCut(piece, kept[f]):]
		}
		plain.Pieces = append(plain.Pieces, selector.Decoded(piece))
	}
	switch f {
	case readers.Normal, readers.Requoted:
	case readers.Parted:
		return partedSymbols(&plain)
	default:
		for i, piece := range plain.Pieces {
			plain.Pieces[i] = pieceIn(f, piece, false)
		}
		return []string{symbol(&plain)}
	}

	// Behind a ? these forms keep other bytes. The ? is in a piece, or in any of the stars
	// before that.
	for star := 1; star <= len(plain.Pieces); star++ {
		q := readers.Pattern{Whole: p.Whole}
		query := false
		for i, piece := range plain.Pieces {
			query = query || i == star
			q.Pieces = append(q.Pieces, pieceIn(f, piece, query))
			query = query || strings.Contains(piece, "?")
		}
		if text := symbol(&q); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// partedSymbols is symbols for the form of Protego, which keeps other bytes behind a ; that
// no slash follows. Such a ; is in a piece, in the star before a piece, or nowhere.
func partedSymbols(plain *readers.Pattern) (list []string) {
	pieces := plain.Pieces
	add := func(piece, at int, whole bool) {
		q := readers.Pattern{Whole: whole}
		for i, text := range pieces {
			switch {
			case i < piece:
				text = quoted(text, "")
			case i == piece:
				text = quoted(text[:at], "") + readers.URI.Of(text[at:])
			default:
				text = readers.URI.Of(text)
			}
			q.Pieces = append(q.Pieces, text)
		}
		if text := symbol(&q); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}

	isCertain := false
	for i := len(pieces) - 1; i >= 0; i-- {
		slash := strings.LastIndexByte(pieces[i], '/') + 1
		if at := strings.IndexByte(pieces[i][slash:], ';'); at >= 0 {
			isCertain = plain.Whole && i == len(pieces)-1
			add(i, slash+at, plain.Whole)
		}
		if slash > 0 {
			break
		}
		if i > 0 {
			add(i, 0, plain.Whole)
		}
	}
	if !isCertain {
		last := len(pieces) - 1
		add(last, len(pieces[last]), plain.Whole)
	}
	if name, ok := strings.CutSuffix(symbol(&readers.Pattern{
		Pieces: pieces,
		Whole:  true,
	}), ";"); ok {
		list = append(list, quoted(name, anyBytes)) // a ; with nothing behind it is dropped
	}
	return list
}

// pieceIn writes bytes in a form. query reports whether a ? precedes them.
func pieceIn(f readers.Form, plain string, query bool) string {
	switch f {
	case readers.Normal:
		b, _ := selector.AppendNormalPiece(nil, plain, query)
		return string(b)
	case readers.Quoted, readers.RequotedURI:
		return quoted(plain, "")
	case readers.Requoted:
		path, rest, ok := strings.Cut(plain, "?")
		switch {
		case query:
			return quoted(plain, "=&")
		case ok:
			return quoted(path, "") + "?" + quoted(rest, "=&")
		}
		return quoted(plain, "")
	case readers.Decoded:
		return plain
	}
	return f.Of(plain)
}

// quoted writes bytes as Python quotes them, except for those in keep.
func quoted(s, keep string) string {
	var b []byte
	for i := range len(s) {
		if readers.Plain(s[i:i+1]) || strings.IndexByte(keep, s[i]) >= 0 {
			b = append(b, s[i])
		} else {
			b = selector.AppendPercent(b, s[i])
		}
	}
	return string(b)
}

// inURI returns patterns in URI form that together match all names whose form a reader's
// pattern matches; none if no name has such a form. Of forms that escape more than a URI,
// all but the first pattern are for names in whose escapes a star ends.
func inURI(f readers.Form, p *readers.Pattern) (list []readers.Pattern) {
	add := func(plain []string) { list = append(list, patternOf(plain, p.Whole)) }

	switch f {
	case readers.URI:
		for _, text := range p.Pieces {
			if readers.URI.Of(selector.Decoded(text)) != text {
				return nil
			}
		}
		add(each(p.Pieces, selector.Decoded))
	case readers.Raw:
		add(p.Pieces)
	case readers.High:
		add(each(p.Pieces, decodedHigh)) // names with an escape: see named
	default:
		plain := each(p.Pieces, selector.Decoded)
		add(plain)
		for _, plain := range completed(f, p.Pieces) {
			add(plain)
		}
		if at := strings.IndexAny(plain[0], "?#"); f == readers.Quoted && at >= 0 {
			// This form lacks the marks of empty parts before one that is not.
			marks := []string{";", "?", ";?"}
			if plain[0][at] == '?' {
				marks = marks[:1]
			}
			for _, mark := range marks {
				add(slices.Concat([]string{plain[0][:at] + mark + plain[0][at:]}, plain[1:]))
			}
		}
		if strings.Contains(strings.Join(plain, ""), "\ufffd") { // in place of invalid UTF-8
			add(strings.Split(strings.Join(plain, "\ufffd"), "\ufffd"))
		}
	}
	if !p.Whole {
		return list
	}
	for _, end := range dropped[f] {
		for _, q := range list {
			q.Pieces = slices.Clone(q.Pieces)
			q.Pieces[len(q.Pieces)-1] += end
			q.Size += len(end)
			list = append(list, q)
		}
	}
	return list
}

// patternOf returns a pattern of plain pieces, in URI form.
func patternOf(plain []string, whole bool) readers.Pattern {
	p := readers.Pattern{Pieces: each(plain, readers.URI.Of), Whole: whole}
	if len(p.Pieces) > 1 && p.Pieces[0] == "" && !strings.HasPrefix(p.Pieces[1], "/") {
		p.Pieces[0] = "/" // as each selector begins
	}
	p.Size = len(strings.Join(p.Pieces, "*"))
	if whole {
		p.Size++
	}
	return p
}

// named returns a pattern in URI form for names that contain an escape and whose form High
// p matches. To that form an escape is a byte, or a part of the name: what d needs, or else a
// part.
func named(p, d *readers.Pattern) readers.Pattern {
	pieces, last := slices.Clone(p.Pieces), len(p.Pieces)-1
	between := each(d.Pieces, selector.Decoded)
	head, tail := between[0], ""
	if between = between[1:]; d.Whole && len(between) == 0 && p.Match(readers.High.Of(head)) {
		return *d
	}
	if p.Whole && d.Whole && len(between) > 0 {
		tail, between = between[len(between)-1], between[:len(between)-1]
	}

	from, to := 0, len(tail)
	for from < len(head) {
		rest, ok := strings.CutPrefix(pieces[0], readers.High.Of(head[from:from+1]))
		if !ok {
			break
		}
		pieces[0], from = rest, from+1
	}
	for to > 0 {
		rest, ok := strings.CutSuffix(pieces[last], readers.High.Of(tail[to-1:to]))
		if !ok {
			break
		}
		pieces[last], to = rest, to-1
	}
	begin := head[:from]
	if p.Whole && last == 0 { // no star of p matches what d has between
		for _, piece := range between {
			if before, rest, ok := strings.Cut(pieces[0], readers.High.Of(piece)); ok {
				begin, pieces[0] = begin+before+piece, rest
			}
		}
	}
	pieces[last] += tail[to:]
	pieces[0] = begin + pieces[0]
	return patternOf(pieces, p.Whole)
}

// dropped are the marks, in URI form and in this order, that a form lacks at the end of a
// selector.
var dropped = map[readers.Form][]string{readers.Parted: {";"}, readers.Quoted: {";", "%3F", "%23"}}

func each(list []string, fn func(string) string) (result []string) {
	for _, s := range list {
		result = append(result, fn(s))
	}
	return result
}

// A star of a pattern may end within an escape, so that the piece behind it begins with
// digits of that. Kept are the bytes whose escape in URI form another form does not have: it
// has them as they are or, where they are no UTF-8, as U+FFFD. Extra are those that another
// form escapes and URI form does not.
var kept, extra = func() (kept, extra [readers.Decoded + 1][]byte) {
	for f := range readers.Decoded + 1 {
		for i := range 256 {
			c := byte(i)
			if strings.IndexByte("\x00\t\r\n", c) >= 0 {
				continue // no request contains it
			}
			name := "/" + string([]byte{c}) + "/"
			uri, form := readers.URI.Of(name), f.Of(name)
			switch isEscaped := strings.Contains(uri, "%"); {
			case isEscaped && form != uri:
				kept[f] = append(kept[f], c)
			case !isEscaped && strings.Contains(form, "%"):
				extra[f] = append(extra[f], c)
			}
		}
	}
	return kept, extra
}()

const hexDigits = "0123456789ABCDEF" // of escapes

// cuts returns how many digits at the beginning of a piece may be of the escape of a byte.
// A piece of one digit may end within the escape, too.
func cuts(piece string, c byte) (list []int) {
	digits := string(selector.AppendPercent(nil, c))[1:]
	if strings.HasPrefix(piece, digits[1:]) || piece == digits[:1] {
		list = append(list, 1)
	}
	if strings.HasPrefix(piece, digits) {
		list = append(list, 2)
	}
	return list
}

// longestCut returns how many digits at the beginning of a piece may at most be of the
// escape of one of some bytes.
func longestCut(piece string, bytes []byte) (n int) {
	if piece == "" || strings.IndexByte(hexDigits, piece[0]) < 0 {
		return 0
	}
	for _, c := range bytes {
		n = max(n, slices.Max(append(cuts(piece, c), 0)))
	}
	return n
}

// maxCompleted bounds the lists that completed returns.
const maxCompleted = 64

// completed returns lists of pieces for names in which a star before a piece ends within an
// escape, in a form that escapes more than a URI: with the bytes that are escaped.
func completed(f readers.Form, pieces []string) [][]string {
	list := [][]string{{selector.Decoded(pieces[0])}}
	for _, piece := range pieces[1:] {
		choices := []string{selector.Decoded(piece)}
		for _, c := range extra[f] {
			for _, n := range cuts(piece, c) {
				choice := ""
				if len(piece) > 1 {
					choice = string([]byte{c}) + selector.Decoded(piece[n:])
				}
				choices = append(choices, choice)
			}
		}
		if len(list)*len(choices) > maxCompleted {
			choices = []string{selector.Decoded(piece[longestCut(piece, extra[f]):])} // which matches more
		}

		var next [][]string
		for _, before := range list {
			for _, choice := range choices {
				next = append(next, append(slices.Clip(before), choice))
			}
		}
		list = next
	}
	if len(list) == 1 && slices.Equal(list[0], each(pieces, selector.Decoded)) {
		return nil
	}
	return list
}

// decodedHigh decodes the escapes of bytes from 0x80.
func decodedHigh(s string) string {
	var b []byte
	for i := 0; i < len(s); i++ {
		if c, n := selector.DecodePercent(s[i:]); n > 0 && c >= 0x80 {
			b, i = append(b, c), i+n-1
		} else {
			b = append(b, s[i])
		}
	}
	return string(b)
}

// writable returns the texts that generator.md writes for a Disallow. weak adds those of
// the group for readers that know less.
func writable(d *rule, weak bool) (list []string) {
	text := d.String()
	short := text
	if strings.HasSuffix(text, "*") || strings.HasSuffix(text, "*$") {
		short = strings.TrimRight(text, "*$")
	}
	list = append(list, text, short)

	// Replace each hazard by a star; without one the raw form can be written.
	var raw, safe strings.Builder
	hazard, below := false, 0
	for i, piece := range d.Pieces {
		if i > 0 {
			raw.WriteByte('*')
			safe.WriteByte('*')
		}
		plain := selector.Decoded(piece)
		for at, c := range plain {
			if raw.Len() < len(d.base) {
				below = safe.Len() + 1
			}
			_, n := utf8.DecodeRuneInString(plain[at:])
			raw.WriteString(plain[at : at+n])
			isControl := c < ' ' || 0x7f <= c && c <= 0x9f
			isSyntax := isControl || strings.ContainsRune("#*\u2028\u2029", c) ||
				c == utf8.RuneError && n == 1
			atEnd := i == len(d.Pieces)-1 && strings.TrimFunc(plain[at:], func(c rune) bool {
				return c == '$' || isBlank(c)
			}) == ""
			if isSyntax || atEnd {
				safe.WriteByte('*')
			} else {
				safe.WriteString(plain[at : at+n])
			}
			hazard = hazard || isSyntax || c == '%' || atEnd && !d.Whole
		}
	}
	plain := strings.TrimRight(raw.String(), "*")
	if !hazard && !strings.HasSuffix(plain, "$") {
		if short != text && strings.TrimRightFunc(plain, isBlank) == plain {
			list = append(list, plain)
		}
		list = append(list, raw.String()+text[len(strings.TrimSuffix(text, "$")):])
	}

	// A weak line needs a byte below its directory, unless it denies all of that.
	rest := strings.Trim(safe.String()[min(below, safe.Len()):], "*")
	if weak && (rest != "" || short == readers.URI.Of(d.base)) {
		list = append(list, strings.TrimRightFunc(safe.String(), func(c rune) bool {
			return c == '*' || isBlank(c)
		}))
	}
	return list
}
