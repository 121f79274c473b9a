package policy

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkCompile measures a full compile with its proof, of sites whose policy is large.
func BenchmarkCompile(b *testing.B) {
	finals := map[string]string{".robots": rulesOf(60, "Final: /*/secret%02d/\n")}
	for i := range 50 {
		finals[fmt.Sprintf("~user%04d/.robots", i)] = rulesOf(160,
			"Allow: /public/directory%03d/\n")
	}
	chain := map[string]string{}
	for i := range 10_000 {
		chain[fmt.Sprintf("~u%02d/%03d/.robots", i%100, i/100)] = "Disallow: /private/\n"
	}
	const two = "Disallow: /private/\nAllow: /private/pub/\n"
	for _, site := range []struct {
		name  string
		notes map[string]string
	}{
		{"200 homes", many(200, two)},
		{"2,000 homes", many(2000, two)},
		{"8,000 homes", many(8000, two)},
		{"10,000 directories below 100", chain},
		{"300 homes with lists", lists(300)},
		{"5,000 homes with lists", lists(5000)},
		{"5,000 homes that name a robot each", own(5000)},
		{"50 homes with 160 Allows below 60 Finals", finals},
		{"100,000 homes", many(100_000, "Disallow: /x\n")},
	} {
		b.Run(site.name, func(b *testing.B) {
			in := inputOf(site.notes)
			b.ReportAllocs()
			for b.Loop() {
				c := Compile(in)
				b.ReportMetric(float64(len(c.File()))/1024, "KiB")
				b.ReportMetric(float64(len(c.joined)), "joined")
				b.ReportMetric(float64(len(c.shut)), "denied")
			}
		})
	}
}

// own are homes that each name a robot of their own.
func own(homes int) map[string]string {
	notes := map[string]string{}
	for i := range homes {
		notes[fmt.Sprintf("~user%04d/.robots",
			i)] = fmt.Sprintf("Disallow: /drafts/\nDisallow: /private/\nUser-agent: robot%04d\nDisallow: /\n", i)
	}
	return notes
}

// lists are homes that each have one of 30 variants of a list of 160 names.
func lists(homes int) map[string]string {
	const variants, names = 30, 160
	notes := map[string]string{}
	for i := range homes {
		var b strings.Builder
		b.WriteString("Disallow: /drafts/\nDisallow: /private/\n")
		for j := range names {
			if (i%variants*7+j*13)%names >= 10 {
				_, _ = fmt.Fprintf(&b, "User-agent: bot%03d-crawler\n", j)
			}
		}
		notes[fmt.Sprintf("~user%04d/.robots", i)] = b.String() + "Disallow: /\n"
	}
	return notes
}
