package kit_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/robots/kit"
	"github.com/gophd/gophd/robots/readers"
)

// stands says which model stands for a program.
var stands = map[string]string{"google": "google", "google-raw": "google-raw", "cpython": "first-match", "cpython-main": "longest-match", "gopher-mcp": "gopher-mcp"}

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
					t.Errorf("%s: %s as %s: %q is %c, the model says %c\n%s", c.Name, name, c.Agents[a], c.Selectors[i], w, got[a][i], c.Robots)
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
		for _, d := range []string{"gopher-strict", "1994"} {
			compare(c, d, c.Readers[d], c.Dialects[d])
		}
		compare(c, "rfc9309", c.Readers["rfc9309-raw"], c.Dialects["rfc9309"])
	}
	for name, n := range asked {
		if n < 3000 {
			t.Errorf("%s: only %d decisions", name, n)
		}
	}
	if len(asked) != len(stands)+3 {
		t.Errorf("compared %v", asked)
	}
}

// question is a case of somebody's tests.
type question struct {
	Source, Dialect   string
	Robots            string
	Agent, URL        string
	Allow             bool
	RobotsB64, URLB64 []byte
}

func (q *question) UnmarshalJSON(data []byte) error {
	var j struct {
		Source, Dialect, Robots, Agent, URL string
		Allow                               bool
		RobotsB64                           []byte `json:"robots_b64"`
		URLB64                              []byte `json:"url_b64"`
	}
	err := json.Unmarshal(data, &j)
	*q = question{j.Source, j.Dialect, j.Robots, j.Agent, j.URL, j.Allow, j.RobotsB64, j.URLB64}
	if q.RobotsB64 != nil {
		q.Robots = string(q.RobotsB64)
	}
	if q.URLB64 != nil {
		q.URL = string(q.URLB64)
	}
	return err
}

func questions(t *testing.T, file string) (list []question) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var q question
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			t.Fatal(err)
		}
		list = append(list, q)
	}
	return list
}

// TestAgreement writes the table of doc/agreement.md again, and compares; -update
// puts it there.
func TestAgreement(t *testing.T) {
	var b strings.Builder
	b.WriteString(agreementHead)
	programsOnOurs(t, &b)
	b.WriteString("\n## Ours on their tests\n\nWhat each of our readers makes of the cases that the programs are tested with.\n\n")
	oursOnTheirs(t, &b)
	programsChecked(t, &b)
	const file = "../../doc/agreement.md"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if old, err := os.ReadFile(file); err != nil || string(old) != b.String() {
		t.Errorf("doc/agreement.md is not\n%s\n(make kit-check writes it)", b.String())
	}
}

const agreementHead = `# Who reads a robots.txt as whom

Made by ` + "`make kit-check`" + ` from answers that were recorded (robots/kit/testdata,
robots/kit/cases.jsonl): google/robotstxt@22b355f, CPython 3.11.7's urllib.robotparser and
that of its main branch ("cpython-main" in the kit, main@055a953), scrapy/protego@81f1b35,
and cameronrye/gopher-mcp@43f5afc. CPython and gopher-mcp follow other standards than RFC
9309: where they differ from it they are not wrong. The models of package robots/readers
that stand for google, CPython and gopher-mcp agree with every recorded answer.

## The programs on our cases

`

// checked is what make kit-check recorded.
type checked struct {
	Date     string
	Programs []struct {
		Name           string
		Kit, Generated [2]int
	}
}

// programsChecked is a row for each program that was had when make kit-check ran.
func programsChecked(t *testing.T, b *strings.Builder) {
	var c checked
	text, err := os.ReadFile("testdata/checked.json")
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil || len(c.Programs) < 4 {
		t.Fatalf("%d programs, %v", len(c.Programs), err)
	}
	fmt.Fprintf(b, "\n## Programs asked on %s\n\nEach was asked about the selectors of the kit, escaped as paths, and about 25 paths in each\nof 200 generated files; agreement is with our reader of RFC 9309.\n\n| program | the kit | generated files |\n| --- | --- | --- |\n", c.Date)
	for _, p := range c.Programs {
		fmt.Fprintf(b, "| %s | %d of %d | %d of %d |\n", p.Name, p.Kit[0], p.Kit[1], p.Generated[0], p.Generated[1])
	}
	b.WriteString("\nThe robotstxt crates, crawler-commons and Google's own program are asked if KIT_PARSERS\nnames commands for them: test/kitcheck says what those read and write.\n")
}

