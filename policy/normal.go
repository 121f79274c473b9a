package policy

import "strings"

const (
	hexDigits  = "0123456789ABCDEF"
	unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
	reserved   = ":/?[]@!&'()+,;="
)

var plainOctets, unreservedOctets = octetSet(unreserved + reserved), octetSet(unreserved)

func octetSet(octets string) (set [256]bool) {
	for i := range len(octets) {
		set[octets[i]] = true
	}
	return set
}

// appendNormal appends s in the form in which an RFC 9309 reader compares (R6):
// an escaped octet that need not be escaped is decoded, one that is no part of a
// URI is encoded. Stars and dollars of s are octets, not syntax: they are
// encoded, too.
func appendNormal(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' {
			v, ok := escaped(s[i:])
			if !ok {
				b = append(b, c)
				continue
			}
			c, i = v, i+2
			if unreservedOctets[c] {
				b = append(b, c)
				continue
			}
		} else if plainOctets[c] {
			b = append(b, c)
			continue
		}
		b = append(b, '%', hexDigits[c>>4], hexDigits[c&15])
	}
	return b
}

func normal(s string) string { return string(appendNormal(nil, s)) }

// escaped decodes the %XX that s begins with.
func escaped(s string) (c byte, ok bool) {
	if len(s) < 3 {
		return 0, false
	}
	hi, lo := nibble(s[1]), nibble(s[2])
	return byte(hi<<4 | lo), hi >= 0 && lo >= 0
}

func nibble(c byte) int {
	if 'a' <= c && c <= 'f' {
		c -= 'a' - 'A'
	}
	return strings.IndexByte(hexDigits, c)
}
