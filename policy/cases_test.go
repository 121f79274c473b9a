package policy

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// inputOf makes annotations of texts, by the names of their files.
func inputOf(notes map[string]string) (in Input) {
	for file, text := range notes {
		in.Annotations = append(in.Annotations, annotation(file, text))
	}
	return in
}

func annotation(file, text string) Annotation {
	return Annotation{Dir: "/" + file[:strings.LastIndexByte(file, '/')+1], File: file,
		Data: []byte(text)}
}

func compileOf(notes map[string]string) *Compiled {
	return Compile(inputOf(notes))
}

// reads returns what a dialect or a reader makes of a file.
func reads(t *testing.T, name string, file []byte, agent string) func(string) bool {
	t.Helper()
	if d, err := readers.ParseDialect(name); err == nil {
		return robots.Parse(d, file).Agent(agent).Allowed
	}
	r, ok := readers.Named(name)
	if !ok {
		t.Fatalf("no reader is called %q", name)
	}
	return r.Read(file).Agent(agent).Allowed
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
				t.Errorf("%s: %s called %s takes %s as allowed: %v\n%s", c.Why, k.Reader, k.Agent,
					k.Selector, got, compiled.File())
			}
		}
	}
	if checks < 46 {
		t.Errorf("%d checks", checks)
	}
}
