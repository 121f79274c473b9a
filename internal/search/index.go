// Package search is a full-text index in memory: texts go in by name, and a
// query gives the best of them with the line that was found.
//
//	texts → words (words.go) → terms and their postings (index.go, postings.go)
//	query → candidates ranked by BM25 (rank.go) → each is read: phrase, line (search.go)
//
// The index holds no positions. Phrases, and the line to show, are found by
// reading the best candidates again, so that it stays at a fifth of the texts'
// size and what it shows is what the texts hold now.
//
// Texts are hostile: their words are bounded in length and number, an index is
// bounded in memory, a query in the bytes it reads. What is left out is counted.
package search

import (
	"bytes"
	"errors"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Limits of one text. What is beyond them is not found; the text is.
const (
	MaxText  = 1 << 20 // bytes that are read of it
	maxTerms = 30_000  // different words; a thick book has 20,000
)

// ErrFull is returned for a text that the index has no memory for.
var ErrFull = errors.New("the search index is full")

// An Index holds texts. Its methods may be called by many goroutines at once; a
// change waits for queries and they for it, for a millisecond at a time.
type Index struct {
	memory  int64
	writing sync.Mutex // one change at a time
	adding  adding

	mu sync.RWMutex
	*store
}

// store is what an index consists of.
type store struct {
	names   map[string]uint32 // the number of each text
	texts   []indexed
	live    int
	total   int64 // words of all live texts
	strings int64 // bytes of their names and titles

	norms   []float32 // what BM25 divides by, as long as the average stays
	average float32   // words of a text

	terms  terms
	sorted []uint32 // numbers of terms in the order of their words
	arena  arena    // of postings
}

// indexed is a text that is in the index.
type indexed struct {
	name  string // "" if it was deleted
	title string
	mark  uint64
	words uint32
}

// New returns an empty index that takes about so many bytes at most; if memory
// is not positive, there is no bound but 4 GiB of postings. While many deletions
// are tidied up it may take half as much again.
func New(memory int64) *Index {
	return &Index{memory: memory, store: newStore()}
}

func newStore() *store {
	return &store{names: map[string]uint32{}}
}

// IndexStats is what an index holds.
type IndexStats struct {
	Texts int   // that are found
	Terms int   // different words
	Bytes int64 // about what it takes in memory
}

// Stats returns what the index holds now.
func (x *Index) Stats() IndexStats {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return IndexStats{Texts: x.live, Terms: x.terms.len(), Bytes: x.size()}
}

// textCost is what a text takes beside its strings, in bytes: itself, and its
// place in the map.
const textCost = 52 + 44

// normOf is what the times of a word in a text are weighed against.
func normOf(words uint32, average float32) float32 {
	return timesWeight * (1 - lengthWeight + lengthWeight*float32(words)/max(1, average))
}

// The constants of BM25 (rank.go).
const (
	timesWeight  = 1.2
	lengthWeight = 0.75
)

// weigh computes the norms again when the average has moved by a tenth, so that
// this costs little however texts come.
func (s *store) weigh() {
	average := float32(s.total) / float32(max(1, s.live))
	if len(s.norms) == len(s.texts) && 0.9*s.average < average && average < 1.1*s.average {
		return
	}
	s.average, s.norms = average, s.norms[:0]
	for _, t := range s.texts {
		s.norms = append(s.norms, normOf(t.words, average))
	}
}

func (s *store) size() int64 {
	return s.arena.size() + s.terms.size() + int64(4*cap(s.sorted)) + int64(len(s.texts))*textCost + s.strings
}

// Put adds a text, or replaces the one of that name. Its title counts like words
// of the text that stand there three times; content may be nil. The mark is for
// the caller, who may know by it what the text was made from. Put returns
// ErrFull, and leaves the text out, if there is no memory for it; of any other
// error, which is that of reading, what was read before it is in the index.
func (x *Index) Put(name, title string, mark uint64, content io.Reader) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	x.remove(name)
	if x.memory > 0 && x.size() >= x.memory || x.arena.next >= 1<<32-maxTerms*lastSlice-chunkSize {
		return ErrFull
	}
	a := &x.adding
	*a = adding{x: x, doc: uint32(len(x.texts)), terms: a.terms[:0]}
	a.part([]byte(title), titleWeight)
	var err error
	if content != nil {
		err = a.content(content)
	}
	a.done(name, title, mark)
	x.tidy()
	return err
}

// titleWeight is how often a word of the title counts.
const titleWeight = 3

// adding is a text on its way into the index. Its words are taken in parts, with
// the index locked for one at a time; they have no postings before the last.
type adding struct {
	x     *Index
	doc   uint32
	words uint32
	terms []*term // that are in it
	split splitter
}

// partSize is how much of a text is taken in at a time, in bytes.
const partSize = 32 << 10

var parts = sync.Pool{New: func() any { return new([partSize]byte) }}

// content takes in a text. A word at the end of a part waits for the next one.
func (a *adding) content(r io.Reader) error {
	array := parts.Get().(*[partSize]byte)
	defer parts.Put(array)
	buf, kept := array[:], 0
	for left := MaxText; ; {
		n, err := io.ReadFull(r, buf[kept:min(len(buf), kept+left)])
		left -= n
		part := buf[:kept+n]
		if err != nil || left <= 0 {
			a.part(part, 1)
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = nil
			}
			return err
		}
		cut := lastSpace(part)
		a.part(part[:cut], 1)
		kept = copy(buf, part[cut:])
	}
}

