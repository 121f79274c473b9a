package kit_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/gophd/gophd/robots/kit"
)

var update = flag.Bool("update", false, "write the answers of dialects and readers again")

// TestAnswers holds what cases.jsonl says of dialects and readers against them.
func TestAnswers(t *testing.T) {
	list, err := kit.Cases()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 100 {
		t.Fatalf("only %d cases", len(list))
	}
	var b bytes.Buffer
	for _, c := range list {
		fresh := c
		fresh.Fill()
		if !*update && (!reflect.DeepEqual(c.Dialects, fresh.Dialects) ||
			!reflect.DeepEqual(c.Readers, fresh.Readers) ||
			!reflect.DeepEqual(c.Usage, fresh.Usage) || !maps.Equal(c.Together, fresh.Together)) {
			t.Errorf("%s: the answers are (go test ./robots/kit -update writes them)\n%v\n%v, in the kit\n%v\n%v", c.Name, fresh.Dialects, fresh.Readers, c.Dialects, c.Readers)
		}
		text, err := json.Marshal(fresh)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(text, '\n'))
	}
	if *update {
		if err := os.WriteFile("cases.jsonl", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kit")
	own := kit.Case{Name: "own", Robots: []byte("User-agent: *\nDisallow: /a\xff\n"),
		Agents: []string{"x"}, Selectors: []string{"/a", "/b<", ""}}
	own.Fill()
	if err := kit.Write(dir, []kit.Case{own}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "tree.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var read kit.Case
	if err := json.Unmarshal(text, &read); err != nil || !reflect.DeepEqual(read, own) {
		t.Errorf("wrote %+v, read %+v, %v", own, read, err)
	}
	for _, name := range []string{"README.md", "cases.jsonl", "irc.jsonl"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if err := kit.Write(dir, nil); err == nil {
		t.Error("it overwrites what is there")
	}
}

// stands says which model stands for a program.
var stands = map[string]string{"google": "google", "google-raw": "google-raw",
	"cpython": "first-match", "cpython-main": "longest-match-raw", "protego": "protego",
	"gopher-mcp": "gopher-mcp"}

// TestModels holds the models against recorded decisions of the programs that they
// stand for, and against the dialects.
func TestModels(t *testing.T) {
	asked := map[string]int{}
	compare := func(c *kit.Case, name string, got, want []string) {
		for a, row := range want {
			for i, w := range []byte(row) {
				if w == '-' {
					continue
				}
				if asked[name]++; got[a][i] != w {
					t.Errorf("%s: %s as %s: %q is %c, the model says %c\n%s", c.Name, name,
						c.Agents[a], c.Selectors[i], w, got[a][i], c.Robots)
				}
			}
		}
	}
	list, err := kit.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		c := &list[i]
		for program, model := range stands {
			compare(c, program, c.Readers[model], c.Programs[program])
		}
		compare(c, "gopher-strict", c.Readers["gopher-strict"], c.Dialects["gopher-strict"])
		compare(c, "rfc9309", c.Readers["rfc9309-raw"], c.Dialects["rfc9309"])
	}
	for name, n := range asked {
		if n < 3000 {
			t.Errorf("%s: only %d decisions", name, n)
		}
	}
	if len(asked) != len(stands)+2 {
		t.Errorf("compared %v", asked)
	}
}
