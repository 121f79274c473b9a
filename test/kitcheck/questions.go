package main

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/kit"
	"github.com/gophd/gophd/robots/readers"
)

// question is one question to the parsers, with the answer of package robots.
type question struct {
	Robots []byte `json:"robots"`
	Agent  string `json:"agent"`
	Path   string `json:"path"`

	want      bool
	generated bool
}

// hashOf names a list of questions.
func hashOf(all []question) string {
	h := sha256.New()
	for _, q := range all {
		_, _ = fmt.Fprintf(h, "%q %q %q\n", q.Robots, q.Agent, q.Path)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// questions takes the kit, with selectors escaped as paths, and generated files.
func questions() (all []question, err error) {
	cases, err := kit.Cases()
	for _, c := range cases {
		if c.Together != nil {
			continue // about a robot of more than one name, which no other parser knows
		}
		for i, agent := range c.Agents {
			for j, sel := range c.Selectors {
				if strings.HasPrefix(sel, "/") {
					path := string(readers.URI.Append(nil, sel))
					all = append(all, question{c.Robots, agent, path,
						c.Readers["rfc9309"][i][j] == '1', false})
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
	for _, agent := range [][]string{{"*"}, {"foo"}, {"*", "foo"},
		{"foo", "bar", "*"}}[rnd.IntN(4)] {
		fmt.Fprintf(&b, "User-agent: %s\n", agent)
		for range 1 + rnd.IntN(5) {
			fmt.Fprintf(&b, "%s: /%s%s\n", []string{"Disallow", "Disallow", "Allow"}[rnd.IntN(3)],
				piece(rnd, 3), []string{"", "", "*", "$", "/*b", "*.html$"}[rnd.IntN(6)])
		}
		b.WriteString([]string{"", "\n", "# note\n", "Crawl-delay: 5\n\n"}[rnd.IntN(4)])
	}
	return []byte(b.String())
}

func piece(rnd *rand.Rand, most int) string {
	var b strings.Builder
	for range rnd.IntN(most + 1) {
		b.WriteString([]string{"a", "b", "/", "a/", ".html", "%7E", "~", "%2F", "?", "b=a",
			"%C3%A9"}[rnd.IntN(11)])
	}
	return b.String()
}

// commands lists the programs that answer questions.
func commands() (list [][]string) {
	for _, p := range strings.Fields(cmp.Or(os.Getenv("PYTHONS"), "python3")) {
		list = append(list, []string{p, "-c", python, "robotparser"},
			[]string{p, "-c", python, "protego"})
	}
	for own := range strings.SplitSeq(os.Getenv("KIT_PARSERS"), ";") {
		if words := strings.Fields(own); len(words) > 0 {
			list = append(list, words)
		}
	}
	return append(list, []string{"node", "-e", node}, []string{"node", "-e", pyodide, python},
		[]string{"bin/robots-answer", "temoto"}, []string{"bin/robots-answer", "jimsmart"})
}

// ask runs one program on all questions.
func ask(command []string, all []question) (p askedProgram, err error) {
	var in, out, errs bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, q := range all {
		if err := enc.Encode(q); err != nil {
			return p, err
		}
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, &errs
	if err := cmd.Run(); err != nil {
		last := strings.Split(strings.TrimSpace(errs.String()), "\n")
		return p, fmt.Errorf("%w: %.80s", err, last[len(last)-1])
	}
	lines := bufio.NewScanner(&out)
	lines.Buffer(nil, out.Len()+1)
	lines.Scan()
	p.Name = lines.Text()
	lines.Scan()
	p.Answers = lines.Text()
	if len(p.Answers) != len(all) || strings.Trim(p.Answers, "-01") != "" {
		return p, errors.New("it does not answer every question")
	}
	return p, nil
}
