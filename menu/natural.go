package menu

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// Names are ordered as people do: numbers by their value ("2" before "10"),
// letters of ASCII in either case alike, and the rest by bytes. Names that are
// alike so far are ordered by bytes, so that no two names are equal.
//
// To compare two names so takes a walk along both. A listing compares each name
// with a dozen others, so each is walked along once, to make a key: the order of
// the keys by bytes is that of the names.

// appendKey appends the key of a name. A number becomes a "0", since a digit is
// what it stands for beside other bytes, how many digits it has without leading
// zeros, and these. The name itself comes last, after the least byte.
func appendKey(b []byte, name string) []byte {
	for rest := name; rest != ""; {
		if !isDigit(rest[0]) {
			b, rest = append(b, lower(rest[0])), rest[1:]
			continue
		}
		var number string
		number, rest = cutNumber(rest)
		b = append(b, '0', byte(min(len(number), math.MaxUint8)))
		if len(number) >= math.MaxUint8 {
			b = binary.BigEndian.AppendUint32(b, uint32(len(number)))
		}
		b = append(b, number...)
	}
	return append(append(b, 0), name...)
}

// sortNames puts directories first, and each kind in the order of its keys.
func sortNames(names []listed) {
	dirs := 0
	for i, l := range names {
		if l.dir {
			names[i], names[dirs] = names[dirs], l
			dirs++
		}
	}
	sortAlike(names[:dirs])
	sortAlike(names[dirs:])
}

// ranked stands for a name while names are sorted: with a number for the first
// bytes of its key that may differ, and no pointers, which would be told to the
// garbage collector whenever it is moved.
type ranked struct {
	head uint64
	at   int // which name it is
}

func sortAlike(names []listed) {
	if len(names) < 2 {
		return
	}
	keys := newKeys(names)
	skip := keys.common()
	order := make([]ranked, len(names))
	for i := range names {
		var head [8]byte
		copy(head[:], keys.of(i)[skip:])
		order[i] = ranked{binary.BigEndian.Uint64(head[:]), i}
	}
	slices.SortFunc(order, func(a, b ranked) int {
		if a.head != b.head {
			return cmp.Compare(a.head, b.head)
		}
		return bytes.Compare(keys.of(a.at), keys.of(b.at))
	})
	unsorted := slices.Clone(names)
	for i, r := range order {
		names[i] = unsorted[r.at]
	}
}

// keys are those of some names, one after the other.
type keys struct {
	text []byte
	ends []int
}

func newKeys(names []listed) keys {
	size := 0
	for _, l := range names {
		size += 2*len(l.name) + len("00000\x00")
	}
	k := keys{make([]byte, 0, size), make([]int, len(names))}
	for i, l := range names {
		k.text = appendKey(k.text, l.name)
		k.ends[i] = len(k.text)
	}
	return k
}

func (k keys) of(i int) []byte {
	if i == 0 {
		return k.text[:k.ends[0]]
	}
	return k.text[k.ends[i-1]:k.ends[i]]
}

// common returns how many bytes all keys begin with alike.
func (k keys) common() int {
	first := k.of(0)
	n := len(first)
	for i := range k.ends {
		key := k.of(i)
		n = min(n, len(key))
		for !bytes.Equal(first[:n], key[:n]) {
			n--
		}
	}
	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// lower makes a capital of ASCII small.
func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// cutNumber returns the digits that s begins with, without leading zeros, and what
// follows them.
func cutNumber(s string) (number, rest string) {
	i := 0
	for i < len(s) && s[i] == '0' {
		i++
	}
	j := i
	for j < len(s) && isDigit(s[j]) {
		j++
	}
	return s[i:j], s[j:]
}
