package search

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
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

func newLibrary(t rapid.TB, texts map[string]string) *library {
	t.Helper()
	l := &library{New(0), texts}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if err := l.Put(name, strings.TrimPrefix(name, "/"), 0, strings.NewReader(texts[name])); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func (l *library) open(_ context.Context, name string) (io.ReadCloser, error) {
	text, ok := l.texts[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

func (l *library) ask(t rapid.TB, query string) Results {
	t.Helper()
	a, err := l.Search(context.Background(), Query{Text: query, Open: l.open})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// names returns what a query found as "name: line".
func (l *library) names(t rapid.TB, query string) string {
	t.Helper()
	var all []string
	for _, r := range l.ask(t, query).Results {
		all = append(all, r.Name+": "+r.Line)
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
		"qui*":                    "/en: The quick brown fox",
		"qui":                     "",
		`"quick brown"`:           "/en: The quick brown fox",
		`"brown quick"`:           "",
		`"over the lazy"`:         "/en: jumps over",
		`"fox jumps" lazy`:        "/en: The quick brown fox",
		`"to be or"`:              "/tobe: to be to be or not to be",
		`"question`:               "/tobe: the question",
		"grösse":                  "/de: Die Größe der Straße",
		"GROSSE":                  "/de: Die Größe der Straße",
		"strasse":                 "/de: Die Größe der Straße",
		"grüße":                   "/latin1: Grüße aus Köln",
		"koln":                    "/latin1: Grüße aus Köln",
		"café":                    "/nfd: Cafe\u0301 noir",
		"елка":                    "/ru: Ёлка и ЕЖ",
		"еж":                      "/ru: Ёлка и ЕЖ",
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
		"!?":                      "",
		"":                        "",
		"\x00\xff\x1b[2J":         "",
		strings.Repeat("to ", 99): "/tobe: to be to be or not to be",
	} {
		if got := l.names(t, query); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
	if !l.ask(t, "…").Empty || l.ask(t, "cat").Empty {
		t.Error("Empty does not tell a query without words")
	}
}

// The order: rare words before common ones, more of them, shorter texts, titles.
func TestRank(t *testing.T) {
	l := newLibrary(t, map[string]string{
		"/long":   "gopher " + strings.Repeat("filler words all over ", 50),
		"/short":  "gopher here",
		"/twice":  "gopher gopher here",
		"/gopher": "nothing of the kind",
	})
	var got []string
	for _, r := range l.ask(t, "gopher").Results {
		got = append(got, r.Name)
	}
	if want := []string{"/gopher", "/twice", "/short", "/long"}; !slices.Equal(got, want) {
		t.Errorf("ranked %q, want %q", got, want)
	}
}

func TestAllowedAndGone(t *testing.T) {
	l := newLibrary(t, map[string]string{"/a": "word", "/b": "word", "/c": "word"})
	delete(l.texts, "/c") // gone, and the index was not yet told
	a, err := l.Search(t.Context(), Query{Text: "word", Open: l.open, Allowed: func(n string) bool { return n != "/a" }})
	if err != nil || len(a.Results) != 1 || a.Results[0].Name != "/b" {
		t.Errorf("%+v, %v", a, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Search(ctx, Query{Text: "word", Open: l.open}); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancel: %v", err)
	}
}

func TestFull(t *testing.T) {
	x := New(2 << 20)
	var err error
	n := 0
	for ; err == nil && n < 10_000; n++ {
		var text strings.Builder
		for i := range 200 {
			fmt.Fprintf(&text, "w%dx%d ", n, i)
		}
		err = x.Put(fmt.Sprint(n), "", 0, strings.NewReader(text.String()))
	}
	if !errors.Is(err, ErrFull) || n < 20 {
		t.Fatalf("after %d texts: %v", n, err)
	}
	if size := x.Stats().Bytes; size > 3<<20 {
		t.Errorf("%d bytes, bound 2 MiB", size)
	}
	a, _ := x.Search(t.Context(), Query{Text: "w3x7"})
	if len(a.Results) != 1 {
		t.Error("what was in before is not found any more")
	}
}

// A text of a million different words takes what maxTerms of them take; one
// longer than MaxText is found by what stands before that.
func TestHostileTexts(t *testing.T) {
	x := New(0)
	var b strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&b, "%x ", i*7919)
	}
	for name, text := range map[string]io.Reader{
		"words": strings.NewReader(b.String()),
		"long":  io.MultiReader(strings.NewReader("early "), strings.NewReader(strings.Repeat("x ", MaxText)), strings.NewReader("late")),
		"run":   strings.NewReader(strings.Repeat("a", 3<<20)),
		"han":   strings.NewReader(strings.Repeat("東", 1<<20)),
		"marks": strings.NewReader("e" + strings.Repeat("\u0301", 1<<20)),
		"bytes": strings.NewReader(strings.Repeat("\xff\x80\xe0\x00", 1<<18)),
		"title": nil,
	} {
		if text == nil {
			text = strings.NewReader("")
		}
		if err := x.Put(name, strings.Repeat(name+" ", 1000), 0, text); err != nil {
			t.Fatal(name, err)
		}
	}
	if n := x.Stats().Terms; n > 5*maxTerms/4+1000 {
		t.Errorf("%d terms", n)
	}
	for query, want := range map[string]int{"early": 1, "late": 0, "title": 1, "東東": 1} {
		if a, _ := x.Search(t.Context(), Query{Text: query}); len(a.Results) != want {
			t.Errorf("%s: %d results, want %d", query, len(a.Results), want)
		}
	}
}

// Any run of changes leaves what a search of all texts one by one would find.
func TestChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &library{New(0), map[string]string{}}
		word := rapid.SampledFrom([]string{"a", "b", "ab", "abc", "ö", "Ö", "東", "京"})
		text := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(word, 0, 8).Draw(t, "words"), rapid.SampledFrom([]string{" ", "\n", "-"}).Draw(t, "between"))
		})
		for range rapid.IntRange(1, 40).Draw(t, "changes") {
			name := rapid.SampledFrom([]string{"1", "2", "3", "4"}).Draw(t, "name")
			if rapid.IntRange(0, 9).Draw(t, "settle") == 0 {
				l.Settle()
			}
			if rapid.Bool().Draw(t, "delete") {
				l.Delete(name)
				delete(l.texts, name)
				continue
			}
			l.texts[name] = text.Draw(t, "text")
			if err := l.Put(name, "", 0, strings.NewReader(l.texts[name])); err != nil {
				t.Fatal(err)
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
		var got []string
		for _, r := range l.ask(t, want).Results {
			got = append(got, r.Name)
		}
		slices.Sort(got)
		if !slices.Equal(got, naive) {
			t.Fatalf("%q found in %q, want %q of %q", want, got, naive, l.texts)
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

// Enough deletions make the index write itself again, with the same answers.
func TestTidy(t *testing.T) {
	l := &library{New(0), map[string]string{}}
	put := func(i int) {
		name := fmt.Sprint("/", i)
		l.texts[name] = fmt.Sprintf("common number%d tens%d", i, i/10)
		if err := l.Put(name, "", 0, strings.NewReader(l.texts[name])); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 4000 {
		put(i)
	}
	full := l.Stats()
	for i := 0; i < 4000; i++ {
		if i%8 != 0 {
			l.Delete(fmt.Sprint("/", i))
			delete(l.texts, fmt.Sprint("/", i))
		}
	}
	if s := l.Stats(); s.Texts != 500 || s.Terms > full.Terms/2 {
		t.Errorf("%+v of %+v", s, full)
	}
	put(9)
	for query, want := range map[string]int{"common": 501, "number8": 1, "number9": 1, "number10": 0, "tens0": 3, "tens1*": 138} {
		if a := l.ask(t, query); a.Texts != want {
			t.Errorf("%s: %d texts, want %d", query, a.Texts, want)
		}
	}
}

// Queries and changes at once, for the race detector.
func TestTogether(t *testing.T) {
	l := newLibrary(t, languages)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				_ = l.ask(t, `"the lazy" d*`)
				_ = l.Stats()
			}
		})
	}
	for i := range 3000 {
		name := fmt.Sprint("new", i%7)
		_ = l.Put(name, "", 0, strings.NewReader(fmt.Sprint("the lazy word", i)))
		l.Delete(name)
	}
	wg.Wait()
}

// Whatever is in texts and queries, nothing panics, lines can be shown, and a
// text is found by each of its words.
func FuzzSearch(f *testing.F) {
	for _, text := range languages {
		f.Add(text, "the")
		f.Add("a \x1b[2J\xff", text)
	}
	f.Fuzz(func(t *testing.T, text, query string) {
		l := newLibrary(t, map[string]string{"/a": text, "/b": "other"})
		for _, r := range l.ask(t, query).Results {
			if !utf8.ValidString(r.Line) || strings.ContainsFunc(r.Line, unicode.IsControl) || len(r.Line) > maxLine+8 {
				t.Fatalf("line %q", r.Line)
			}
		}
		if len(text) > 2000 {
			return
		}
		sp := split([]byte(text))
		for sp.next() {
			if len(sp.word) > maxWord {
				t.Fatalf("word %q", sp.word)
			}
			asked := string(sp.word)
			if p := words(asked); len(p) != 1 || p[0].word != asked {
				continue // a part of what it takes to write it
			}
			if a := l.ask(t, asked); len(a.Results) == 0 {
				t.Fatalf("%q is not found by %q", text, asked)
			}
		}
	})
}

// What is read of postings is what was added, whichever way they are read and
// however far they are apart.
func TestPostings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gap := rapid.OneOf(rapid.Uint32Range(1, 100), rapid.Uint32Range(1, 1<<14))
		var a arena
		var l list
		var docs []uint32
		var times []uint8
		doc := uint32(0)
		for i := range rapid.IntRange(0, 300).Draw(t, "documents") {
			doc += gap.Draw(t, "gap")
			if i == 20 {
				doc += 1 << 20 // five bytes with the times
			}
			docs, times = append(docs, doc), append(times, rapid.SampledFrom([]uint8{1, 2, 255}).Draw(t, "times"))
			l.add(&a, doc, times[len(times)-1])
			if rapid.IntRange(0, 9).Draw(t, "another list") == 0 {
				_ = a.slice(16)
			}
		}
		sum := make([]uint32, doc+1)
		all := l.read(&a)
		all.addTo(sum)
		r := l.read(&a)
		for i, doc := range docs {
			if !r.next() || r.doc != doc || r.times != times[i] || sum[doc] != uint32(times[i]) {
				t.Fatalf("document %d: read %d times in %d, %d in all, want %d", doc, r.times, r.doc, sum[doc], times[i])
			}
		}
		if r.next() {
			t.Fatalf("%d documents, and another", len(docs))
		}
	})
}

// The best few are the first of all, however many there are.
func TestRankKeepsTheBest(t *testing.T) {
	x := New(0)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		text := strings.Repeat("word ", 1+r.IntN(9)) + strings.Repeat("other ", r.IntN(50))
		if err := x.Put(fmt.Sprint(i), "", 0, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
	}
	parts := parse("word").parts
	all, found := x.rank(parts, 1000)
	for _, n := range []int{1, 2, 7, 150, 299, 300} {
		few, again := x.rank(parts, n)
		if found != 300 || again != found || !slices.Equal(few, all[:n]) {
			t.Errorf("the best %d: %v, want %v; found %d", n, few, all[:n], again)
		}
	}
}
