package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// largeTree has 100,000 directories of ten files each, and 10,000 annotations in
// those of the users.
func largeTree() *Dir {
	files := make([]string, 10)
	for i := range files {
		files[i] = fmt.Sprintf("f%d.txt", i)
	}
	notes := []string{"Disallow: /\n", "Disallow: /\n", "Disallow: /f3.txt\n", "Disallow: /\n", "Allow: /f1.txt\n"}
	root := &Dir{Files: files}
	n := 0
	for u := range 2000 {
		user := &Dir{Name: fmt.Sprintf("~%d", u), Files: files}
		for k := range 49 {
			d := &Dir{Name: fmt.Sprintf("d%d", k), Files: files}
			if n++; n%10 < 1 || n%500 == 1 {
				d.Notes = []*Annotation{{File: user.Name + "/" + d.Name + "/.robots", Data: []byte(notes[n/10%len(notes)])}}
			}
			user.Dirs = append(user.Dirs, d)
		}
		slices.SortFunc(user.Dirs, func(a, b *Dir) int { return strings.Compare(a.Name, b.Name) })
		root.Dirs = append(root.Dirs, user)
	}
	slices.SortFunc(root.Dirs, func(a, b *Dir) int { return strings.Compare(a.Name, b.Name) })
	return root
}

// changed gives the tree with one annotation in it written anew.
func changed(root *Dir, user, dir int, text string) *Dir {
	r, u := *root, *root.Dirs[user]
	d := *u.Dirs[dir]
	d.Notes = []*Annotation{{File: u.Name + "/" + d.Name + "/.robots", Data: []byte(text)}}
	u.Dirs = append([]*Dir(nil), u.Dirs...)
	u.Dirs[dir] = &d
	r.Dirs = append([]*Dir(nil), r.Dirs...)
	r.Dirs[user] = &u
	return &r
}

func BenchmarkCompile(b *testing.B) {
	root := largeTree()
	b.ReportAllocs()
	for b.Loop() {
		c := Compile(root, nil)
		b.ReportMetric(float64(len(c.File())), "octets")
		b.ReportMetric(float64(len(c.Unproven())), "leaks")
	}
}

func BenchmarkChange(b *testing.B) {
	root := largeTree()
	c := Compile(root, nil)
	i := 0
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		i++
		root = changed(root, i%2000, 3, fmt.Sprintf("Disallow: /file%02d.txt\n", i%10))
		c = Compile(root, c)
	}
}
