// Command kitcheck is "make kit-check": it asks every robots.txt parser that can be had on
// this machine about the kit and about 200 generated files, and records each decision in
// test/kitcheck/testdata/decisions.json, from which its test makes doc/agreement.md. Of a
// parser that cannot be had, the decisions that were recorded stay, as long as the
// questions are the same.
//
// LINT_FILES names a directory of real files, and LINT_SOURCE where they come from: kitcheck
// judges 300 of them with robots/lint and with Lighthouse, and asks no parser.
//
// COMPILED names a file with questions about compiled files, from make kit-trees: kitcheck
// counts where the parsers are let in, and records nothing.
//
// PYTHONS names the interpreters (python3), NODE_PATH where robots-parser and pyodide
// (CPython for node) lie, and KIT_PARSERS further commands, separated by semicolons, that
// read and write what answer.py does.
package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"time"
)

//go:embed answer.py
var python string

//go:embed answer.js
var node string

//go:embed pyodide.js
var pyodide string

const (
	recordFile = "test/kitcheck/testdata/decisions.json"
	maxAge     = 183 * 24 * time.Hour
)

// kitRecord holds the decisions of all programs.
type kitRecord struct {
	Questions string         `json:"questions"` // their hash
	Programs  []askedProgram `json:"programs"`
}

type askedProgram struct {
	Name    string `json:"name"` // with its version
	Date    string `json:"date"`
	Answers string `json:"answers"` // a digit for each question: 1 may be fetched, 0 not, - an error
}

func main() {
	if dir := os.Getenv("LINT_FILES"); dir != "" {
		if err := compareLint(dir, os.Getenv("LINT_SOURCE")); err != nil {
			log.Fatal(err)
		}
		return
	}
	if file := os.Getenv("COMPILED"); file != "" {
		if err := askCompiled(file); err != nil {
			log.Fatal(err)
		}
		return
	}
	all, err := questions()
	if err != nil {
		log.Fatal(err)
	}
	var old kitRecord
	if text, err := os.ReadFile(recordFile); err == nil {
		if err := json.Unmarshal(text, &old); err != nil {
			log.Fatal(recordFile, ": ", err)
		}
	}
	now := time.Now().UTC()
	fmt.Print(old.age(now))
	next := kitRecord{Questions: hashOf(all)}
	for _, command := range commands() {
		p, err := ask(command, all)
		if err != nil {
			fmt.Printf("cannot be had: %.60q: %v\n",
				strings.Join(slices.DeleteFunc(command, func(word string) bool {
					return strings.Contains(word, "\n")
				}), " "), err)
			continue
		}
		p.Date = now.Format(time.DateOnly)
		next.add(p)
	}
	if len(next.Programs) == 0 {
		log.Fatal("no parser can be had here; nothing is written")
	}
	for _, p := range old.Programs {
		if old.Questions == next.Questions && next.add(p) {
			fmt.Printf("%s: as recorded on %s\n", p.Name, p.Date)
		} else if old.Questions != next.Questions {
			fmt.Printf("%s: its decisions are of other questions\n", p.Name)
		}
	}
	slices.SortFunc(next.Programs, func(a, b askedProgram) int {
		return strings.Compare(a.Name, b.Name)
	})
	text, err := json.MarshalIndent(next, "", "\t")
	if err == nil {
		err = os.WriteFile(recordFile, append(text, '\n'), 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// add takes the decisions of a program, unless it has some of the same name: two
// interpreters have the same protego. It reports whether it took them.
func (r *kitRecord) add(p askedProgram) bool {
	if slices.ContainsFunc(r.Programs, func(o askedProgram) bool { return o.Name == p.Name }) {
		return false
	}
	r.Programs = append(r.Programs, p)
	return true
}

// age returns a line for each program whose decisions are older than six months.
func (r *kitRecord) age(now time.Time) string {
	var b strings.Builder
	for _, p := range r.Programs {
		if at, err := time.Parse(time.DateOnly, p.Date); err != nil || now.Sub(at) > maxAge {
			fmt.Fprintf(&b, "doc/agreement.md: %s was asked on %s, more than six months ago\n",
				p.Name, p.Date)
		}
	}
	return b.String()
}