// TestVersionsAreRecorded: doc/agreement.md names no version of which no decision is
// recorded.
func TestVersionsAreRecorded(t *testing.T) {
	recorded := ""
	for _, name := range []string{"testdata/programs.json", "testdata/others.jsonl", "testdata/checked.json"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		recorded += string(text)
	}
	page, err := os.ReadFile("../../doc/agreement.md")
	if err != nil {
		t.Fatal(err)
	}
	versions := regexp.MustCompile(`@[0-9a-f]{7}|[0-9]+\.[0-9]+\.[0-9]+`).FindAllString(string(page), -1)
	if len(versions) < 10 {
		t.Errorf("only %d versions on the page", len(versions))
	}
	for _, v := range versions {
		if !strings.Contains(recorded, v) {
			t.Errorf("%s is not recorded", v)
		}
	}
}

// programsOnOurs is a row for each set of cases of ours.
func programsOnOurs(t *testing.T, b *strings.Builder) {
	var recorded struct {
		Order   []string
		Answers map[string]string
	}
	text, err := os.ReadFile("testdata/programs.json")
	if err == nil {
		err = json.Unmarshal(text, &recorded)
	}
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(b, "| cases | %s |\n| --- |%s\n", strings.Join(recorded.Order, " | "), strings.Repeat(" --- |", len(recorded.Order)))
	for _, set := range []string{"rfc9309", "standard-1994", "gopher-2019"} {
		agree, asked := make([]int, len(recorded.Order)), make([]int, len(recorded.Order))
		for _, q := range questions(t, filepath.Join("../testdata", set+".jsonl")) {
			sum := sha256.Sum256(bytes.Join([][]byte{[]byte(q.Robots), []byte(q.Agent), []byte(q.URL)}, []byte{0}))
			for i, answer := range []byte(recorded.Answers[fmt.Sprintf("%x", sum[:8])]) {
				if answer != '-' {
					asked[i]++
					agree[i] += same((answer == '1') == q.Allow)
				}
			}
		}
		fmt.Fprintf(b, "| %s.jsonl |", set)
		for i := range agree {
			fmt.Fprintf(b, " %d of %d |", agree[i], asked[i])
		}
		b.WriteString("\n")
	}
	list, err := kit.Cases()
	if err != nil {
		t.Fatal(err)
	}
	b.WriteString("| the kit, by our reader of RFC 9309 |")
	for _, program := range recorded.Order {
		agree, asked := 0, 0
		for _, c := range list {
			for a, row := range c.Programs[program] {
				for i, answer := range []byte(row) {
					if answer != '-' {
						asked++
						agree += same(answer == c.Readers["rfc9309"][a][i])
					}
				}
			}
		}
		fmt.Fprintf(b, " %d of %d |", agree, asked)
	}
	b.WriteString("\n")
}

func same(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// oursOnTheirs is a row for each set of tests of theirs.
func oursOnTheirs(t *testing.T, b *strings.Builder) {
	list := questions(t, "testdata/others.jsonl")
	var sources []string
	for _, q := range list {
		if !slices.Contains(sources, q.Source) {
			sources = append(sources, q.Source)
		}
	}
	columns := []string{"rfc9309-raw", "google-raw", "1994", "first-match", "gopher-mcp"}
	fmt.Fprintf(b, "| tests of | cases | %s |\n| --- | --- |%s\n", strings.Join(columns, " | "), strings.Repeat(" --- |", len(columns)))
	for _, source := range sources {
		agree, n := make([]int, len(columns)), 0
		for _, q := range list {
			if q.Source != source {
				continue
			}
			n++
			for i, name := range columns {
				m, _ := readers.Named(name)
				agree[i] += same(m.Read([]byte(q.Robots)).Allowed(q.Agent, q.URL) == q.Allow)
			}
		}
		fmt.Fprintf(b, "| %s | %d |", source, n)
		for _, a := range agree {
			fmt.Fprintf(b, " %d |", a)
		}
		b.WriteString("\n")
	}
}
