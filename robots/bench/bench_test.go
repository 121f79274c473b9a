package bench

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/robots"
	"github.com/jimsmart/grobotstxt"
	"github.com/temoto/robotstxt"
)

// matchers are what is compared; each is made ready before the clock starts.
func matchers(file string) map[string]func(string) bool {
	data := []byte(file)
	own := robots.Parse(robots.RFC9309, data)
	other, err := robotstxt.FromBytes(data)
	if err != nil {
		panic(err)
	}
	return map[string]func(string) bool{
		"robots":   func(s string) bool { return own.Allowed(agent, s) },
		"temoto":   func(s string) bool { return other.TestAgent(s, agent) },
		"jimsmart": func(s string) bool { return grobotstxt.AgentAllowed(file, agent, s) },
		"linear":   NewLinear(file).Allowed,
	}
}

// loop measures f, and the CPU time that it takes: compare that, since it does
// not depend on what else the machine does.
func loop(b *testing.B, f func(i int)) {
	b.ReportAllocs()
	began := cpuTime(b)
	for i := 0; b.Loop(); i++ {
		f(i)
	}
	b.ReportMetric(float64(cpuTime(b)-began)/float64(b.N), "cpu-ns/op")
}

// cpuTime is what this process has used of the processors.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func run(b *testing.B, name, file string, selectors ...string) {
	for matcher, allowed := range matchers(file) {
		b.Run(name+"/"+matcher, func(b *testing.B) {
			for range 3 { // the second question makes the index
				allowed(selectors[0])
			}
			loop(b, func(i int) { allowed(selectors[i%len(selectors)]) })
		})
	}
}

// literalFile has n rules without wildcards.
func literalFile(n int) string {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := range n {
		fmt.Fprintf(&b, "Disallow: /users/u%d/private/\n", i*7919%n)
	}
	return b.String()
}

// mixedFile looks like the files of the web: groups, comments, blanks, globs.
func mixedFile(groups int) string {
	var b strings.Builder
	for i := range groups {
		fmt.Fprintf(&b, "# robot number %d\nUser-agent: robot%d\nDisallow: /search?q=*\nDisallow: /private/%d/ # keep out\n"+
			"Allow: /private/%d/index.html$\nCrawl-delay: 5\n\n", i, i, i, i)
	}
	b.WriteString("User-agent: *\nDisallow: /cgi-bin/\nSitemap: http://example.org/sitemap.xml\n")
	return b.String()
}

func wildcardFile() string {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "Disallow: /*/area%d/*.html\n", i)
	}
	return b.String()
}

func BenchmarkParse(b *testing.B) {
	data := []byte(mixedFile(3000))
	b.Run("robots", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		loop(b, func(int) { robots.Parse(robots.RFC9309, data) })
	})
	b.Run("temoto", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		loop(b, func(int) {
			if _, err := robotstxt.FromBytes(data); err != nil {
				b.Fatal(err)
			}
		})
	})
}

// BenchmarkFirst is the first question to a file of 500 KiB: read it and ask once.
// To jimsmart and google every question is one.
func BenchmarkFirst(b *testing.B) {
	const path = "/users/u5/private/notes.txt"
	for name, file := range map[string]string{
		"literal": literalFile(20_000)[:500<<10], "mixed": mixedFile(4_000)[:500<<10],
		"wildcards": strings.Repeat(wildcardFile(), 25)[:500<<10],
	} {
		data := []byte(file)
		for matcher, ask := range map[string]func(){
			"robots":   func() { robots.Parse(robots.RFC9309, data).Allowed(agent, path) },
			"jimsmart": func() { grobotstxt.AgentAllowed(file, agent, path) },
			"temoto": func() {
				f, err := robotstxt.FromBytes(data)
				if err != nil {
					b.Fatal(err)
				}
				f.TestAgent(path, agent)
			},
		} {
			b.Run(name+"/"+matcher, func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				loop(b, func(int) { ask() })
			})
		}
		b.Run(name+"/google", func(b *testing.B) { benchmarkGoogle(b, file, path) })
	}
}

func BenchmarkLiteral(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		selectors := make([]string, 1024)
		for i := range selectors {
			selectors[i] = fmt.Sprintf("/users/u%d/private/notes.txt", i*104729%(2*n))
		}
		run(b, fmt.Sprint(n), literalFile(n), selectors...)
	}
}

func BenchmarkWildcards(b *testing.B) {
	path := ("/archive/area77x/" + strings.Repeat("chapter-and-verse/", 6))[:95] + ".html"
	run(b, "1000", wildcardFile(), path)
}

func BenchmarkHostile(b *testing.B) {
	file := "User-agent: *\nDisallow: /" + strings.Repeat("*a", 500) + "b\n"
	run(b, "500-stars", file, "/"+strings.Repeat("a", 2000))
	run(b, "512000-stars", "User-agent: *\nDisallow: /"+strings.Repeat("*", 500<<10)+"b\n",
		"/"+strings.Repeat("a", 2000))
}

// TestSameAnswers keeps the comparison honest: all say the same.
func TestSameAnswers(t *testing.T) {
	for _, file := range []string{literalFile(1000), wildcardFile()} {
		all := matchers(file)
		for i := range 2000 {
			for _, s := range []string{fmt.Sprintf("/users/u%d/private/x", i),
				fmt.Sprintf("/x/area%d/y.html", i)} {
				got := all["robots"](s)
				for name, allowed := range all {
					if name == "jimsmart" && i%100 > 0 {
						continue // it reads the file for each
					}
					if allowed(s) != got {
						t.Fatalf("%q: robots says %v, %s %v", s, got, name, !got)
					}
				}
			}
		}
	}
}
