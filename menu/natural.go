package menu

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
)

// Names are ordered as people do: numbers by their value ("2" before "10"),
// letters of ASCII in either case alike, and the rest by octets. Names that are
// alike so far are ordered by octets, so that no two names are equal.
//
// To compare two names so takes a walk along both. A listing compares each name
// with a dozen others, so each is walked along once, to make a key: the order of
// the keys by octets is that of the names.

// appendKey appends the key of a name. A number becomes a "0", since a digit is
// what it stands for beside other octets, how many digits it has without leading
// zeros, and these. The name itself comes last, after the least octet.
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

// keyed is a name with its key.
type keyed struct {
	key string
	listed
}

// sortNames puts directories first, and each kind in the order of its keys.
func sortNames(names []listed) {
	size := 0
	for _, l := range names {
		size += 2*len(l.name) + len("d00000\x00")
	}
	text := make([]byte, 0, size)
	ends := make([]int, len(names))
	for i, l := range names {
		kind := byte('f')
		if l.dir {
			kind = 'd'
		}
		text = appendKey(append(text, kind), l.name)
		ends[i] = len(text)
	}
	list := make([]keyed, len(names))
	keys, start := string(text), 0
	for i, end := range ends {
		list[i], start = keyed{keys[start:end], names[i]}, end
	}
	slices.SortFunc(list, func(a, b keyed) int { return strings.Compare(a.key, b.key) })
	for i, k := range list {
		names[i] = k.listed
	}
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
