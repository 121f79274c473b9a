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

// overTree has directories with far more to say than a robots.txt has room for.
func overTree(dirs int) *Dir {
	root := &Dir{}
	for u := range dirs {
		d := &Dir{Name: fmt.Sprintf("u%03d", u)}
		var note []byte
		for i := range 400 {
			d.Files = append(d.Files, fmt.Sprintf("file-%04d-a.txt", i), fmt.Sprintf("file-%04d-b.txt", i))
			note = fmt.Appendf(note, "Disallow: /file-%04d-a.txt\n", i)
		}
		d.Notes = []*Annotation{{File: d.Name + "/.robots", Data: note}}
		root.Dirs = append(root.Dirs, d)
	}
	return root
}

// overChanged gives the tree with one annotation in it written anew.
func overChanged(root *Dir, i int) *Dir {
	r, d := *root, *root.Dirs[i%len(root.Dirs)]
	d.Notes = []*Annotation{{File: d.Name + "/.robots", Data: fmt.Appendf(nil, "Disallow: /file-%04d-b.txt\n", i%400)}}
	r.Dirs = slices.Clone(r.Dirs)
	r.Dirs[i%len(r.Dirs)] = &d
	return &r
}

func BenchmarkCompileOver(b *testing.B) {
	root := overTree(700)
	b.ReportAllocs()
	for b.Loop() {
		c := Compile(root, nil)
		b.ReportMetric(float64(len(c.File())), "octets")
	}
}

func BenchmarkChangeOver(b *testing.B) {
	root := overTree(700)
	c := Compile(root, nil)
	i := 0
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		i++
		root = overChanged(root, i)
		c = Compile(root, c)
	}
}
