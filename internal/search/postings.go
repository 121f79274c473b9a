package search

// Postings: for each term the documents that hold it, as pairs of a document's
// number and how often the term is in it. They only ever grow at the end, so they
// lie in slices of doubling length in one arena, as in Lucene's index writer: a
// list needs no copy when it grows, a term of one document takes 12 bytes, and
// the garbage collector has nothing to look at.
//
// A posting is the difference to the number before it, shifted left by one, as a
// varint. If the lowest bit is set, a byte follows with how often; else it is once.

const (
	chunkBits = 18 // an arena grows by 256 KiB
	chunkSize = 1 << chunkBits

	firstSlice = 12
	lastSlice  = 4096
	linkSize   = 4 // the end of each slice is the address of the next
)

// arena is memory that is only added to. Address 0 is nobody's.
type arena struct {
	chunks [][]byte
	next   uint32
}

// size is what the arena takes, in bytes.
func (a *arena) size() int64 { return int64(len(a.chunks)) << chunkBits }

// slice returns the address of n zero bytes that lie together.
func (a *arena) slice(n uint32) uint32 {
	if a.next&(chunkSize-1)+n > chunkSize || len(a.chunks) == 0 || a.next == uint32(len(a.chunks))<<chunkBits {
		a.next = uint32(len(a.chunks)) << chunkBits
		a.chunks = append(a.chunks, make([]byte, chunkSize))
		if a.next == 0 {
			a.next = linkSize
		}
	}
	at := a.next
	a.next += n
	return at
}

// at returns the bytes from an address to the end of its chunk.
func (a *arena) at(addr uint32) []byte { return a.chunks[addr>>chunkBits][addr&(chunkSize-1):] }

// longer is the length of the slice that follows one of length n.
func longer(n uint32) uint32 { return min(2*n, lastSlice) }

// list is the postings of one term.
type list struct {
	head uint32 // address of the first slice; 0 if there is none
	pos  uint32 // where the next byte goes
	end  uint32 // where the slice's link is
	size uint32 // of the last slice
	last uint32 // the last document's number
	n    uint32 // how many documents
}

// add adds a document, whose number is higher than all before it.
func (l *list) add(a *arena, doc uint32, times uint8) {
	v := uint64(doc-l.last) << 1
	if times > 1 {
		v |= 1
	}
	for v >= 0x80 {
		l.put(a, byte(v)|0x80)
		v >>= 7
	}
	l.put(a, byte(v))
	if times > 1 {
		l.put(a, times)
	}
	l.last = doc
	l.n++
}

func (l *list) put(a *arena, b byte) {
	switch {
	case l.head == 0:
		l.size = firstSlice
		l.head = a.slice(l.size)
		l.pos, l.end = l.head, l.head+l.size-linkSize
	case l.pos == l.end:
		l.size = longer(l.size)
		next := a.slice(l.size)
		link := a.at(l.end)
		link[0], link[1], link[2], link[3] = byte(next), byte(next>>8), byte(next>>16), byte(next>>24)
		l.pos, l.end = next, next+l.size-linkSize
	}
	a.at(l.pos)[0] = b
	l.pos++
}

// postingReader goes through a list.
type postingReader struct {
	doc   uint32 // the document that next has come to
	times uint8  // how often the term is in it

	a    *arena
	rest []byte // of this slice, its link included
	size uint32
	left uint32 // documents to come
}

func (l *list) read(a *arena) postingReader {
	r := postingReader{a: a, left: l.n, size: firstSlice}
	if l.n > 0 {
		r.rest = a.at(l.head)[:firstSlice]
	}
	return r
}

// next goes on to the next document; false if there is none.
func (r *postingReader) next() bool {
	if r.left == 0 {
		return false
	}
	r.left--
	b := r.byte()
	v := uint64(b & 0x7f)
	for shift := 7; b >= 0x80; shift += 7 {
		b = r.byte()
		v |= uint64(b&0x7f) << shift
	}
	r.times = 1
	if v&1 != 0 {
		r.times = r.byte()
	}
	r.doc += uint32(v >> 1)
	return true
}

// addTo adds to times how often the term is in each document to come. A query for
// a short prefix spends nearly all its time here, so postings of at most 4 bytes
// that lie before the link, the usual ones, are read in a loop of their own.
func (r *postingReader) addTo(times []uint32) {
	for r.left > 0 {
		p, doc, left, i := r.rest, r.doc, r.left, 0
		for left > 0 && i < len(p)-linkSize-3 {
			n, v := i+1, uint32(p[i])
			if v >= 1<<7 {
				v = v&(1<<7-1) | uint32(p[i+1])<<7
				n++
				if v >= 1<<14 {
					v = v&(1<<14-1) | uint32(p[i+2])<<14
					n++
					if v >= 1<<21 {
						break
					}
				}
			}
			doc += v >> 1
			if v&1 == 0 {
				times[doc]++
			} else {
				times[doc] += uint32(p[n])
				n++
			}
			i = n
			left--
		}
		r.rest, r.doc, r.left = p[i:], doc, left
		if r.next() {
			times[r.doc] += uint32(r.times)
		}
	}
}

func (r *postingReader) byte() byte {
	if len(r.rest) == linkSize {
		next := uint32(r.rest[0]) | uint32(r.rest[1])<<8 | uint32(r.rest[2])<<16 | uint32(r.rest[3])<<24
		r.size = longer(r.size)
		r.rest = r.a.at(next)[:r.size]
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}
