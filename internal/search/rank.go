package search

import (
	"bytes"
	"math"
	"slices"
	"sync"
)

// Ranking is Okapi BM25: a word counts the more the fewer texts hold it, the more
// often it is in a text (with less and less effect) and the shorter the text is.
// A text has to hold each part of the query, in any order.

// candidate is a text that may be an answer.
type candidate struct {
	doc   uint32
	score float32
}

// worse orders candidates; of equal ones that which came first is better.
func (c candidate) worse(d candidate) bool {
	return c.score < d.score || c.score == d.score && c.doc > d.doc
}

// best sorts candidates, the best first, and keeps n of them.
func best(all []candidate, n int) []candidate {
	slices.SortFunc(all, func(a, b candidate) int {
		if a.worse(b) {
			return 1
		}
		return -1
	})
	return all[:min(n, len(all))]
}

// scores are what the texts of an index have got so far.
type scores struct {
	score []float32
	parts []uint8  // how many parts of the query each text holds
	times []uint32 // how often the text holds the part that is looked at
}

var scorePool = sync.Pool{New: func() any { return new(scores) }}

func newScores(n int) *scores {
	s := scorePool.Get().(*scores)
	s.score, s.parts = slices.Grow(s.score[:0], n)[:n], slices.Grow(s.parts[:0], n)[:n]
	s.times = slices.Grow(s.times[:0], n)[:n]
	clear(s.score)
	clear(s.parts)
	return s
}

// rank returns the best n texts that hold all parts, the best first, and how many
// there are in all.
func (s *store) rank(parts []queryWord, n int) ([]candidate, int) {
	if s.live == 0 || len(parts) == 0 {
		return nil, 0
	}
	sc := newScores(len(s.texts))
	defer scorePool.Put(sc)
	for i, p := range parts {
		s.scorePart(sc, uint8(i), s.lists(p))
	}
	var all []candidate
	var least candidate // of the best n as far as is known; none is worse than the zero one
	found := 0
	for doc, held := range sc.parts {
		if int(held) != len(parts) || s.texts[doc].name == "" {
			continue
		}
		found++
		c := candidate{uint32(doc), sc.score[doc]}
		if c.worse(least) {
			continue
		}
		if all = append(all, c); len(all) == 2*n {
			all = best(all, n)
			least = all[n-1]
		}
	}
	return best(all, n), found
}

// scorePart adds what one part of the query gives to the texts that hold the
// parts before it. The terms that it stands for, whose lists these are, count as
// one that is there as often as all of them.
func (s *store) scorePart(sc *scores, before uint8, lists []*list) {
	clear(sc.times)
	for _, l := range lists {
		r := l.read(&s.arena)
		r.addTo(sc.times)
	}
	df := 0
	for _, times := range sc.times {
		if times > 0 {
			df++
		}
	}
	idf := float32(math.Log(1 + (float64(len(s.texts)-df)+0.5)/(float64(df)+0.5)))
	for doc, times := range sc.times {
		if times > 0 && sc.parts[doc] == before {
			sc.parts[doc]++
			tf := float32(times)
			sc.score[doc] += idf * tf * (timesWeight + 1) / (tf + s.norms[doc])
		}
	}
}

// lists returns the postings of the terms that a part of a query stands for.
func (s *store) lists(p queryWord) []*list {
	if !p.prefix {
		if t := s.terms.find([]byte(p.word), false); t != nil {
			return []*list{&t.texts}
		}
		return nil
	}
	word := []byte(p.word)
	before := func(i uint32, w []byte) int { return bytes.Compare(s.terms.word(i), w) }
	beyond := func(i uint32, w []byte) int {
		if bytes.HasPrefix(s.terms.word(i), w) {
			return -1
		}
		return before(i, w)
	}
	from, _ := slices.BinarySearchFunc(s.sorted, word, before)
	n, _ := slices.BinarySearchFunc(s.sorted[from:], word, beyond)
	all := make([]*list, 0, n)
	for _, i := range s.sorted[from : from+n] {
		all = append(all, &s.terms.at(i).texts)
	}
	for i := len(s.sorted); i < s.terms.len(); i++ {
		if bytes.HasPrefix(s.terms.word(uint32(i)), word) {
			all = append(all, &s.terms.at(uint32(i)).texts)
		}
	}
	return all
}
