package proof_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/gophd/gophd/policy/internal/proof"
)

// largeTree has users with directories of ten files each, of which the first
// some have annotations.
func largeTree(users, each, annotated int) (root *dir, file string) {
	root = &dir{}
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	var bare strings.Builder
	for u := range users {
		user := &dir{name: fmt.Sprintf("~u%05d", u)}
		for d := range each {
			sub := &dir{name: fmt.Sprintf("d%02d", d)}
			for f := range 10 {
				sub.files = append(sub.files, fmt.Sprintf("f%d.txt", f))
			}
			user.dirs = append(user.dirs, sub)
		}
		if u < annotated {
			user.notes = []proof.Note{{File: user.name + "/.robots", Data: []byte("Disallow: /d00/\n")}}
			fmt.Fprintf(&b, "Disallow: /%s/d00/\n", user.name)
			fmt.Fprintf(&bare, "Disallow: %s/d00/\n", user.name)
		}
		root.dirs = append(root.dirs, user)
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
			root.notes = []proof.Note{{File: ".robots", Data: []byte("Disallow: /*.zip$\n")}}
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
				changed.dirs = append([]*dir{}, root.dirs...)
				user := *root.dirs[5000]
				user.notes = []proof.Note{{File: user.name + "/.robots", Data: []byte("Disallow: /" + to + "/\n")}}
				changed.dirs[5000] = &user
				first = check(&changed, strings.ReplaceAll(file, user.name+"/d00/", user.name+"/"+to+"/"), first)
			}
		})
	}
}
