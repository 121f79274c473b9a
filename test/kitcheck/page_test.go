package main

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/robots/kit"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// theirCase is a case of the tests of another program.
type theirCase struct {
	Source, Dialect, Robots, Agent, URL string
	Allow                               bool

	RobotsB64 []byte `json:"robots_b64"` // Robots, if it is no UTF-8
	URLB64    []byte `json:"url_b64"`
}

func readCases(t *testing.T, file string) (list []theirCase) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var q theirCase
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			t.Fatal(err)
		}
		if q.RobotsB64 != nil {
			q.Robots = string(q.RobotsB64)
		}
		if q.URLB64 != nil {
			q.URL = string(q.URLB64)
		}
		list = append(list, q)
	}
	return list
}

var update = flag.Bool("update", false, "write doc/agreement.md again")

// TestAgreement writes the table of doc/agreement.md again, and compares; -update
// puts it there.
func TestAgreement(t *testing.T) {
	var b strings.Builder
	b.WriteString(agreementHead)
	programsOnOurs(t, &b)
	b.WriteString("\n## Ours on their tests\n\nWhat each of our readers makes of the cases that the programs are tested with.\n\n")
	oursOnTheirs(t, &b)
	programsAsked(t, &b)
	lintCompared(t, &b)
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

Made by ` + "`make kit-check`" + ` from answers that were recorded (test/kitcheck/testdata,
robots/kit/cases.jsonl): google/robotstxt@22b355f, CPython 3.11.7's urllib.robotparser and
that of its main branch ("cpython-main" in the kit, main@055a953), scrapy/protego@81f1b35,
and cameronrye/gopher-mcp@43f5afc. CPython and gopher-mcp follow other standards than RFC
9309: where they differ from it they are not wrong. The models of package robots/readers
that stand for these programs agree with every recorded answer.

## The programs on our cases

`

// rowOf says which row of the table of readers stands for a program. The proof of what
// gophd generates reads the same table (readers.All).
var rowOf = map[string]string{
	"google/robotstxt@22b355f": "google-raw", "CPython 3.11.7": "first-match",
	"CPython 3.13.0": "first-match",
	"CPython 3.14.2": "first-match-3.14-raw", "CPython 3.15.0rc1": "longest-match-raw",
	"protego 0.6.1": "protego", "temoto/robotstxt v1.1.2": "temoto",
}

// programsAsked is a line for each program whose decisions make kit-check recorded.
func programsAsked(t *testing.T, b *strings.Builder) {
	text, err := os.ReadFile("testdata/decisions.json")
	var r kitRecord
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	all, err2 := questions()
	if err = errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	if got := hashOf(all); got != r.Questions {
		t.Fatalf("the questions are %s, the recorded decisions are of %s: run make kit-check",
			got, r.Questions)
	}
	fmt.Fprintf(b, programsHead, len(all))
	stood := 0
	for _, p := range r.Programs {
		row, known := readers.Named(rowOf[p.Name])
		n := slices.IndexFunc(all, func(q question) bool { return q.generated })
		byRow := "none"
		if known {
			stood++
			byRow = row.Name
			asked, sent := all, func(q question) string { return q.Path }
			switch row.Forms[0] {
			case readers.Parted: // it escapes selectors itself
				asked, sent = all[:n], func(q question) string { return selector.Decoded(q.Path) }
			case readers.URI: // as paths are escaped
				row.Forms = []readers.Form{readers.Raw}
			}
			n, first := agreed(p, asked, func(q question) bool {
				return row.Read(q.Robots).Allowed(q.Agent, sent(q))
			})
			if n += strings.Count(p.Answers[:len(asked)], "-"); n < len(asked) {
				t.Errorf("%s: its row %s agrees with %d of %d, and not of %s about %q in\n%s",
					p.Name, row.Name, n, len(asked), first.Agent, first.Path, first.Robots)
			}
		}
		ours := func(q question) bool { return q.want }
		ofKit, _ := agreed(p, all[:n], ours)
		ofOthers, _ := agreed(askedProgram{Answers: p.Answers[n:]}, all[n:], ours)
		fmt.Fprintf(b, "| %s | %s | %d of %d | %d of %d | %s |\n", p.Name, p.Date, ofKit, n,
			ofOthers, len(all)-n, byRow)
	}
	if stood != len(rowOf) {
		t.Errorf("of %d programs with a row %d are recorded", len(rowOf), stood)
	}
}

const programsHead = `
## Programs asked

Each was asked %d questions: about the selectors of the kit, escaped as paths, and about 25
paths in each of 200 generated files. The numbers say how often it agrees with our reader
of RFC 9309. Where the last column names a row of robots/readers, the row gives the answer
of the program to every question that it answers (protego's, which escapes selectors itself,
to those of the kit), which a test checks; the proof of the file that gophd generates reads
the same rows. KIT_PARSERS named the commands that ask google/robotstxt, crawler-commons and
the Rust crate, which were built from their sources. texting_robots, another crate, was not
asked: crates.io could not be reached.

temoto/robotstxt, with which colly reads robots.txt, looks for a pattern with * or $ anywhere
in a path, so that "Allow: /$" opens to it every directory that no longer pattern denies.
Such a pattern is as long as the regular expression that it makes of it, in which a . counts
twice. Of patterns as long, the first in the file decides. A group is for the robots whose
names begin with its name. Reports name it where that lets it in.

| program | asked on | the kit | generated files | its row |
| --- | --- | --- | --- | --- |
`

// agreed counts the questions that a program answers in the same way, and returns the
// first that it does not.
func agreed(p askedProgram, all []question, want func(question) bool) (n int, first question) {
	for i, q := range all {
		if p.Answers[i] == '1' && want(q) || p.Answers[i] == '0' && !want(q) {
			n++
		} else if first.Path == "" {
			first = q
		}
	}
	return n, first
}

// classes says why robots/lint and Lighthouse differ about a line, by the code of lint, or
// by the message of Lighthouse where lint says nothing.
var classes = map[string]string{
	"G1-ABSENT, once for the file": "the file is a web page, or has no line for robots: one diagnostic says so",
	"SITEMAP":                      "both",
	"R5-NEVER":                     "both, of patterns without a slash; lint also of a rule that another always overrules",
	"R8-OUTSIDE":                   "both; lint names the first rule before any group",
	"No user-agent specified":      "the further rules before any group, which lint leaves out",
	"R3-AGENT (notice)":            "a name with a version or words behind it: robots compare the first word",
	"R3-AGENT":                     "a list of names on one line, or a name that no robot has",
	"R3-DUPLICATE (notice)":        "a robot that is named twice: its groups are combined",
	"R9-UNKNOWN-FIELD":             "fields that Lighthouse lets pass and no robot reads any more, such as Host and Noindex",
	"R5-DUPLICATE":                 "the same rule twice",
	"R5-DUPLICATE (notice)":        "the same rule twice, with other escapes",
	"R2-BLANK (notice)":            "a blank in a pattern",
	"S5-EMPTY (notice)":            "an empty pattern beside rules",
	"R9-SWALLOWED":                 "a group of Crawl-delay alone, or of nothing, which joins the next one",
	"R1-EMPTY-GROUP (notice)":      "a group without rules",
	"R10-BYTES (notice)":           "a byte order mark, or bytes that are no UTF-8",
	"R6-ESCAPE":                    "a % that begins no escape",
}

// lintCompared writes the section on Lighthouse.
func lintCompared(t *testing.T, b *strings.Builder) {
	var r lintRecord
	text, err := os.ReadFile("testdata/lint.json")
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil || r.Files < lintFiles {
		t.Fatalf("%d files, %v", r.Files, err)
	}
	said, both := 0, 0
	for _, c := range r.Classes {
		if c.Theirs != "" {
			if said += c.Lines; c.Ours != "" {
				both += c.Lines
			}
		}
	}
	fmt.Fprintf(b, lintHead, r.Files, r.Source, r.Program, r.Date, said, both)
	for _, c := range r.Classes {
		why := classes[cmp.Or(c.Ours, c.Theirs)]
		if why == "" {
			t.Errorf("%+v: why?", c)
		}
		fmt.Fprintf(b, "| %s | %s | %d | %d | %s |\n", cmp.Or(c.Theirs, "nothing"),
			cmp.Or(c.Ours, "nothing"), c.Lines, c.Files, why)
	}
}

const lintHead = `
## Lint beside Lighthouse

%d real files (%s, evenly chosen by name), judged by
robots/lint and by the robots.txt audit of %s on %s. Of %d lines
that Lighthouse reports lint reports %d, or the file that they are in. Lint judges each rule
by what robots make of it, Lighthouse by its form alone.

| Lighthouse | robots/lint | lines | files | why |
| --- | --- | --- | --- | --- |
`

// TestAge: decisions of more than six months ago are named when kit-check runs.
func TestAge(t *testing.T) {
	r := kitRecord{Programs: []askedProgram{{Name: "old", Date: "2026-05-01"},
		{Name: "new", Date: "2026-11-01"}, {Name: "odd"}}}
	said := r.age(time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC))
	if strings.Count(said, "\n") != 2 ||
		!strings.Contains(said, ": old was asked on 2026-05-01, more than six months ago\n") ||
		strings.Contains(said, ": new") {
		t.Error(said)
	}
}

// TestVersionsAreRecorded: doc/agreement.md names no version of which no decision is
// recorded.
func TestVersionsAreRecorded(t *testing.T) {
	recorded := ""
	for _, name := range []string{"testdata/programs.json", "testdata/others.jsonl",
		"testdata/decisions.json", "testdata/lint.json"} {
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
	fmt.Fprintf(b, "| cases | %s |\n| --- |%s\n", strings.Join(recorded.Order, " | "),
		strings.Repeat(" --- |", len(recorded.Order)))
	for _, set := range []string{"rfc9309", "standard-1994", "gopher-2019"} {
		agree, asked := make([]int, len(recorded.Order)), make([]int, len(recorded.Order))
		for _, q := range readCases(t, filepath.Join("../../robots/testdata", set+".jsonl")) {
			sum := sha256.Sum256(bytes.Join([][]byte{[]byte(q.Robots), []byte(q.Agent),
				[]byte(q.URL)}, []byte{0}))
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
	list := readCases(t, "testdata/others.jsonl")
	var sources []string
	for _, q := range list {
		if !slices.Contains(sources, q.Source) {
			sources = append(sources, q.Source)
		}
	}
	columns := []string{"rfc9309-raw", "google-raw", "1994", "first-match", "protego", "gopher-mcp"}
	fmt.Fprintf(b, "| tests of | cases | %s |\n| --- | --- |%s\n", strings.Join(columns, " | "),
		strings.Repeat(" --- |", len(columns)))
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
