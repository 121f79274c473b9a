package main

import "strings"

// nearest gives the name that was probably meant: the one with the fewest
// octets changed, put in or left out, if that is less than half of it and no
// more than two. Of a name of two words the second may have been typed alone.
// It is "" if there is none.
func nearest(typed string, names []string) string {
	best, least := "", 3
	for _, name := range names {
		_, word, two := strings.Cut(name, " ")
		if !two {
			word = name
		}
		if d := distance(typed, word); d < least && 2*d < len(word) {
			best, least = name, d
		}
	}
	return best
}

// distance is that of Levenshtein, but two neighbours that have changed places
// count as one change. Names that differ much in length are not compared.
func distance(a, b string) int {
	if len(a) > len(b)+2 || len(b) > len(a)+2 {
		return len(a) + len(b)
	}
	var before, last []int
	for i := range len(a) + 1 {
		row := make([]int, len(b)+1)
		for j := range row {
			switch {
			case i == 0 || j == 0:
				row[j] = i + j
				continue
			case a[i-1] == b[j-1]:
				row[j] = last[j-1]
			default:
				row[j] = 1 + min(last[j-1], last[j], row[j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
