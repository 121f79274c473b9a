package search

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/gophd/gophd/internal/treetest"
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
	if err := l.Put(Text{Name: name, Title: title, Body: text}); err != nil {
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
		line, _ := r.Excerpt(l.texts[name])
		all = append(all, name+": "+line)
	}
	return strings.Join(all, "; ")
}

var languages = map[string]string{
	"/en":    "The quick brown fox\njumps over\nthe lazy dog.",
	"/de":    "Die Größe der Straße\nist egal.",
	"/da":    "Rødgrød med fløde, smørrebrød\nÆbler og Łódź\n",
	"/ko":    "\u1112\u1161\u11ab\u1100\u1173\u11af 한국어\n", // the first word in Jamo
	"/nfd":   "Cafe\u0301 noir\n",
	"/ru":    "Ёлка и ЕЖ\n",
	"/el":    "Ο Οδυσσεύς ΟΔΥΣΣΕΥΣ\n",
	"/ar":    "السلام عليكم\n",
	"/hi":    "नमस्ते दुनिया\n",
	"/ja":    "東京都に住む\nデータの話\n",
	"/zh":    "中文搜索引擎\n",
	"/th":    "ภาษาไทยไม่มีช่องว่าง\n",
	"/tobe":  "to be to be or not to be\nthat is\nthe question",
	"/empty": "",
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
		"rodgrod":                 "/da: Rødgrød med fløde, smørrebrød",
		"aebler lodz":             "/da: Æbler og Łódź",
		"한글":                      "/ko: \u1112\u1161\u11ab\u1100\u1173\u11af 한국어",
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
		"東京 データ":                  "/ja: データの話",
		"東*":                      "/ja: 東京都に住む",
		"q*":                      "", // too short: the word alone
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
	if _, hits := l.ask(t, "quick br*").Excerpt("a\nThe quick brown fox"); !slices.Equal(hits,
		[]Span{{4, 9}, {10, 15}}) {
		t.Errorf("hits %v", hits)
	}
	// Characters of a phrase are one hit.
	if line, hits := l.ask(t, "搜索引擎").Excerpt("中文搜索引擎。\n"); len(hits) != 1 ||
		line[hits[0].From:hits[0].To] != "搜索引擎" {
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
	if got, want := l.ask(t, "gopher").Names,
		[]string{"gopher", "twice", "short", "long"}; !slices.Equal(got, want) {
		t.Errorf("ranked %q, want %q", got, want)
	}
	for query, want := range map[string]string{"deep in:a": "a/b/in a/b2/in",
		"deep in:/a/b/": "a/b/in", "in:~ann deep": "~ann/in",
		"deep in:~ann in:a/b": "a/b/in ~ann/in"} {
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
	if len(r.Names) != PerPage || r.Total < 500 || r.Total > 550 || r.More ||
		!slices.ContainsFunc(r.Names, odd) || slices.ContainsFunc(r.Names, func(n string) bool {
		return !odd(n)
	}) {
		t.Errorf("page 2: %d of %d, more %v: %q", len(r.Names), r.Total, r.More, r.Names)
	}
	if r := l.ask(t, "page"); r.Total != 1000 || !r.More {
		t.Errorf("%d, more %v", r.Total, r.More)
	}
}

// The words past the sixteenth do not count, and a repeated part is one.
func TestLongQuery(t *testing.T) {
	l := newLibrary(t, map[string]string{"a": "one two three"})
	for query, want := range map[string]bool{"one two": false,
		strings.Repeat(`"one two" `, 20): false, "one two " + numbered(14): false,
		"one two " + numbered(15): true, `"` + numbered(17) + `"`: true} {
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

// fill puts texts of about 10 KB into an index, as a searcher does, and returns how many
// did not fit.
func fill(t *testing.T, x *Index, top string, n int) (left int) {
	t.Helper()
	for i := range n {
		var b strings.Builder
		for j := range 1500 {
			fmt.Fprintf(&b, "%sw%dx%d ", top, i, j)
		}
		switch err := x.Put(Text{Name: fmt.Sprintf("%s/%d", top, i), Body: b.String()}); {
		case errors.Is(err, ErrFull):
			left++
		case err != nil:
			t.Fatal(err)
		}
		if x.Due() {
			treetest.Must(t, x.Commit())
		}
	}
	treetest.Must(t, x.Commit())
	return left
}

// TestFull: an index that is full keeps what fits, and still forgets. A directory within
// its share takes room from the one that uses most, and not more than it needs.
func TestFull(t *testing.T) {
	const limit = 4 << 20
	x := openIndex(t, t.TempDir(), limit)
	defer func() { _ = x.Close() }()
	texts := func(top string) (n int) {
		treetest.Must(t, x.row(t.Context(), "SELECT count(*) FROM doc WHERE top = ?",
			[]byte(top)).Scan(&n))
		return n
	}
	if left := fill(t, x, "greedy", 500); left < 100 {
		t.Fatalf("%d texts left out", left)
	}
	alone := texts("greedy")
	if bytes := x.Stats().Bytes; bytes > limit*11/10 || bytes < limit*7/10 || alone < 30 {
		t.Errorf("full with %d texts, %d bytes of %d", alone, bytes, limit)
	}
	if left := fill(t, x, "modest", 60); left > 0 || texts("modest") != 60 {
		t.Errorf("%d of 60 modest texts left out, %d are there", left, texts("modest"))
	}
	if n := texts("greedy"); n < alone/4 || n >= alone {
		t.Errorf("%d greedy texts of %d are left", n, alone)
	}
	if left := fill(t, x, "greedy", 500); left < 100 || texts("modest") != 60 {
		t.Errorf("greedy again: %d texts left out; %d modest ones are left", left, texts("modest"))
	}
	treetest.Must(t, x.Delete("greedy/0"))
	for query, want := range map[string]int{"greedyw0x7": 0, "modestw59x7": 1} {
		if r, err := x.Search(t.Context(), Query{Text: query}); r.Total != want || err != nil {
			t.Errorf("%s: %d results, want %d; %v", query, r.Total, want, err)
		}
	}
	t.Logf("%+v, %v", x.Stats(), x.usage)
	// Freed pages stay in the file: how many there are at most depends on how a slow machine cuts batches.
	if info, err := os.Stat(filepath.Join(x.dir, file)); err != nil || info.Size() > limit*2 {
		t.Errorf("%d bytes on disk, %+v, %v", info.Size(), x.Stats(), err)
	}
}

// TestFailedBatch: a change that fails undoes its batch as a whole, and the index goes on.
func TestFailedBatch(t *testing.T) {
	x := openIndex(t, t.TempDir(), 0)
	defer func() { _ = x.Close() }()
	treetest.Must(t, x.Put(Text{Name: "d/old", Body: "kettle"}))
	treetest.Must(t, x.SetDirectory("d", 1, false))
	treetest.Must(t, x.Commit())
	was := x.Stats()
	treetest.Must(t, x.exec(t.Context(), "PRAGMA max_page_count = 40"))
	treetest.Must(t, x.Delete("d/old"))
	treetest.Must(t, x.SetDirectory("d", 9, false))
	var failed error
	for i := 0; failed == nil && i < 1000; i++ {
		failed = x.Put(Text{Name: fmt.Sprint("d/", i), Body: numbered(5000 * (i + 1))})
	}
	if failed == nil || errors.Is(failed, ErrFull) {
		t.Errorf("no room on the disk: %v", failed)
	}
	if got := x.Stats(); got != was {
		t.Errorf("after the failure %+v, want %+v", got, was)
	}
	treetest.Must(t, x.exec(t.Context(), "PRAGMA max_page_count = 1000000"))
	treetest.Must(t, x.Put(Text{Name: "d/new", Body: "kettle"}))
	treetest.Must(t, x.Commit())
	if r, err := x.Search(t.Context(), Query{Text: "kettle"}); r.Total != 2 || err != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestSlow: a query is interrupted when it has taken its share of the processor, and the
// batch of that time is not lost.
func TestSlow(t *testing.T) {
	x := openIndex(t, "", 0)
	defer func() { _ = x.Close() }()
	treetest.Must(t, x.Put(Text{Name: "a", Body: "kettle"}))
	ctx, _, stop := workContext(t.Context())
	defer stop()
	var n int
	err := x.row(ctx, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n").Scan(&n)
	if err == nil || !errors.Is(context.Cause(ctx), ErrSlow) {
		t.Errorf("%v, %v", err, context.Cause(ctx))
	}
	treetest.Must(t, x.Commit())
	if r, err := x.Search(t.Context(), Query{Text: "kettle"}); r.Total != 1 || err != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestHostileTexts(t *testing.T) {
	x := openIndex(t, "", 0)
	for name, text := range map[string]string{
		"long":  "early " + strings.Repeat("x ", MaxText) + "late",
		"run":   strings.Repeat("a", 3<<20),
		"han":   strings.Repeat("東", 1<<15),
		"marks": "e" + strings.Repeat("\u0301", 1<<20),
		"bytes": strings.Repeat("\xff\x80\xe0\x00", 1<<18),
		"title": "",
	} {
		if err := x.Put(Text{Name: name, Title: strings.Repeat(name+" \xff", 1000),
			Body: text}); err != nil {
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
			return strings.Join(rapid.SliceOfN(word, 0, 8).Draw(t, "words"),
				rapid.SampledFrom([]string{" ", "\n", "-"}).Draw(t, "between"))
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
				if err := l.Delete(name); err != nil {
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
	for _, w := range strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) || unicode.Is(unicode.Han, r)
	}) {
		if strings.EqualFold(w, word) || strings.EqualFold(w, "ö") && word == "o" {
			return true
		}
	}
	return false
}

// TestKilled: what a killed process leaves opens with the last commit; its files are of no
// use to others.
func TestKilled(t *testing.T) {
	l, killed := &library{openIndex(t, t.TempDir(), 0), map[string]string{}}, t.TempDir()
	l.put(t, "old", "", "kettle")
	treetest.Must(t, l.Commit())
	for i := range 150 {
		l.put(t, fmt.Sprint("new/", i), "", strings.Repeat(fmt.Sprint("word", i, " "), 50))
	}
	for _, end := range []string{"", "-wal"} {
		info, err := os.Stat(filepath.Join(l.dir, file+end))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s%s: %v, %v", file, end, info, err)
		}
	}
	treetest.Must(t, os.CopyFS(killed, os.DirFS(l.dir)))
	treetest.Must(t, os.Chmod(filepath.Join(killed, file+"-wal"), 0o644))
	treetest.Must(t, l.Close())

	x := openIndex(t, killed, 0)
	if n := x.Stats().Texts; n != 1 {
		t.Errorf("%d texts after a kill", n)
	}
	if r, err := x.Search(t.Context(), Query{Text: "kettle"}); r.Total != 1 || err != nil {
		t.Errorf("after a kill: %+v, %v", r, err)
	}
	for _, end := range []string{"", "-wal"} {
		info, err := os.Stat(filepath.Join(killed, file+end))
		if err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s%s: %v", file, end, info.Mode())
		}
	}
	treetest.Must(t, x.Close())
}

// TestDamaged: a damaged index is replaced, when it is opened and while it is used, and so
// is one of another version.
func TestDamaged(t *testing.T) {
	for name, damage := range map[string]string{
		"texts that have no words":   "DELETE FROM text_docsize WHERE id = 1; UPDATE state SET clean = 0",
		"words of no text":           "DELETE FROM doc WHERE id = 1; UPDATE state SET clean = 0",
		"the words of another text":  "UPDATE doc SET id = 9 WHERE id = 1; UPDATE state SET clean = 0",
		"a missing table":            "DROP TABLE state",
		"an index of gophd 0.3.0":    "PRAGMA user_version = 3",
		"an index of a later gophd":  "PRAGMA user_version = 6",
		"a database of another kind": "PRAGMA user_version = 0",
	} {
		dir := t.TempDir()
		l := &library{openIndex(t, dir, 0), map[string]string{}}
		l.put(t, "a", "", "kettle")
		l.put(t, "b", "", "pot")
		treetest.Must(t, l.Close())
		db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, file))
		treetest.Must(t, err)
		_, err = db.ExecContext(t.Context(), damage)
		treetest.Must(t, err)
		treetest.Must(t, db.Close())
		x := openIndex(t, dir, 0)
		if n := x.Stats().Texts; n != 0 {
			t.Errorf("%s: %d texts", name, n)
		}
		treetest.Must(t, x.Close())
	}
	for _, damage := range []string{"this is no database",
		strings.Repeat("SQLite format 3\x00", 1000)} {
		dir := t.TempDir()
		treetest.Must(t, os.WriteFile(filepath.Join(dir, file), []byte(damage), 0o600))
		x := openIndex(t, dir, 0)
		if n := x.Stats().Texts; n != 0 {
			t.Errorf("%d texts in a damaged index", n)
		}
		treetest.Must(t, x.Close())
	}

	// Damage that is found by a query empties the index, which then takes texts again.
	for _, dir := range []string{"", t.TempDir()} {
		l := &library{openIndex(t, dir, 0), map[string]string{}}
		l.put(t, "a", "", "kettle")
		treetest.Must(t, l.Commit())
		treetest.Must(t, l.exec(t.Context(), "DELETE FROM text_data WHERE id > 10"))
		if _, err := l.Search(t.Context(), Query{Text: "kettle"}); !errors.Is(err, ErrDiscarded) {
			t.Errorf("a damaged index: %v", err)
		}
		if l.put(t, "b", "", "kettle"); l.ask(t, "kettle").Total != 1 || l.Stats().Texts != 1 {
			t.Errorf("%+v", l.Stats())
		}
		treetest.Must(t, l.Close())
	}
}

// The index knows what lies in a directory, and forgets it.
func TestDirectories(t *testing.T) {
	l := newLibrary(t, map[string]string{"/": "", "a": "", "d/": "", "d/a": "", "d/e/": "",
		"d/e/f": "", "d0": "", "d-x/y": ""})
	is := func(dir, want string) {
		t.Helper()
		marks, err := l.Directory(dir, nil)
		if got := strings.Join(slices.Sorted(maps.Keys(marks)), " "); got != want || err != nil {
			t.Errorf("in %s: %q, want %q; %v", dir, got, want, err)
		}
	}
	is(".", "/ a d0")
	for dir, texts := range map[string]int{".": 3, "d": 3, "d/e": 2, "d-x": 1} {
		treetest.Must(t, l.SetDirectory(dir, texts, false))
	}
	treetest.Must(t, l.SetDirectory("d", 2, false))
	is(".", "/ a d0")
	is("d", "d/ d/a")
	is("d/e", "d/e/ d/e/f")
	is("d-x", "d-x/y")
	if n := l.Stats().Wanted; n != 8 {
		t.Errorf("%d texts wanted", n)
	}
	l.put(t, "d", "", "a file in place of the directory")
	treetest.Must(t, l.Forget("d"))
	is(".", "/ a d d0")
	is("d", "")
	if dirs, err := l.Directories(); err != nil || strings.Join(dirs, " ") != ". d-x" {
		t.Errorf("%q, %v", dirs, err)
	}
	if n := l.Stats(); n.Wanted != 4 || n.Texts != 5 {
		t.Errorf("%+v", n)
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
		_ = l.Put(Text{Name: name, Body: fmt.Sprint("the lazy word", i)})
		_ = l.Delete(name)
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
		if line, hits := l.ask(t, query).Excerpt(text); !utf8.ValidString(line) ||
			strings.ContainsFunc(line, unicode.IsControl) || len(line) > maxLine+8 ||
			len(hits) > 0 && hits[len(hits)-1].To > len(line) ||
			!slices.IsSortedFunc(hits, func(a, b Span) int {
				return a.From - b.To
			}) {
			t.Fatalf("line %q, hits %v", line, hits)
		}
		if len(text) > 2000 {
			return
		}
		for _, w := range wordsOf(text) {
			if len(w) > maxWord {
				t.Fatalf("word %q", w)
			}
			asked := string(w)
			if p := parseTerm(asked); len(p) != 1 || p[0].word != asked {
				continue // a part of what it takes to write it
			}
			if a := l.ask(t, asked); a.Total == 0 {
				t.Fatalf("%q is not found by %q", text, asked)
			}
		}
	})
}
