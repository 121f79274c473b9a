package policy

import (
	"bufio"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// treeOf makes a tree of annotations and files, by their paths.
func treeOf(annotations map[string]string, files ...string) *Dir {
	root := &Dir{}
	at := func(path string) (*Dir, string) {
		d := root
		elems := strings.Split(path, "/")
		for _, name := range elems[:len(elems)-1] {
			sub := d.sub(name)
			if sub == nil {
				sub = &Dir{Name: name}
				i, _ := slices.BinarySearchFunc(d.Dirs, name, func(d *Dir, name string) int { return strings.Compare(d.Name, name) })
				d.Dirs = slices.Insert(d.Dirs, i, sub)
			}
			d = sub
		}
		return d, elems[len(elems)-1]
	}
	for _, path := range slices.Sorted(maps.Keys(annotations)) {
		d, _ := at(path)
		d.Notes = append(d.Notes, &Annotation{File: path, Data: []byte(annotations[path])})
	}
	for _, path := range files {
		if d, name := at(path); name != "" {
			i, _ := slices.BinarySearch(d.Files, name)
			d.Files = slices.Insert(d.Files, i, name)
		}
	}
	return root
}

func compileOf(annotations map[string]string, files ...string) *Compiled {
	return Compile(Input{Root: treeOf(annotations, files...)}, nil)
}

// reads returns what a dialect or a reader makes of a file.
func reads(t *testing.T, name string, file []byte, agent string) func(string) bool {
	t.Helper()
	if d, err := robots.ParseDialect(name); err == nil {
		return robots.Parse(d, file).Agent(agent).Allowed
	}
	i := slices.IndexFunc(readers.All(), func(m readers.Reader) bool { return m.Name == name })
	if i < 0 {
		t.Fatalf("no reader is called %q", name)
	}
	return readers.All()[i].Read(file).Agent(agent).Allowed
}

func TestCases(t *testing.T) {
	f, err := os.Open("testdata/policy.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	checks := 0
	for s := bufio.NewScanner(f); s.Scan(); {
		var c struct {
			Why         string
			Annotations map[string]string
			Checks      []struct {
				Reader, Agent, Selector string
				Allow                   bool
			}
		}
		if err := json.Unmarshal(s.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		compiled := compileOf(c.Annotations)
		for _, k := range c.Checks {
			checks++
			if got := reads(t, k.Reader, compiled.File(), k.Agent)(k.Selector); got != k.Allow {
				t.Errorf("%s: %s called %s takes %s as allowed: %v\n%s", c.Why, k.Reader, k.Agent, k.Selector, got, compiled.File())
			}
		}
	}
	if checks < 47 {
		t.Errorf("%d checks", checks)
	}
}
