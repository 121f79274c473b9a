package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots/readers"
)

// compiled is a question about a file that gophd compiled, with the answer of the policy.
type compiled struct {
	question
	Allow bool     // by the policy
	Named []string // the rows of readers that a report names at the rule that decides
}

// readsAs returns the row of package readers that describes a program, or "": the answers of
// programs without a row are counted, and fail no test. Since May 2026 CPython 3.13 and 3.14
// read as 3.15 does.
func readsAs(program string) string {
	for prefix, row := range map[string]string{
		"CPython 3.11": "first-match", "CPython 3.12": "first-match",
		"CPython 3.13.0": "first-match", "CPython 3.14.0": "first-match-3.14",
		"CPython 3.14.1": "first-match-3.14", "CPython 3.14.2": "first-match-3.14",
		"CPython 3.15": "longest-match",
		"google/":      "google", "jimsmart/": "google", "protego": "protego", "temoto/": "temoto",
		"gopher-mcp": "gopher-mcp",
	} {
		if strings.HasPrefix(program, prefix) {
			return row
		}
	}
	return ""
}

// mayAsk reports whether a program that reads as a row asks by a name: a row of one robot
// stands for that robot alone.
func mayAsk(row, agent string) bool {
	r, _ := readers.Named(row)
	if slices.ContainsFunc(readers.All(), func(o readers.Reader) bool { return o.Agent == agent }) {
		return r.Agent == agent
	}
	return r.Agent == ""
}

// askCompiled asks all programs about compiled files. It fails if a program with a row is
// let in where the policy denies and no report names the row.
func askCompiled(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	var all []compiled
	var asked []question
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var q compiled
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return err
		}
		all, asked = append(all, q), append(asked, q.question)
	}
	unnamed := 0
	for _, command := range commands() {
		p, err := ask(command, asked)
		if err != nil {
			fmt.Printf("cannot be had: %.20q\n", command[0])
			continue
		}
		row, asked, leaks, named, blocks, errors := readsAs(p.Name), 0, 0, 0, 0, 0
		for i, q := range all {
			if !mayAsk(row, q.Agent) {
				continue
			}
			asked++
			switch {
			case p.Answers[i] == '-':
				errors++
			case q.Allow && p.Answers[i] == '0':
				blocks++
			case q.Allow || p.Answers[i] == '0':
			case slices.Contains(q.Named, row):
				named++
			default:
				if leaks++; row != "" && leaks < 4 {
					fmt.Printf("%s as %s is let into %s by\n%s\n", p.Name, q.Agent,
						q.Path, q.Robots)
				}
			}
		}
		if row != "" {
			unnamed += leaks
		}
		fmt.Printf("%-40s %-14s asked %d: let in %d (reports name %d); kept out %d; errors %d\n",
			p.Name, row, asked, leaks+named, named, blocks, errors)
	}
	if unnamed > 0 {
		return fmt.Errorf("%d times a program is let in that no report names", unnamed)
	}
	return lines.Err()
}
