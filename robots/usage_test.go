package robots

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/robots/readers"
)

// usages: what is stated of a path, as "key=value@line"; "none" is an empty
// statement. The first is the example of the draft.
var usages = []struct {
	file, agent, path, want string
}{
	{draftExample, "otherbot", "/test", "train-ai=n@4"},
	{draftExample, "otherbot", "/never/test", "none"},
	{draftExample, "otherbot", "/ai-ok/test", "train-ai=y@5"},
	{draftExample, "ExampleBot", "/test", "train-ai=y@9"},

	{"User-agent: *\nContent-Usage:/a\ttrain-ai=n\n", "x", "/a/b", "train-ai=n@2"},
	{"User-agent: *\nContent-Usage:/a\ttrain-ai=n\n", "x", "/b", "none"},
	{"User-agent: *\nContent-Usage: train-ai=n, search=y\nContent-Usage: /a search=n\n", "x",
		"/a", "search=n@3"},
	{"User-agent: *\nContent-Usage: /a train-ai=y\nContent-Usage: /a train-ai=n, search=y\n", "x",
		"/a", "search=y@3 train-ai=n@3"},
	{"User-agent: *\nContent-Usage: /a*c train-ai=y\nContent-Usage: /abc train-ai=n\n", "x", "/abc",
		"train-ai=n@3"},
	{"User-agent: *\nContent-Usage: /*.gif$ train-ai=n\n", "x", "/a.gif", "train-ai=n@2"},
	{"User-agent: *\nContent-Usage: /*.gif$ train-ai=n\n", "x", "/a.gif?x", "none"},
	{"User-agent: *\nContent-Usage: /%7ea train-ai=n\n", "x", "/~a", "train-ai=n@2"},
	{"User-agent: *\nContent-Usage: train-ai=y, train-ai, search=n, search=\"n\"\n", "x", "/",
		"search=unstated@2 train-ai=unstated@2"},
	{"User-agent: *\nContent-Usage: train-ai;allow=n, train-ai=y\n", "x", "/", "train-ai=y@2"},
	{"User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /a Train-AI=y\nContent-Usage: /a\n",
		"x", "/a", "train-ai=n@2"},
	{"User-agent: *\nContent-Usage: x=(y n), all=n;b=\"c,d\", bots=1\nContent-Usage: zzz=y, search=y\n", "x", "/", "all=n@2 bots=unstated@2 search=y@3"},
	{"User-agent: *\nContent-Usage: train-ai=n\nContent-Usage: /a k=y\n", "x", "/a", "none"}, // the longer path decides, although its key is unknown
	{"User-agent: *\nContent-Usage: /*a train-ai=y\nContent-Usage: /a* train-ai=n\nContent-Usage: /** search=n\n", "x", "/a", "search=n@4 train-ai=n@3"},
	{"User-agent: *\nContent-Usage: /a search=y, ai-use=n\n\nUser-agent: *\nDisallow: /b\nContent-Usage: /%61 search=n\n", "x", "/a", "ai-use=n@2 search=n@6"},
	{"Content-Usage: train-ai=n\nUser-agent: *\nAllow: /\n", "x", "/", "none"},
	{"User-agent: *\nContent-Usage: train-ai=n\n\nUser-agent: a\nAllow: /\n", "a", "/", "none"},
	{"User-agent: a\nContent-Usage: train-ai=n\nUser-agent: b\nAllow: /\n", "b", "/", "none"},
}

const draftExample = `User-Agent: *
Allow: /
Disallow: /never/
Content-Usage: train-ai=n
Content-Usage: /ai-ok/ train-ai=y

User-Agent: ExampleBot
Allow: /
Content-Usage: train-ai=y
`

func shown(s Statement) string {
	var all []string
	for _, p := range s {
		all = append(all, fmt.Sprintf("%s=%v@%d", p.Key, p.Preference, p.Line))
	}
	if all == nil {
		return "none"
	}
	return strings.Join(all, " ")
}

// TestUsage: U1, U2, U3, U4, U5.
func TestUsage(t *testing.T) {
	for _, u := range usages {
		f := Parse(RFC9309, []byte(u.file))
		for range 3 {
			if got := shown(f.Usage(u.agent, u.path)); got != u.want {
				t.Errorf("%q, %s for %s: %s, want %s", u.file, u.path, u.agent, got, u.want)
			}
		}
	}
	if s := (*File)(nil).Usage("a", "/"); s != nil {
		t.Errorf("a nil File states %v", s)
	}
	if s := Parse(Gopher, []byte("Content-Usage: /a b train-ai=n\n")).Usage("x", "/a b"); s != nil {
		t.Errorf("a path with a blank: %v", s)
	}
}