// lastSpace returns where the last part of a text begins that may go on.
func lastSpace(part []byte) int {
	for i := len(part) - 1; i > len(part)-4*maxWord; i-- {
		if part[i] <= ' ' {
			return i
		}
	}
	for i := 1; i < utf8.UTFMax; i++ {
		if utf8.RuneStart(part[len(part)-i]) {
			return len(part) - i
		}
	}
	return len(part)
}

func (a *adding) part(p []byte, weight uint8) {
	a.split.reset(p)
	a.x.mu.Lock()
	defer a.x.mu.Unlock()
	for a.split.next() {
		a.words++
		a.word(a.split.word, weight)
	}
}

func (a *adding) word(w []byte, weight uint8) {
	t := a.x.terms.find(w, len(a.terms) < maxTerms)
	if t == nil {
		return
	}
	if t.in != a.doc+1 {
		if len(a.terms) >= maxTerms {
			return
		}
		t.in, t.times = a.doc+1, 0
		a.terms = append(a.terms, t)
	}
	if t.times <= 255-weight {
		t.times += weight
	}
}

// done writes the postings.
func (a *adding) done(name, title string, mark uint64) {
	x := a.x
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, t := range a.terms {
		t.texts.add(&x.arena, a.doc, t.times)
	}
	x.names[name] = a.doc
	x.texts = append(x.texts, indexed{name: strings.Clone(name), title: strings.Clone(title), mark: mark, words: a.words})
	x.norms = append(x.norms, normOf(a.words, x.average))
	x.live++
	x.total += int64(a.words)
	x.strings += int64(len(name) + len(title))
	x.weigh()
	if fresh := x.terms.len() - len(x.sorted); fresh > max(1<<10, len(x.sorted)/2) {
		x.sort()
	}
}

// sort puts the terms in order. Those that came since are few when it is not
// called: a look-up goes through them one by one.
func (s *store) sort() {
	var fresh []uint32
	for i := len(s.sorted); i < s.terms.len(); i++ {
		fresh = append(fresh, uint32(i))
	}
	byWord := func(i, j uint32) int { return bytes.Compare(s.terms.word(i), s.terms.word(j)) }
	slices.SortFunc(fresh, byWord)
	all := make([]uint32, 0, s.terms.len())
	old := s.sorted
	for _, f := range fresh {
		n, _ := slices.BinarySearchFunc(old, f, byWord)
		all = append(append(all, old[:n]...), f)
		old = old[n:]
	}
	s.sorted = append(all, old...)
}

// Delete takes a text out, if it is there.
func (x *Index) Delete(name string) {
	x.writing.Lock()
	defer x.writing.Unlock()
	x.remove(name)
	x.tidy()
}

func (x *Index) remove(name string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	doc, ok := x.names[name]
	if !ok {
		return
	}
	t := &x.texts[doc]
	x.live--
	x.total -= int64(t.words)
	x.strings -= int64(len(t.name) + len(t.title))
	*t = indexed{}
	delete(x.names, name)
}

// Mark returns the mark of a text; ok reports whether it is in the index.
func (x *Index) Mark(name string) (mark uint64, ok bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	doc, ok := x.names[name]
	if !ok {
		return 0, false
	}
	return x.texts[doc].mark, true
}

// tidy writes everything again without the texts that were deleted, if these are
// many. Queries go on meanwhile: only changes are locked out.
func (x *Index) tidy() {
	if dead := len(x.texts) - x.live; dead <= 1000 || dead <= x.live/2 {
		return
	}
	s := newStore()
	number := make([]uint32, len(x.texts))
	for i, t := range x.texts {
		if t.name == "" {
			continue
		}
		number[i] = uint32(len(s.texts))
		s.names[t.name] = number[i]
		s.texts = append(s.texts, t)
	}
	s.live, s.total, s.strings = x.live, x.total, x.strings
	for i := range uint32(x.terms.len()) {
		if l := x.again(i, &s.arena, number); l.n > 0 {
			s.terms.find(x.terms.word(i), true).texts = l
		}
	}
	s.sort()
	s.weigh()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.store = s
}

// again writes the postings of a term to another arena, without texts that were
// deleted. Number tells the new numbers of texts; if nil, they stay.
func (s *store) again(i uint32, to *arena, number []uint32) (l list) {
	for r := s.terms.at(i).texts.read(&s.arena); r.next(); {
		switch {
		case s.texts[r.doc].name == "":
		case number == nil:
			l.add(to, r.doc, r.times)
		default:
			l.add(to, number[r.doc], r.times)
		}
	}
	return l
}

// Settle puts the postings in the order of the words, which makes queries for
// beginnings of words several times as fast: their lists lie side by side in
// memory. It is for the time after many texts were put in; queries wait for it.
func (x *Index) Settle() {
	x.writing.Lock()
	defer x.writing.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sort()
	debug.FreeOSMemory() // what building left behind, before half as much is taken again
	defer debug.FreeOSMemory()
	var to arena
	for _, i := range x.sorted {
		x.terms.at(i).texts = x.again(i, &to, nil)
	}
	x.arena = to
}
