package robots

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/gophd/gophd/robots/readers"
)

// literalFile has n rules without wildcards, as a generated file has them.
func literalFile(n int) []byte {
	var b bytes.Buffer
	b.WriteString("User-agent: *\n")
	for i := range n {
		fmt.Fprintf(&b, "Disallow: /users/u%d/private/\n", i*7919%n)
	}
	return b.Bytes()
}

// mixedFile looks like the files of the web: groups, comments, blanks, globs.
func mixedFile(groups int) []byte {
	var b bytes.Buffer
	for i := range groups {
		fmt.Fprintf(&b, "# robot number %d\nUser-agent: robot%d\nDisallow: /search?q=*\nDisallow: /private/%d/ # keep out\n"+
			"Allow: /private/%d/index.html$\nCrawl-delay: 5\n\n", i, i, i, i)
	}
	b.WriteString("User-agent: *\nDisallow: /cgi-bin/\nSitemap: http://example.org/sitemap.xml\n")
	return b.Bytes()
}

func wildcardFile() []byte {
	var b bytes.Buffer
	b.WriteString("User-agent: *\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "Disallow: /*/area%d/*.html\n", i)
	}
	return b.Bytes()
}

// hostileFiles are made to be slow to answer.
func hostileFiles() map[string]string {
	var keys strings.Builder
	for i := range 58_000 {
		fmt.Fprintf(&keys, ", k%d=y", i)
	}
	return map[string]string{
		"pieces": "Disallow: /" + strings.Repeat("*a", 500) + "b\n",
		"stars":  "Disallow: /" + strings.Repeat("*", 500<<10) + "b\n",
		"usage-lines": strings.ReplaceAll(keys.String()[:400<<10], ", ",
			"\nContent-Usage: ") + "\n",
		"usage-keys": "Content-Usage: a=y" + keys.String() + "\n",
		"escapes":    strings.Repeat("Disallow: /*a*a*a*a*a*a*a*a*N%2Fb\n", 15_000),
		"groups":     strings.Repeat("User-agent: mybot\nAllow: /b\n", 12_500),
	}
}

func BenchmarkHostile(b *testing.B) {
	for name, rules := range hostileFiles() {
		b.Run(name, func(b *testing.B) {
			f := Parse(RFC9309, []byte("User-agent: *\n"+rules))
			sel := "/q?" + strings.Repeat("a", 2000) + "%2Fb"
			f.Decide("mybot", "/")
			b.ReportAllocs()
			for b.Loop() {
				f.Decide("mybot", sel)
				f.Usage("mybot", sel)
				f.CrawlDelay("mybot")
			}
		})
	}
}

// TestMemory: a file, parsed and indexed, takes at most so many times its size.
// README.md names the figures.
func TestMemory(t *testing.T) {
	for name, most := range map[string]float64{"literal": 5.3, "mixed": 2, "wildcards": 2.4,
		"small groups": 4.2, "small rules": 13, "escapes": 8.8, "usages": 10.4, "shortest": 4.7,
		"stars": 12.8, "bytes": 12.4} {
		data := map[string][]byte{
			"literal": literalFile(100_000), "mixed": mixedFile(20_000),
			"wildcards":    bytes.Repeat(wildcardFile(), 30),
			"small groups": lines("User-agent:%x\nAllow:/\n"),
			"small rules":  append([]byte("User-agent: *\n"), lines("Allow:/%x\n")...),
			"escapes": append([]byte("User-agent: *\n"),
				lines("Allow:/*%%2F*%%2F*%%2F*%%2F%x\n")...),
			"shortest": append([]byte("User-agent: *\n"),
				bytes.Repeat([]byte("Allow:/\n"), 20_000)...),
			"stars":  append([]byte("User-agent: *\n"), lines("Allow:*%x\n")...),
			"bytes":  append([]byte("User-agent: *\n"), lines("Allow:/*\xff%x\n")...),
			"usages": append([]byte("User-agent: *\n"), lines("Content-Usage:/%x search=n\n")...),
		}[name]
		before := heap()
		f := Parse(RFC9309, data)
		for range 3 { // the second question makes the index
			f.Decide("mybot", "/")
			f.Usage("mybot", "/")
		}
		took := heap() - before
		runtime.KeepAlive(f)
		runtime.KeepAlive(data)
		if ratio := float64(took) / float64(len(data)); ratio > most {
			t.Errorf("%s: %d bytes take %d: %.2f times", name, len(data), took, ratio)
		} else {
			t.Logf("%s: %.2f times", name, ratio)
		}
	}
}

func lines(format string) []byte {
	var b bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintf(&b, format, i)
	}
	return b.Bytes()
}

// TestMemoryOfManyRobots: what is kept grows with the file, however many robots
// are asked about and however their groups overlap.
func TestMemoryOfManyRobots(t *testing.T) {
	const robots, rules = 1000, 750
	var shared, own bytes.Buffer
	for i := range robots {
		fmt.Fprintf(&shared, "User-agent: robot%d\n", i)
		fmt.Fprintf(&own, "User-agent: robot%d\nDisallow: /own/%d/\n", i, i)
	}
	for i := range rules {
		fmt.Fprintf(&shared, "Disallow: /private/%d/\n", i)
	}
	for name, data := range map[string][]byte{"one group": shared.Bytes(),
		"a group of its own each": append(shared.Bytes(), own.Bytes()...)} {
		before := heap()
		f := Parse(RFC9309, data)
		for range 3 {
			for i := range robots {
				if f.Allowed(fmt.Sprintf("robot%d", i), "/private/7/") {
					t.Fatalf("robot%d is let in", i)
				}
			}
		}
		took := heap() - before
		runtime.KeepAlive(f)
		if took > 12*int64(len(data)) {
			t.Errorf("%s: %d bytes take %d", name, len(data), took)
		}
		t.Logf("%s: %d bytes take %d", name, len(data), took)
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestDecideAllocatesNothing for a selector and a pattern in normal form, whatever the
// dialect.
func TestDecideAllocatesNothing(t *testing.T) {
	long := strings.Repeat("~", 80)
	data := append(mixedFile(10), wildcardFile()...)
	data = append(data, "User-agent: robot3\nDisallow: /glob/*"+strings.Repeat("~", 80)+"*x\n"...)
	for _, d := range readers.Dialects() {
		f := Parse(d, data)
		for _, sel := range []string{"/private/3/A", "/a/area5/x.html",
			"http://example.org/search?q=1", "", "/private/3/" + long, "/glob/a" + long + "xx"} {
			for range 3 {
				f.Decide("Robot3/1.0", sel)
			}
			if n := testing.AllocsPerRun(100, func() { f.Decide("Robot3/1.0", sel) }); n != 0 {
				t.Errorf("%s: %q: %v allocations", d, sel, n)
			}
		}
	}
}
