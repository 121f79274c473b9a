// Command kitcheck is "make kit-check": it asks every robots.txt parser that can be had on
// this machine about the kit and about 200 generated files, and records how often each
// agrees with package robots in robots/kit/testdata/checked.json, from which the test of
// robots/kit makes doc/agreement.md.
//
// PYTHONS names the interpreters (python3), NODE_PATH where robots-parser lies, and
// KIT_PARSERS further commands, separated by semicolons, that read and write what
// answer.py does.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/kit"
	"github.com/gophd/gophd/robots/readers"
)

//go:embed answer.py
var python string

//go:embed answer.js
var node string

const (
	recordFile = "robots/kit/testdata/checked.json"
	maxAge     = 183 * 24 * time.Hour
)

// question is one question to the parsers, with the answer of package robots.
type question struct {
	Robots []byte `json:"robots"`
	Agent  string `json:"agent"`
	Path   string `json:"path"`

	want      bool
	generated bool
}

// kitRecord is the stored result of a run.
type kitRecord struct {
	Date     string        `json:"date"`
	Programs []askedParser `json:"programs"`
}

type askedParser struct {
	Name      string `json:"name"` // with its version
	Kit       [2]int `json:"kit"`  // agreed, asked
	Generated [2]int `json:"generated"`
}

func main() {
	if text, err := os.ReadFile(recordFile); err == nil {
		var old kitRecord
		if at, err := time.Parse(time.DateOnly, dateOf(text, &old)); err == nil && time.Since(at) > maxAge {
			fmt.Printf("doc/agreement.md is of %s, older than six months\n", old.Date)
		}
	}
	all, err := questions()
	if err != nil {
		log.Fatal(err)
	}
	next := kitRecord{Date: time.Now().UTC().Format(time.DateOnly)}
	for _, command := range commands() {
		p, err := ask(command, all)
		if err != nil {
			fmt.Printf("left out: %s: %v\n", command[0]+" "+command[len(command)-1][:min(20, len(command[len(command)-1]))], err)
			continue
		}
		if slices.ContainsFunc(next.Programs, func(o askedParser) bool { return o.Name == p.Name }) {
			continue // two interpreters have the same protego
		}
		fmt.Printf("%s: the kit %d of %d, generated %d of %d\n", p.Name, p.Kit[0], p.Kit[1], p.Generated[0], p.Generated[1])
		next.Programs = append(next.Programs, p)
	}
	if len(next.Programs) == 0 {
		log.Fatal("no parser can be had here; nothing is written")
	}
	text, err := json.MarshalIndent(next, "", "\t")
	if err == nil {
		err = os.WriteFile(recordFile, append(text, '\n'), 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func dateOf(text []byte, r *kitRecord) string {
	_ = json.Unmarshal(text, r)
	return r.Date
}

// commands lists the programs that answer questions.
func commands() (list [][]string) {
	for _, p := range strings.Fields(cmp.Or(os.Getenv("PYTHONS"), "python3")) {
		list = append(list, []string{p, "-c", python, "robotparser"}, []string{p, "-c", python, "protego"})
	}
	for own := range strings.SplitSeq(os.Getenv("KIT_PARSERS"), ";") {
		if words := strings.Fields(own); len(words) > 0 {
			list = append(list, words)
		}
	}
	return append(list, []string{"node", "-e", node}, []string{"bin/robots-answer", "temoto"}, []string{"bin/robots-answer", "jimsmart"})
}

// ask runs one program on all questions.
func ask(command []string, all []question) (askedParser, error) {
	var in, out, errs bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, q := range all {
		if err := enc.Encode(q); err != nil {
			return askedParser{}, err
		}
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, &errs
	if err := cmd.Run(); err != nil {
		last := strings.Split(strings.TrimSpace(errs.String()), "\n")
		return askedParser{}, fmt.Errorf("%w: %.80s", err, last[len(last)-1])
	}
	lines := bufio.NewScanner(&out)
	lines.Buffer(nil, out.Len()+1)
	lines.Scan()
	p := askedParser{Name: lines.Text()}
	if lines.Scan(); len(lines.Text()) != len(all) {
		return p, errors.New("it does not answer every question")
	}
	for i, digit := range lines.Bytes() {
		sum := &p.Kit
		if all[i].generated {
			sum = &p.Generated
		}
		if sum[1]++; digit == '1' && all[i].want || digit == '0' && !all[i].want {
			sum[0]++
		}
	}
	return p, nil
}

// questions takes the kit, with selectors escaped as paths, and generated files.
func questions() (all []question, err error) {
	cases, err := kit.Cases()
	for _, c := range cases {
		for i, agent := range c.Agents {
			for j, sel := range c.Selectors {
				if strings.HasPrefix(sel, "/") {
					path := string(readers.URI.Append(nil, sel))
					all = append(all, question{c.Robots, agent, path, c.Readers["rfc9309"][i][j] == '1', false})
				}
			}
		}
	}
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		file := generated(rnd)
		f := robots.Parse(robots.RFC9309, file)
		for range 25 {
			path, agent := "/"+piece(rnd, 4), []string{"foo", "foobar", "zed"}[rnd.IntN(3)]
			all = append(all, question{file, agent, path, f.Allowed(agent, path), true})
		}
	}
	return all, err
}

// generated makes a file as people write them.
func generated(rnd *rand.Rand) []byte {
	var b strings.Builder
	for _, agent := range [][]string{{"*"}, {"foo"}, {"*", "foo"}, {"foo", "bar", "*"}}[rnd.IntN(4)] {
		fmt.Fprintf(&b, "User-agent: %s\n", agent)
		for range 1 + rnd.IntN(5) {
			fmt.Fprintf(&b, "%s: /%s%s\n", []string{"Disallow", "Disallow", "Allow"}[rnd.IntN(3)], piece(rnd, 3), []string{"", "", "*", "$", "/*b", "*.html$"}[rnd.IntN(6)])
		}
		b.WriteString([]string{"", "\n", "# note\n", "Crawl-delay: 5\n\n"}[rnd.IntN(4)])
	}
	return []byte(b.String())
}

func piece(rnd *rand.Rand, most int) string {
	var b strings.Builder
	for range rnd.IntN(most + 1) {
		b.WriteString([]string{"a", "b", "/", "a/", ".html", "%7E", "~", "%2F", "?", "b=a", "%C3%A9"}[rnd.IntN(11)])
	}
	return b.String()
}
