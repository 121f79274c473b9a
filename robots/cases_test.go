package robots

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/gophd/gophd/robots/readers"
)

// caseRecord is a line of the case files: what a file means to a reader.
type caseRecord struct {
	Source    string `json:"source"`
	Kind      string `json:"kind"`
	Dialect   string `json:"dialect"`
	Robots    string `json:"robots"`
	RobotsB64 []byte `json:"robots_b64"`
	Agent     string `json:"agent"`
	URL       string `json:"url"`
	URLB64    []byte `json:"url_b64"`
	Allow     bool   `json:"allow"`
	Lenient   bool   `json:"lenient"` // not by the letter
	Why       string `json:"why"`
}

// held lists the records that are held to be wrong, as file:line, with the
// reason. Records are never edited.
var held = map[string]string{
	"rfc9309.jsonl:205": "expects AB42bot to be cut to AB: digits are part of a word, and a word is compared whole (R3)",
}

func readCases(t *testing.T, name string) []caseRecord {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var records []caseRecord
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r caseRecord
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			if r.Kind != "" && r.Kind != "match" {
				continue // other kinds have other fields
			}
			t.Fatalf("%s: %v", name, err)
		}
		records = append(records, r)
	}
	return records
}

func TestCases(t *testing.T) {
	for name, dialect := range map[string]string{
		"rfc9309.jsonl":       "rfc9309",
		"readings.jsonl":      "",
		"standard-1994.jsonl": "1994",
		"gopher-2019.jsonl":   "",
		"extended-2.0.jsonl":  "extended",
	} {
		count := 0
		for i, r := range readCases(t, name) {
			if r.Kind != "" && r.Kind != "match" {
				continue
			}
			count++
			checkCase(t, name, i+1, dialect, r)
		}
		if count == 0 {
			t.Errorf("%s: no records", name)
		}
	}
}

func checkCase(t *testing.T, name string, line int, dialect string, r caseRecord) {
	t.Helper()
	if dialect == "" {
		dialect = r.Dialect
	}
	if dialect == "gopher-groups" {
		dialect = "gopher"
	}
	d, err := readers.ParseDialect(dialect)
	if err != nil {
		t.Fatalf("%s:%d: %v", name, line, err)
	}
	data, url := []byte(r.Robots), r.URL
	if r.RobotsB64 != nil {
		data = r.RobotsB64
	}
	if r.URLB64 != nil {
		url = string(r.URLB64)
	}
	// What lies in the first file is about the letter.
	got := Parser{Dialect: d, Literal: name == "rfc9309.jsonl"}.Parse(data).Decide(r.Agent, url)
	if why := held[fmt.Sprintf("%s:%d", name, line)]; why != "" {
		if got.Allowed == r.Allow {
			t.Errorf("%s:%d passes, but is held to be wrong: %s", name, line, why)
		}
		return
	}
	if got.Allowed != r.Allow {
		t.Errorf("%s:%d: %s: %q for %q: allowed = %v, want %v (%s)\n%s", name, line, d, url,
			r.Agent, got.Allowed, r.Allow, r.Why, data)
	}
	data, _ = readers.DecodeUTF16(data)
	if !r.Lenient && Reference(d, data, r.Agent, url) != r.Allow {
		t.Errorf("%s:%d: %s: %q for %q: the naive model does not say %v", name, line, d, url,
			r.Agent, r.Allow)
	}
}
