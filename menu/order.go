package menu

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"
)

// listed is a file or directory of a listing.
type listed struct {
	name string
	dir  bool
}

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

// newestFirst puts sorted names that begin with a date in reverse order, if most
// of the names do, as in a phlog. Directories stay first, and what has no date
// comes after what has one.
func newestFirst(names []listed) {
	n := 0
	for _, l := range names {
		if beginsWithDate(l.name) {
			n++
		}
	}
	if n < 2 || 2*n <= len(names) {
		return
	}
	files := slices.IndexFunc(names, func(l listed) bool { return !l.dir })
	if files < 0 {
		files = len(names)
	}
	for _, part := range [][]listed{names[:files], names[files:]} {
		slices.SortStableFunc(part, func(a, b listed) int {
			switch x, y := beginsWithDate(a.name), beginsWithDate(b.name); {
			case x && !y:
				return -1
			case y && !x:
				return 1
			case x:
				return -strings.Compare(dateKey(a.name), dateKey(b.name))
			}
			return 0
		})
	}
}

// beginsWithDate reports whether a name begins with a year and a month, and maybe
// a day, from 1900 to 2099, with or without "-", "_" or "." between them.
func beginsWithDate(name string) bool { return dateKey(name) != "" }

// dateKey returns the digits of the date that a name begins with.
func dateKey(name string) string {
	year, rest := number(name, 4, 1900, 2099)
	if year == "" {
		return ""
	}
	month, rest := number(strings.TrimLeft(rest[:min(1, len(rest))], "-_.")+rest[min(1, len(rest)):], 2, 1, 12)
	if month == "" {
		return ""
	}
	after := rest
	if len(after) > 0 && strings.IndexByte("-_.", after[0]) >= 0 {
		after = after[1:]
	}
	if day, tail := number(after, 2, 1, 31); day != "" && (tail == "" || !isDigit(tail[0])) {
		return year + month + day
	}
	if rest != "" && isDigit(rest[0]) {
		return ""
	}
	return year + month
}

// number cuts a number of so many digits off, if it lies between low and high.
func number(s string, digits, low, high int) (found, rest string) {
	if len(s) < digits {
		return "", s
	}
	n := 0
	for i := range digits {
		if !isDigit(s[i]) {
			return "", s
		}
		n = n*10 + int(s[i]-'0')
	}
	if n < low || n > high {
		return "", s
	}
	return s[:digits], s[digits:]
}
