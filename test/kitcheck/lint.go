package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/lint"
)

//go:embed lighthouse.js
var lighthouse string

const (
	lintFile  = "test/kitcheck/testdata/lint.json"
	lintFiles = 300
)

// lintRecord says what robots/lint and Lighthouse's audit of robots.txt report of the
// same files.
type lintRecord struct {
	Program string      `json:"program"` // with its version
	Date    string      `json:"date"`
	Source  string      `json:"source"` // of the files
	Files   int         `json:"files"`
	Classes []lintClass `json:"classes"`
}

// lintClass counts the lines about which lint and Lighthouse report these two things; "" is
// no report.
type lintClass struct {
	Theirs string `json:"theirs"`
	Ours   string `json:"ours"`
	Lines  int    `json:"lines"`
	Files  int    `json:"files"`
}

// compareLint reads files of a directory, evenly chosen by name, and records the classes.
func compareLint(dir, source string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) < lintFiles {
		return fmt.Errorf("%d files in %s, want %d: %w", len(names), dir, lintFiles, err)
	}
	step := len(names) / lintFiles
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	var files [][]byte
	for i := range lintFiles {
		text, err := os.ReadFile(names[i*step])
		if err == nil {
			err = enc.Encode(text)
		}
		if err != nil {
			return err
		}
		files = append(files, text)
	}
	cmd := exec.Command("node", "-e", lighthouse)
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	judged := strings.Split(strings.TrimSpace(string(out)), "\n")
	r := lintRecord{Program: judged[0], Date: time.Now().UTC().Format(time.DateOnly),
		Source: source, Files: len(files)}
	for i, file := range files {
		var theirs []struct {
			Line    int
			Message string
		}
		if err := json.Unmarshal([]byte(judged[i+1]), &theirs); err != nil {
			return err
		}
		said := map[int]string{}
		for _, t := range theirs {
			said[t.Line] = t.Message
		}
		r.count(said, lint.File(robots.Parse(robots.RFC9309, file)))
	}
	slices.SortFunc(r.Classes, func(a, b lintClass) int {
		return cmp.Or(cmp.Compare(min(len(b.Theirs), 1), min(len(a.Theirs), 1)),
			cmp.Compare(b.Lines, a.Lines), strings.Compare(a.Theirs+a.Ours, b.Theirs+b.Ours))
	})
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(lintFile, append(text, '\n'), 0o644)
}

// count takes one file: what they said, by line, and what lint found.
func (r *lintRecord) count(theirs map[int]string, found []diag.Diagnostic) {
	ours := map[int][]string{}
	whole := "" // said of the file, in place of its lines
	for _, d := range found {
		code := d.Code
		if d.Severity == diag.Notice {
			code += " (notice)"
		}
		if d.Line == 0 && !strings.HasSuffix(d.Code, "SIZE") {
			whole = code + ", once for the file"
		}
		if !slices.Contains(ours[d.Line], code) {
			ours[d.Line] = append(ours[d.Line], code)
		}
	}
	here := map[lintClass]int{}
	for line, message := range theirs {
		here[lintClass{Theirs: message, Ours: cmp.Or(whole, strings.Join(ours[line], ", "))}]++
		delete(ours, line)
	}
	for _, codes := range ours {
		for _, code := range codes {
			if !strings.HasPrefix(whole, code) {
				here[lintClass{Ours: code}]++
			}
		}
	}
	for class, n := range here {
		i := slices.IndexFunc(r.Classes, func(c lintClass) bool {
			return c.Theirs == class.Theirs && c.Ours == class.Ours
		})
		if i < 0 {
			i = len(r.Classes)
			r.Classes = append(r.Classes, class)
		}
		r.Classes[i].Lines += n
		r.Classes[i].Files++
	}
}
