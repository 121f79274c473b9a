package search

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// library is a set of texts and the index of them.
type library struct {
	*Index
	texts map[string]string
}

func openIndex(t rapid.TB, dir string, limit int64) *Index {
	t.Helper()
	x, err := Open(context.Background(), dir, limit)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func newLibrary(t rapid.TB, texts map[string]string) *library {
	t.Helper()
	l := &library{openIndex(t, "", 0), map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		l.put(t, name, strings.TrimPrefix(name, "/"), texts[name])
	}
	return l
}

func (l *library) put(t rapid.TB, name, title, text string) {
	t.Helper()
	l.texts[name] = text
	if err := l.Put(context.Background(), Text{Name: name, Title: title, Content: strings.NewReader(text)}); err != nil {
		t.Fatal(err)
	}
}

func (l *library) ask(t rapid.TB, query string) Results {
	t.Helper()
	a, err := l.Search(context.Background(), Query{Text: query})
	if err != nil {
		t.Fatalf("%q: %v", query, err)
	}
	return a
}

// found returns what a query found as "name: line".
func (l *library) found(t rapid.TB, query string) string {
	t.Helper()
	var all []string
	r := l.ask(t, query)
	for _, name := range r.Names {
		line, _ := r.Excerpt([]byte(l.texts[name]))
		all = append(all, name+": "+line)
	}
	return strings.Join(all, "; ")
}

var languages = map[string]string{
	"/en":     "The quick brown fox\njumps over\nthe lazy dog.",
	"/de":     "Die Größe der Straße\nist egal.",
	"/latin1": "Gr\xfc\xdfe aus K\xf6ln\n",
	"/nfd":    "Cafe\u0301 noir\n",
	"/ru":     "Ёлка и ЕЖ\n",
	"/el":     "Ο Οδυσσεύς ΟΔΥΣΣΕΥΣ\n",
	"/ar":     "السلام عليكم\n",
	"/hi":     "नमस्ते दुनिया\n",
	"/ja":     "東京都に住む\nデータの話\n",
	"/zh":     "中文搜索引擎\n",
	"/th":     "ภาษาไทยไม่มีช่องว่าง\n",
	"/tobe":   "to be to be or not to be\nthat is\nthe question",
	"/empty":  "",
}

func TestFound(t *testing.T) {
	l := newLibrary(t, languages)
	for query, want := range map[string]string{
		"fox":                     "/en: The quick brown fox",
		"FOX quick":               "/en: The quick brown fox",
		"dog quick":               "/en: The quick brown fox", // of equal lines the first
		"lazy dog brown":          "/en: the lazy dog.",
		"fox cat":                 "",
		"fox -lazy":               "",
		"fox -cat":                "/en: The quick brown fox",
		`fox -"lazy cat"`:         "/en: The quick brown fox",
		"qui*":                    "/en: The quick brown fox",
		`"quick brown"`:           "/en: The quick brown fox",
		`"brown quick"`:           "",
		`"over the la"*`:          "", // the star stands alone
		`"over the lazy"`:         "/en: the lazy dog.",
		`"to be or"`:              "/tobe: to be to be or not to be",
		`"question`:               "/tobe: the question",
		"grösse":                  "/de: Die Größe der Straße",
		"GROSSE":                  "/de: Die Größe der Straße",
		"strasse":                 "/de: Die Größe der Straße",
		"grüße":                   "/latin1: Grüße aus Köln",
		"koln":                    "/latin1: Grüße aus Köln",
		"café":                    "/nfd: Cafe\u0301 noir",
		"елка":                    "/ru: Ёлка и ЕЖ",
		"οδυσσευς":                "/el: Ο Οδυσσεύς ΟΔΥΣΣΕΥΣ",
		"عليكم":                   "/ar: السلام عليكم",
		"नमस्ते":                  "/hi: नमस्ते दुनिया",
		"東京":                      "/ja: 東京都に住む",
		"京都":                      "/ja: 東京都に住む",
		"東都":                      "",
		"東京都に":                    "/ja: 東京都に住む",
		"住":                       "/ja: 東京都に住む",
		"む":                       "/ja: 東京都に住む",
		"データ":                     "/ja: データの話",
		"搜索引擎":                    "/zh: 中文搜索引擎",
		"搜引":                      "",
		"ไทย":                     "/th: ภาษาไทยไม่มีช่องว่าง",
		"tobe":                    "/tobe: ", // its name
		"title":                   "",        // no column is named by a query
		"AND OR NOT NEAR":         "",
		"in:phlog":                "",
		"!?":                      "",
		"":                        "",
		"\x00\xff\x1b[2J":         "",
		strings.Repeat("to ", 99): "/tobe: to be to be or not to be",
	} {
		if got := l.found(t, query); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
	if !l.ask(t, "…").Empty || !l.ask(t, "-fox").Empty || l.ask(t, "cat").Empty {
		t.Error("Empty does not tell a query without words")
	}
	if _, hits := l.ask(t, "quick b*").Excerpt([]byte("a\nThe quick brown fox")); !slices.Equal(hits, []Span{{4, 9}, {10, 15}}) {
		t.Errorf("hits %v", hits)
	}
	// Pairs that overlap are one hit: marks between them would split a character.
	if line, hits := l.ask(t, "搜索引擎").Excerpt([]byte("中文搜索引擎。\n")); len(hits) != 1 || line[hits[0].From:hits[0].To] != "搜索引擎" {
		t.Errorf("hits %v in %q", hits, line)
	}
}

// Titles stand before bodies, then BM25; a page has twenty.
func TestRank(t *testing.T) {
	l := newLibrary(t, map[string]string{
		"long":    "gopher " + strings.Repeat("filler words all over ", 50),
		"short":   "gopher here",
		"twice":   "gopher gopher here",
		"gopher":  "nothing of the kind",
		"a/b/in":  "deep",
		"a/b2/in": "deep",
		"~ann/in": "deep",
	})
	if got, want := l.ask(t, "gopher").Names, []string{"gopher", "twice", "short", "long"}; !slices.Equal(got, want) {
		t.Errorf("ranked %q, want %q", got, want)
	}
	for query, want := range map[string]string{"deep in:a": "a/b/in a/b2/in", "deep in:/a/b/": "a/b/in", "in:~ann deep": "~ann/in", "deep in:~ann in:a/b": "a/b/in ~ann/in"} {
		got := l.ask(t, query).Names
		if slices.Sort(got); strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	for i := range 1100 {
		l.put(t, fmt.Sprint("many/", i), "", "page")
	}
	odd := func(name string) bool { return (name[len(name)-1]-'0')%2 == 1 }
	r, _ := l.Search(t.Context(), Query{Text: "page", Page: 2, Allowed: odd})
	if len(r.Names) != PerPage || r.Total < 500 || r.Total > 550 || r.More || !slices.ContainsFunc(r.Names, odd) || slices.ContainsFunc(r.Names, func(n string) bool { return !odd(n) }) {
		t.Errorf("page 2: %d of %d, more %v: %q", len(r.Names), r.Total, r.More, r.Names)
	}
	if r := l.ask(t, "page"); r.Total != 1000 || !r.More {
		t.Errorf("%d, more %v", r.Total, r.More)
	}
}

// The words past the sixteenth do not count, and a repeated part is one.
func TestLongQuery(t *testing.T) {
	l := newLibrary(t, map[string]string{"a": "one two three"})
	for query, want := range map[string]bool{"one two": false, strings.Repeat(`"one two" `, 20): false, "one two " + numbered(14): false, "one two " + numbered(15): true, `"` + numbered(17) + `"`: true} {
		if r := l.ask(t, query); r.Cut != want {
			t.Errorf("%s: cut %v", query, r.Cut)
		}
	}
	if r := l.ask(t, strings.Repeat("one ", 30)+"two three"); r.Total != 1 || r.Cut {
		t.Errorf("%+v", r)
	}
}

// numbered is so many different words.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "w%d ", i)
	}
	return b.String()
}

// A query without results is tried with other forms, then with words of the index.
func TestSuggestions(t *testing.T) {
	l := newLibrary(t, map[string]string{"a": "The kettle boiled over quickly", "b": "kettle and teapot", "gone": "kittle"})
	if err := l.Delete(t.Context(), "gone"); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"boiling": "forms a", "boils kettle": "forms a", "kettel": "instead kettle", "ketle": "instead kettle",
		"kittle":       "instead kettle", // a word of a deleted text is none
		"teapt boiled": "", "teapt -over": "instead teapot -over", `"teapot kettel"`: "", "xyzzy": "", "kettle": "2",
	} {
		r, got := l.ask(t, query), ""
		switch {
		case r.Forms:
			got = "forms " + strings.Join(r.Names, " ")
		case r.Instead != "":
			got = "instead " + r.Instead
		case r.Total > 0:
			got = fmt.Sprint(r.Total)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	if r, _ := l.Search(t.Context(), Query{Text: "kettel", Allowed: func(string) bool { return false }}); r.Instead != "" {
		t.Errorf("a word of denied texts is proposed: %q", r.Instead)
	}
}

// An index that is full keeps what fits, and still forgets. A directory within its
// share takes room from the one that uses most.
func TestFull(t *testing.T) {
	x := openIndex(t, t.TempDir(), 1<<20)
	defer func() { _ = x.Close() }()
	text := func(top string, i int) Text {
		var b strings.Builder
		for j := range 1500 {
			fmt.Fprintf(&b, "%sw%dx%d ", top, i, j)
		}
		return Text{Name: fmt.Sprintf("%s/%d", top, i), Content: strings.NewReader(b.String())}
	}
	n := 0
	var err error
	for ; err == nil && n < 1000; n++ {
		err = x.Put(t.Context(), text("greedy", n))
	}
	if !errors.Is(err, ErrFull) || n < 20 {
		t.Fatalf("after %d texts: %v", n, err)
	}
	for i := range 5 {
		if err := x.Put(t.Context(), text("modest", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.Put(t.Context(), text("greedy", 5000)); !errors.Is(err, ErrFull) {
		t.Errorf("greedy again: %v", err)
	}
	if err := x.Flush(); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]int{"modestw4x7": 1, "greedyw0x7": 1, fmt.Sprintf("greedyw%dx1", n-2): 0} {
		if r, err := x.Search(t.Context(), Query{Text: query}); r.Total != want || err != nil {
			t.Errorf("%s: %d results, want %d; %v", query, r.Total, want, err)
		}
	}
	if err := x.Delete(t.Context(), "greedy/0"); err != nil {
		t.Fatal(err)
	}
	if r, _ := x.Search(t.Context(), Query{Text: "greedyw0x7"}); r.Total != 0 {
		t.Error("a text that was denied is found")
	}
	info, err := os.Stat(filepath.Join(x.path(t), file))
	if err != nil || info.Size() > 3<<20 || x.Stats().Bytes > 1<<20 {
		t.Errorf("%d bytes on disk, %+v, %v", info.Size(), x.Stats(), err)
	}
}

func (x *Index) path(t *testing.T) (dir string) {
	t.Helper()
	if err := x.conn.QueryRowContext(t.Context(), "SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(&dir); err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(dir)
}

func TestHostileTexts(t *testing.T) {
	x := openIndex(t, "", 0)
	for name, text := range map[string]io.Reader{
		"long":  io.MultiReader(strings.NewReader("early "), strings.NewReader(strings.Repeat("x ", MaxText)), strings.NewReader("late")),
		"run":   strings.NewReader(strings.Repeat("a", 3<<20)),
		"han":   strings.NewReader(strings.Repeat("東", 1<<18)),
		"marks": strings.NewReader("e" + strings.Repeat("\u0301", 1<<20)),
		"bytes": strings.NewReader(strings.Repeat("\xff\x80\xe0\x00", 1<<18)),
		"title": nil,
	} {
		if err := x.Put(t.Context(), Text{Name: name, Title: strings.Repeat(name+" \xff", 1000), Content: text}); err != nil {
			t.Fatal(name, err)
		}
	}
	for query, want := range map[string]int{"early": 1, "late": 0, "title": 1, "東東": 1} {
		if a, err := x.Search(t.Context(), Query{Text: query}); a.Total != want {
			t.Errorf("%s: %d results, want %d; %v", query, a.Total, want, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Search(ctx, Query{Text: "early"}); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancel: %v", err)
	}
}

// Any run of changes, with the index closed and opened between, leaves what a search
// of all texts one by one would find.
func TestChanges(t *testing.T) {
	root := t.TempDir()
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		dir := filepath.Join(root, fmt.Sprint(run), "a b%3f?#")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		l := &library{openIndex(t, dir, 0), map[string]string{}}
		defer func() { _ = l.Close() }()
		word := rapid.SampledFrom([]string{"a", "b", "ab", "abc", "ö", "Ö", "東", "京"})
		text := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(word, 0, 8).Draw(t, "words"), rapid.SampledFrom([]string{" ", "\n", "-"}).Draw(t, "between"))
		})
		for range rapid.IntRange(1, 20).Draw(t, "changes") {
			name := rapid.SampledFrom([]string{"1", "2", "d/3", "\xff/4"}).Draw(t, "name")
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
				l.Index = openIndex(t, dir, 0)
			case 1, 2, 3:
				if err := l.Delete(context.Background(), name); err != nil {
					t.Fatal(err)
				}
				delete(l.texts, name)
			default:
				l.put(t, name, "", text.Draw(t, "text"))
			}
		}
		want := word.Draw(t, "wanted")
		var naive []string
		for name, text := range l.texts {
			if holds(text, want) {
				naive = append(naive, name)
			}
		}
		slices.Sort(naive)
		got := l.ask(t, want).Names
		slices.Sort(got)
		if !slices.Equal(got, naive) {
			t.Fatalf("%q found in %q, want %q of %q", want, got, naive, l.texts)
		}
		if n := l.Stats().Texts; n != len(l.texts) {
			t.Fatalf("%d texts for %q", n, l.texts)
		}
	})
}

// holds looks for a word in the plainest way.
func holds(text, word string) bool {
	if r, _ := utf8.DecodeRuneInString(word); unicode.Is(unicode.Han, r) {
		return strings.Contains(text, word)
	}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) || unicode.Is(unicode.Han, r) }) {
		if strings.EqualFold(w, word) || strings.EqualFold(w, "ö") && word == "o" {
			return true
		}
	}
	return false
}