// TestCombine: of several statements the most restrictive counts, whatever their
// order.
func TestCombine(t *testing.T) {
	a, _ := ParseUsage("train-ai=y, search=n, ai-use=1")
	b, _ := ParseUsage("train-ai=n, search=y, bots=y, z=y")
	for _, s := range []Statement{a.Combine(b), b.Combine(a)} {
		if s.String() != "bots=y, search=n, train-ai=n" || s.Of("ai-use") != Unstated ||
			s.Of("search") != No || s.Of("none") != Unstated {
			t.Errorf("combined %v", shown(s))
		}
	}
}

// FuzzParseUsage: what is written is read as the same.
func FuzzParseUsage(f *testing.F) {
	f.Add("train-ai=y, search=n")
	f.Add(`a;b="c", *d=?1, e=(1 2);f`)
	f.Fuzz(func(t *testing.T, value string) {
		s, err := ParseUsage(value)
		if err != nil || s.String() == "" {
			return
		}
		again, err := ParseUsage(s.String())
		if err != nil || again.String() != s.String() {
			t.Errorf("%q: %q, again %q, %v", value, s, again, err)
		}
	})
}

// TestUsageIsBounded: what a question costs does not depend on how many keys or lines
// state preferences; 500 KiB of invented keys once took 7.5 s for each.
func TestUsageIsBounded(t *testing.T) {
	var keys, paths strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&keys, "Content-Usage: k%d=y\n", i)
		fmt.Fprintf(&paths, "Content-Usage: /%d search=n\n", i)
	}
	for name, lines := range map[string]string{
		"lines": keys.String(), "paths": paths.String(),
		"same": strings.Repeat("Content-Usage: /a search=y\n", 30_000),
		"one line": "Content-Usage: " +
			strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(keys.String()),
				"Content-Usage: ", ""), "\n", ", ") + "\n",
	} {
		f := Parse(RFC9309, []byte("User-agent: *\nContent-Usage: search=y\n"+lines))
		ask := func() { f.Usage("x", "/7") }
		ask()
		if n := testing.AllocsPerRun(10, ask); n > 10 {
			t.Errorf("%s: %v allocations for each question", name, n)
		}
		if n := f.indexed.Load(); n > maxIndexed*int64(len(f.lines.Records)) {
			t.Errorf("%s: %d lines in indexes", name, n)
		}
		if x := f.Agent("x").usage.Load(); x == nil || len(x.general) > 1 {
			t.Errorf("%s: the index is %+v", name, x)
		}
	}
}

// TestVocabulary: the table is one that everything can be made from.
func TestVocabulary(t *testing.T) {
	keys, signals := map[string]bool{"": true}, map[string]bool{"": true}
	for i, c := range readers.Categories() {
		if c.Key == "" && c.Signal == "" || keys[c.Key] && c.Key != "" ||
			signals[c.Signal] && c.Signal != "" || c.Meaning == "" {
			t.Errorf("row %d: %+v", i, c)
		}
		if keys[c.Key], signals[c.Signal] = true, true; c.Instead != "" &&
			(c.Until == "" || !keys[c.Instead]) {
			t.Errorf("%s is replaced by %s", c.Key, c.Instead)
		}
	}
	if got := strings.Join(readers.UnknownKeys("search=n, zz=1, train-ai, ab=y, zz=2"),
		" "); got != "zz ab" {
		t.Errorf("unknown keys %s", got)
	}
}

// TestEditions: the table says of each key what the editions of the draft say, and was
// compared after the last of them.
func TestEditions(t *testing.T) {
	var editions []struct {
		Edition, Date string
		Keys          []string
	}
	since, until := map[string]string{}, map[string]string{}
	readLines(t, "vocabulary.jsonl", &editions)
	for _, e := range editions {
		for key := range since {
			if !slices.Contains(e.Keys, key) && until[key] == "" {
				until[key] = e.Date
			}
		}
		for _, key := range e.Keys {
			if since[key] == "" || until[key] != "" {
				since[key], until[key] = e.Date, ""
			}
		}
	}
	if last := editions[len(editions)-1].Date; readers.VocabularyChecked < last {
		t.Errorf("checked on %s, but the last edition is of %s", readers.VocabularyChecked, last)
	}
	for _, c := range readers.Categories() {
		if c.Key != "" && (c.Since != since[c.Key] || c.Until != until[c.Key]) {
			t.Errorf("%s: %q to %q, in the editions %q to %q", c.Key, c.Since, c.Until,
				since[c.Key], until[c.Key])
		}
		if delete(since, c.Key); c.Until != "" && until[c.Instead] != "" {
			t.Errorf("%s is replaced by %s, which was dropped", c.Key, c.Instead)
		}
	}
	if len(since) > 0 {
		t.Errorf("the table lacks %v", since)
	}
}

// readLines reads a file of JSON lines in testdata.
func readLines[T any](t *testing.T, name string, list *[]T) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for dec := json.NewDecoder(bytes.NewReader(data)); dec.More(); {
		var v T
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		*list = append(*list, v)
	}
}
