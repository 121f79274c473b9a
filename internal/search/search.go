package search

import (
	"bytes"
	"context"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Query is what somebody asks an index.
type Query struct {
	// Text is what was typed: words, all of which a text has to hold, phrases in
	// quotes, and beginnings of words with a star: gopher "open source" proto*
	Text string

	// Limit is how many results are wanted. If zero, 50.
	Limit int

	// Allowed, if not nil, says which texts may be shown.
	Allowed func(name string) bool

	// Open opens a text for the line to be shown. If nil, there are no lines, and
	// phrases are not looked for. It returns nil for what has no text.
	Open func(ctx context.Context, name string) (io.ReadCloser, error)
}

// A Hit is a text that was found.
type Hit struct {
	Name  string
	Title string
	Line  string // of the text, where most of the query stands; may be empty
}

// Results are what a query found, the best first.
type Results struct {
	Results []Hit
	Texts   int  // how many texts hold the words
	Partly  bool // there may be more: only the best were read for a phrase
	Empty   bool // no word was asked for
}

// Bounds of a query.
const (
	maxCandidates = 200      // that are read for it
	maxRead       = 32 << 20 // bytes of them
	maxLine       = 240      // bytes of the line that is shown
)

// Search answers a query. It reads at most 200 texts for it and 32 MiB of them;
// an error is that of the context.
func (x *Index) Search(ctx context.Context, ask Query) (Results, error) {
	q := parse(ask.Text)
	if len(q.parts) == 0 {
		return Results{Empty: true}, nil
	}
	limit := ask.Limit
	if limit <= 0 {
		limit = 50
	}
	found, texts := x.candidates(q, max(limit, maxCandidates))
	f := textFinder{parsedQuery: q, left: maxRead, open: ask.Open}
	a := Results{Texts: texts}
	for _, r := range found {
		if len(a.Results) == limit {
			break
		}
		if ask.Allowed != nil && !ask.Allowed(r.Name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return a, context.Cause(ctx)
		}
		if f.fits(ctx, &r) {
			a.Results = append(a.Results, r)
		}
	}
	a.Partly = len(q.phrases) > 0 && texts > len(found)
	return a, nil
}

// candidates returns the best texts that hold all words.
func (x *Index) candidates(q parsedQuery, n int) ([]Hit, int) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	ranked, texts := x.rank(q.parts, n)
	all := make([]Hit, len(ranked))
	for i, c := range ranked {
		all[i] = Hit{Name: x.texts[c.doc].name, Title: x.texts[c.doc].title}
	}
	return all, texts
}

// textFinder reads candidates.
type textFinder struct {
	parsedQuery
	left int64 // bytes that may still be read
	open func(context.Context, string) (io.ReadCloser, error)
	buf  bytes.Buffer
}

// fits reports whether a candidate holds the phrases, and finds its line.
func (f *textFinder) fits(ctx context.Context, r *Hit) bool {
	if f.open == nil {
		return true
	}
	inTitle, _ := f.look([]byte(r.Title))
	if f.left <= 0 {
		return len(f.phrases) == 0 || inTitle == len(f.phrases)
	}
	text, err := f.open(ctx, r.Name)
	if err != nil {
		return false // it is gone, or not for us
	}
	inText := 0
	if text != nil {
		f.buf.Reset()
		n, _ := f.buf.ReadFrom(io.LimitReader(text, min(MaxText, f.left)))
		f.left -= n
		_ = text.Close()
		var at int
		inText, at = f.look(f.buf.Bytes())
		r.Line = line(f.buf.Bytes(), at)
	}
	return inText == len(f.phrases) || inTitle == len(f.phrases)
}

// look goes through a text once. It returns how many different phrases of the query
// it holds, and where the line to show is, in bytes, or -1: that with the most
// phrases, then words, of the query.
func (f *textFinder) look(text []byte) (phrases, at int) {
	at = -1
	best := 0
	on := onLine{at: -1} // what of the query is on this line
	progress := make([]uint64, len(f.phrases))
	found := make([]bool, len(f.phrases))
	var starts [maxParts]int // of the last words
	seen := 0                // of the text, in bytes
	sp := split(text)
	for n := 0; sp.next(); n++ {
		if bytes.IndexByte(text[seen:sp.start], '\n') >= 0 {
			on = onLine{at: -1}
		}
		seen = sp.start
		starts[n%maxParts] = sp.start
		for i, p := range f.parts {
			if p.fits(sp.word) {
				on.add(i, 1, sp.start)
			}
		}
		for i, ph := range f.phrases {
			if !step(ph, &progress[i], sp.word) {
				continue
			}
			if !found[i] {
				found[i] = true
				phrases++
			}
			on.add(maxParts+i, len(f.parts), starts[(n+maxParts-len(ph)+1)%maxParts])
		}
		if on.score > best {
			best, at = on.score, on.at
		}
		if best >= len(f.parts)*(1+len(f.phrases)) && phrases == len(f.phrases) {
			break // it cannot get better
		}
	}
	return phrases, at
}

// onLine is what of a query stands on a line.
type onLine struct {
	has   uint64 // words, and from maxParts on phrases
	score int
	at    int // where it begins
}

func (o *onLine) add(bit, score, at int) {
	if o.has&(1<<bit) != 0 {
		return
	}
	o.has |= 1 << bit
	o.score += score
	if o.at < 0 || at < o.at {
		o.at = at
	}
}

// step takes the next word of a text for a phrase, and reports whether the
// phrase ends there. Bit i of progress says that the words before are the first
// i+1 of the phrase (the Shift-And algorithm).
func step(phrase []queryWord, progress *uint64, w []byte) bool {
	var fits uint64
	for i, p := range phrase {
		if p.fits(w) {
			fits |= 1 << i
		}
	}
	*progress = (*progress<<1 | 1) & fits
	return *progress&(1<<(len(phrase)-1)) != 0
}

func (p queryWord) fits(w []byte) bool {
	if p.prefix {
		return len(w) >= len(p.word) && string(w[:len(p.word)]) == p.word
	}
	return string(w) == p.word
}

// line returns the line of a text that holds a place, made fit to be shown.
func line(text []byte, at int) string {
	if at < 0 || at > len(text) {
		return ""
	}
	start := bytes.LastIndexByte(text[:at], '\n') + 1
	end := len(text)
	if i := bytes.IndexByte(text[start:], '\n'); i >= 0 {
		end = start + i
	}
	if at-start > maxLine/2 {
		for start = at - maxLine/4; start < at && !utf8.RuneStart(text[start]); start++ {
		}
	}
	return plain(text[start:min(end, start+4*maxLine)])
}

// plain returns a line without what a terminal obeys, blanks at its ends, and
// more than maxLine bytes.
func plain(raw []byte) string {
	var b strings.Builder
	blank := false
	for len(raw) > 0 {
		r, n := char(raw)
		raw = raw[n:]
		if !unicode.IsPrint(r) || r == ' ' {
			blank = b.Len() > 0
			continue
		}
		if b.Len() > maxLine {
			return b.String() + "..."
		}
		if blank {
			b.WriteByte(' ')
			blank = false
		}
		b.WriteRune(r)
	}
	return b.String()
}
