package proof_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/gophd/gophd/policy/internal/prooftest"
)

// largeTree has users with directories of ten files each, of which the first
// some have annotations.
func largeTree(users, each, annotated int) (root *prooftest.Dir, file string) {
	root = &prooftest.Dir{}
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	var bare strings.Builder
	for u := range users {
		user := &prooftest.Dir{Name: fmt.Sprintf("~u%05d", u)}
		for d := range each {
			sub := &prooftest.Dir{Name: fmt.Sprintf("d%02d", d)}
			for f := range 10 {
				sub.Files = append(sub.Files, fmt.Sprintf("f%d.txt", f))
			}
			user.Dirs = append(user.Dirs, sub)
		}
		if u < annotated {
			user.Text = "Disallow: /d00/\n"
			fmt.Fprintf(&b, "Disallow: /%s/d00/\n", user.Name)
			fmt.Fprintf(&bare, "Disallow: %s/d00/\n", user.Name)
		}
		root.Dirs = append(root.Dirs, user)
	}
	return root, b.String() + bare.String()
}

// BenchmarkCheck proves 1,100,000 names in 110,000 directories of 10,000 users,
// each with an annotation of one rule: as a whole, and again after one of them
// changed; with rules that reach the user's directory, and with a glob that reaches
// all.
func BenchmarkCheck(b *testing.B) {
	for _, glob := range []bool{false, true} {
		root, file := largeTree(10000, 10, 10000)
		if glob {
			root.Text = "Disallow: /*.zip$\n"
			file = strings.Replace(file, "\n", "\nDisallow: *.zip$\nDisallow: /*.zip$\n", 1)
		}
		first := check(root, file, nil)
		b.Run(fmt.Sprintf("whole/glob=%t", glob), func(b *testing.B) {
			for b.Loop() {
				check(root, file, nil)
			}
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.HeapAlloc>>20), "MiB")
		})
		b.Run(fmt.Sprintf("change/glob=%t", glob), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				to := fmt.Sprintf("d%02d", 1+i%9)
				changed := *root
				changed.Dirs = append([]*prooftest.Dir{}, root.Dirs...)
				user := *root.Dirs[5000]
				user.Text = "Disallow: /" + to + "/\n"
				changed.Dirs[5000] = &user
				first = check(&changed, strings.ReplaceAll(file, user.Name+"/d00/", user.Name+"/"+to+"/"), first)
			}
		})
	}
}
