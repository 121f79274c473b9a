package proof

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkCheck proves the file of homes that each have two lines.
func BenchmarkCheck(b *testing.B) {
	for _, homes := range []int{200, 2000, 8000} {
		in := Input{}
		var file strings.Builder
		file.WriteString("User-agent: *\n")
		for i := range homes {
			dir := fmt.Sprintf("/~user%04d/", i)
			in.Notes = append(in.Notes,
				Note{Dir: dir, File: dir[1:] + ".robots",
					Data: []byte("Disallow: /drafts/\nDisallow: /private/\n")})
			fmt.Fprintf(&file, "Disallow: %sdrafts/\nDisallow: %sprivate/\n", dir, dir)
		}
		in.File = []byte(file.String())
		b.Run(fmt.Sprint(homes), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if r := Check(in); len(r.Findings) > 0 {
					b.Fatal(r.Findings[0])
				}
			}
		})
	}
}

// BenchmarkGlobs proves a file of 600 patterns with stars and 9,000 Allows.
func BenchmarkGlobs(b *testing.B) {
	var text, file strings.Builder
	file.WriteString("User-agent: *\n")
	for i := range 600 {
		fmt.Fprintf(&text, "Disallow: /*g%dx/\n", i)
		fmt.Fprintf(&file, "Disallow: /d/*g%dx/\n", i)
	}
	for i := range 9000 {
		fmt.Fprintf(&text, "Allow: /a%d/\n", i)
		fmt.Fprintf(&file, "Allow: /d/a%d/\n", i)
	}
	in := Input{Notes: []Note{{Dir: "/d/", File: "d/.robots", Data: []byte(text.String())}},
		File: []byte(file.String())}
	for b.Loop() {
		Check(in)
	}
}

// BenchmarkRobots proves the file of a home that names many robots, one in each group.
func BenchmarkRobots(b *testing.B) {
	for _, robots := range []int{300, 3000} {
		var text, file strings.Builder
		file.WriteString("User-agent: *\nDisallow: /.robots\n\n")
		for i := range robots {
			fmt.Fprintf(&text, "User-agent: bot%04d\nDisallow: /x%d\n", i, i)
			fmt.Fprintf(&file, "User-agent: bot%04d\nDisallow: /~a/x%d\n\n", i, i)
		}
		in := Input{Notes: []Note{{Dir: "/~a/", File: "~a/.robots", Data: []byte(text.String())}},
			File: []byte(file.String())}
		b.Run(fmt.Sprint(robots), func(b *testing.B) {
			for b.Loop() {
				Check(in)
			}
		})
	}
}
