package proof

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func large(tops, dirs int, root, line string) Input {
	var in Input
	var star, weak strings.Builder
	if root != "" {
		in.Notes = append(in.Notes, Note{Dir: "/", File: ".robots", Data: []byte(root)})
	}
	for i := range tops {
		for j := range dirs {
			dir := fmt.Sprintf("/u%03d/d%03d/", i, j)
			in.Notes = append(in.Notes, Note{Dir: dir, File: dir[1:] + ".robots", Data: []byte(line)})
			fmt.Fprintf(&star, "Disallow: %sprivate/\nDisallow: %sprivate/\n", dir, dir[1:])
			fmt.Fprintf(&weak, "Disallow: %sprivate/\nDisallow: %sprivate/\n", dir, dir[1:])
		}
	}
	in.File = []byte("User-agent: *\n" + star.String() + root + "\nUser-agent: veronica\n" + weak.String() + "Disallow: /.robots\n")
	in.Closed = func(_, _ string) bool { return true }
	return in
}

func BenchmarkCold(b *testing.B) {
	in := large(100, 100, "", "Disallow: /private/\n")
	b.ReportAllocs()
	for b.Loop() {
		r := Check(in, nil)
		if r.Rows[2].Leaks > 0 {
			b.Log(r.Rows, len(r.Findings), r.Findings[0])
		}
	}
}

func BenchmarkEdit(b *testing.B) {
	in := large(100, 100, "", "Disallow: /private/\n")
	prev := Check(in, nil)
	other := in
	other.Notes = slices.Clone(in.Notes)
	other.Notes[777].Data = []byte("Disallow: /private/\nDisallow: /privatf/\n")
	b.ReportAllocs()
	for b.Loop() {
		Check(other, prev)
	}
}