// What a killed process leaves opens with the last commit; a damaged index is replaced.
func TestKilled(t *testing.T) {
	l, killed := &library{openIndex(t, t.TempDir(), 0), map[string]string{}}, t.TempDir()
	l.put(t, "old", "", "kettle")
	if err := l.Flush(); err != nil {
		t.Fatal(err)
	}
	for i := range maxBatch*3/2 + 1 {
		l.put(t, fmt.Sprint("new/", i), "", strings.Repeat(fmt.Sprint("word", i, " "), 50))
	}
	if err := os.CopyFS(killed, os.DirFS(l.path(t))); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	dir := killed
	x := openIndex(t, dir, 0)
	if n := x.Stats().Texts; n != maxBatch+1 {
		t.Errorf("%d texts after a kill", n)
	}
	if r, err := x.Search(t.Context(), Query{Text: "kettle"}); r.Total != 1 || err != nil {
		t.Errorf("after a kill: %+v, %v", r, err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	x = openIndex(t, dir, 0)
	if err := x.exec(t.Context(), "DROP TABLE text_idx"); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Search(t.Context(), Query{Text: "kettle"}); err == nil {
		t.Error("a damaged index has answers")
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if x = openIndex(t, dir, 0); x.Stats().Texts != 0 {
		t.Error("an index that failed is not replaced")
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	for _, damage := range []string{"this is no database", strings.Repeat("SQLite format 3\x00", 1000)} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		x := openIndex(t, dir, 0)
		if n := x.Stats().Texts; n != 0 {
			t.Errorf("%d texts in a damaged index", n)
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// The index knows what lies in a directory, and forgets it.
func TestDirectories(t *testing.T) {
	l := newLibrary(t, map[string]string{"/": "", "a": "", "d/": "", "d/a": "", "d/e/": "", "d/e/f": "", "d0": "", "d-x/y": ""})
	is := func(dir, want string) {
		t.Helper()
		marks, dirs, err := l.Enter(t.Context(), dir)
		texts := slices.Sorted(maps.Keys(marks))
		slices.Sort(dirs)
		if got := strings.Join(texts, " ") + "; " + strings.Join(dirs, " "); got != want || err != nil {
			t.Errorf("in %s: %q, want %q; %v", dir, got, want, err)
		}
	}
	is(".", "/ a d0; ")
	is("d", "d/ d/a; ")
	is("d/e", "d/e/ d/e/f; ")
	is("d-x", "d-x/y; ")
	is(".", "/ a d0; d d-x")
	is("d", "d/ d/a; d/e")
	if err := l.Forget(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	is(".", "/ a d0; d-x")
	is("d", "; ")
	if err := l.Keep(t.Context(), func(name string) bool { return name != "a" }); err != nil {
		t.Fatal(err)
	}
	if is(".", "/ d0; d d-x"); l.Stats().Texts != 3 {
		t.Errorf("%+v", l.Stats())
	}
}

// Queries and changes at once, for the race detector.
func TestTogether(t *testing.T) {
	l := newLibrary(t, languages)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				_ = l.ask(t, `"the lazy" d*`)
				_ = l.Stats()
			}
		})
	}
	for i := range 300 {
		name := fmt.Sprint("new", i%7)
		_ = l.Put(t.Context(), Text{Name: name, Content: strings.NewReader(fmt.Sprint("the lazy word", i))})
		_ = l.Delete(t.Context(), name)
	}
	wg.Wait()
}

// Whatever is in texts and queries, nothing fails, lines can be shown, and a
// text is found by each of its words.
func FuzzSearch(f *testing.F) {
	for _, text := range languages {
		f.Add(text, "the")
		f.Add("a \x1b[2J\xff", text)
	}
	f.Add("x", `-"" in: "a*" *`)
	f.Fuzz(func(t *testing.T, text, query string) {
		l := newLibrary(t, map[string]string{"/a": text, "/b": "other"})
		defer func() { _ = l.Close() }()
		if line, hits := l.ask(t, query).Excerpt([]byte(text)); !utf8.ValidString(line) || strings.ContainsFunc(line, unicode.IsControl) || len(line) > maxLine+8 || len(hits) > 0 && hits[len(hits)-1].To > len(line) || !slices.IsSortedFunc(hits, func(a, b Span) int { return a.From - b.To }) {
			t.Fatalf("line %q, hits %v", line, hits)
		}
		if len(text) > 2000 {
			return
		}
		for _, w := range wordsOf([]byte(text)) {
			if len(w) > maxWord {
				t.Fatalf("word %q", w)
			}
			asked := string(w)
			if p := words(asked); len(p) != 1 || p[0].word != asked {
				continue // a part of what it takes to write it
			}
			if a := l.ask(t, asked); a.Total == 0 {
				t.Fatalf("%q is not found by %q", text, asked)
			}
		}
	})
}
