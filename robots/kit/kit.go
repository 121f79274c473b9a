// Package kit contains test cases for authors of robots, as JSON: robots.txt files,
// selectors, and the decisions of each dialect and each known reader. README.md, a
// part of the kit, explains how to test another reader with it.
package kit

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// Case is a robots.txt with expected decisions: a string for each of Agents, with a digit for each
// of Selectors: 1 if that robot may fetch it, 0 if it must not, - if there is no expectation.
type Case struct {
	Name      string   `json:"name"`
	Robots    []byte   `json:"-"` // the file; in JSON "robots", or "robots_b64" if it is no UTF-8
	Agents    []string `json:"agents"`
	Selectors []string `json:"selectors"`

	Policy   []string            `json:"policy,omitempty"`   // the decisions of the annotations that the file was compiled from
	Dialects map[string][]string `json:"dialects"`           // by the name of a [robots.Dialect]
	Readers  map[string][]string `json:"readers"`            // by the name of a [readers.Reader]
	Together map[string]string   `json:"together,omitempty"` // by dialect, for one robot: the first of Agents is its name, the others are its categories
	Usage    [][]string          `json:"usage,omitempty"`    // for each agent what Content-Usage lines state of each selector, by RFC 9309
	Programs map[string][]string `json:"programs,omitempty"` // what programs answered, recorded once
}

// answers calls allowed for every agent and selector.
func (c *Case) answers(allowed func(agent, selector string) bool) []string {
	var rows []string
	for _, agent := range c.Agents {
		rows = append(rows, answer(c.Selectors, func(sel string) bool {
			return allowed(agent, sel)
		}))
	}
	return rows
}

func answer(selectors []string, allowed func(selector string) bool) string {
	row := make([]byte, len(selectors))
	for i, sel := range selectors {
		row[i] = '0'
		if allowed(sel) {
			row[i] = '1'
		}
	}
	return string(row)
}

// Fill records the decisions of all dialects that have rules and of all readers.
func (c *Case) Fill() {
	c.Usage = nil
	if f := robots.Parse(readers.RFC9309, c.Robots); slices.ContainsFunc(f.Groups(),
		func(g robots.Group) bool {
			return len(g.Usages) > 0
		}) {
		for _, agent := range c.Agents {
			row := make([]string, len(c.Selectors))
			for i, sel := range c.Selectors {
				row[i] = f.Usage(agent, sel).String()
			}
			c.Usage = append(c.Usage, row)
		}
	}
	c.Dialects, c.Readers, c.Together = map[string][]string{}, map[string][]string{},
		maps.Clone(c.Together)
	for _, d := range readers.Dialects() {
		f := robots.Parse(d, c.Robots)
		c.Dialects[d.String()] = c.answers(f.Allowed)
		if _, asked := c.Together[d.String()]; asked {
			one := robots.Robot{Names: c.Agents[:1], Categories: c.Agents[1:]}
			c.Together[d.String()] = answer(c.Selectors, f.For(one).Allowed)
		}
	}
	for _, m := range readers.All() {
		c.Readers[m.Name] = c.answers(m.Read(c.Robots).Allowed)
	}
}

// plain is Case without its methods.
type plain Case

type jsonCase struct {
	plain
	Text  string `json:"robots,omitempty"`
	Bytes []byte `json:"robots_b64,omitempty"`
}

// MarshalJSON writes the file as text, if it is UTF-8.
func (c Case) MarshalJSON() ([]byte, error) {
	j := jsonCase{plain: plain(c)}
	if utf8.Valid(c.Robots) {
		j.Text = string(c.Robots)
	} else {
		j.Bytes = c.Robots
	}
	return json.Marshal(j)
}

// UnmarshalJSON is the inverse of [Case.MarshalJSON].
func (c *Case) UnmarshalJSON(data []byte) error {
	var j jsonCase
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*c = Case(j.plain)
	if c.Robots = j.Bytes; j.Text != "" {
		c.Robots = []byte(j.Text)
	}
	return nil
}

//go:embed README.md cases.jsonl irc.jsonl
var files embed.FS

// Cases returns the cases of the kit.
func Cases() (list []Case, err error) {
	text, err := files.ReadFile("cases.jsonl")
	for line := range bytes.Lines(text) {
		var c Case
		if err := json.Unmarshal(line, &c); err != nil {
			return nil, fmt.Errorf("case %d: %w", len(list)+1, err)
		}
		list = append(list, c)
	}
	return list, err
}

// Write writes the kit into a directory, which it makes if it is not there:
// README.md, cases.jsonl with the cases of the kit, irc.jsonl, and, if tree has any, the
// caller's own in tree.jsonl. It overwrites nothing.
func Write(dir string, tree []Case) error {
	if err := os.CopyFS(dir, files); err != nil || len(tree) == 0 {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, "tree.jsonl"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	lines := json.NewEncoder(f)
	for _, c := range tree {
		err = errors.Join(err, lines.Encode(c))
	}
	return errors.Join(err, f.Close())
}
