package menu_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/menu"
)

// listFS is a tree of one large directory; fstest.MapFS is slow there.
type listFS struct {
	fstest.MapFS
	entries []fs.DirEntry
}

func (l listFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if name != "." {
		return nil, fs.ErrNotExist
	}
	return l.entries, nil
}

// dirEntry is an entry of which only the name and the type are asked.
type dirEntry struct {
	name string
	mode fs.FileMode
}

func (e dirEntry) Name() string      { return e.name }
func (e dirEntry) IsDir() bool       { return e.mode.IsDir() }
func (e dirEntry) Type() fs.FileMode { return e.mode.Type() }
func (e dirEntry) Info() (fs.FileInfo, error) {
	panic("an entry was looked up")
}

// large returns a tree of n files whose names end in ext.
func large(n int, ext string) listFS {
	l := listFS{MapFS: fstest.MapFS{}}
	for i := range n {
		l.entries = append(l.entries, dirEntry{name: fmt.Sprintf("file-%d%s", i*7919%n, ext)})
	}
	return l
}

func TestAbuseNames(t *testing.T) {
	fsys := listFS{MapFS: fstest.MapFS{}}
	for _, name := range []string{"a\tb", "a\rb", "a\nb", "a\x1bb", "a\x00", "\x7f", "a\u009b",
		"\xff\x9b", "latin1-\xe4", strings.Repeat("x", 256), ".", "..", ".x", "", "ok.txt"} {
		fsys.entries = append(fsys.entries, dirEntry{name: name})
	}
	m := mustMenu(t, menu.Builder{FS: fsys, Host: "our.example", Port: 70}, ".")
	if got := show(m); got != "0ok.txt\t/ok.txt\n" {
		t.Errorf("got\n%q", got)
	}
	if len(m.Problems) != 1 || !strings.Contains(m.Problems[0].String(), "10 names not listed") ||
		strings.ContainsFunc(m.Problems[0].String(), unicode.IsControl) {
		t.Errorf("problems %q", problems(m))
	}
}

func TestAbuseGophertag(t *testing.T) {
	for tag, want := range map[string]string{
		"a\tb": "a       b", "a\x1b[1mb": "ab", "a\x1bb": "a b", "Caf\xe9": "Café",
		"a\rb\nc": "a b", "\ufeffa\r\nb": "a", "": "d", "\n\n": "d", "a\x00": "a ",
		strings.Repeat("x", 1<<20): strings.Repeat("x", 512),
	} {
		fsys := tree(map[string]string{"d/gophertag": tag})
		m := mustMenu(t, menu.Builder{FS: fsys, Host: "our.example", Port: 70}, ".")
		if got := show(m); got != "1"+want+"\t/d/\n" {
			t.Errorf("tag %.20q makes %.60q", tag, got)
		}
	}
}

func TestAbuseMapIncludesItself(t *testing.T) {
	fsys := tree(map[string]string{"gophermap": "a\n=gophermap\n=b\nz\n",
		"b": "b\n=./gophermap\n=/b\n"})
	m := mustMenu(t, menu.Builder{FS: fsys}, ".")
	if got := show(m); got != "ia\nib\niz\n" {
		t.Errorf("got\n%s", got)
	}
	want := `gophermap:2: including "gophermap": a map that includes itself|b:2: including "./gophermap": a map that includes itself|b:3: including "/b": a map that includes itself`
	if got := strings.Join(problems(m), "|"); got != want {
		t.Errorf("got %s", got)
	}
}

func TestAbuseThousandIncludes(t *testing.T) {
	fsys := tree(map[string]string{"gophermap": strings.Repeat("=x\n", 1000) + "end\n", "x": "x\n"})
	m := mustMenu(t, menu.Builder{FS: fsys}, ".")
	if len(m.Items) != 101 || m.Items[100].Label != "end" {
		t.Errorf("%d items, want 100 of includes and the end", len(m.Items))
	}
	if len(m.Problems) != 100 || problem(m.Problems[0]) != "gophermap:101: more than 100 includes" {
		t.Errorf("%d problems, the first %v", len(m.Problems), m.Problems[0])
	}
}

// Includes that include each other in all ways would make 100⁴ maps.
func TestAbuseIncludeBomb(t *testing.T) {
	files := map[string]string{"gophermap": strings.Repeat("=l1\n", 100)}
	for i := 1; i <= 4; i++ {
		files[fmt.Sprintf("l%d", i)] = strings.Repeat(fmt.Sprintf("x\n=l%d\n", i+1), 100)
	}
	m := mustMenu(t, menu.Builder{FS: tree(files)}, ".")
	if n := len(m.Items); n > 101*100 {
		t.Errorf("%d items", n)
	}
}

func TestAbuseMegabyteLine(t *testing.T) {
	fsys := tree(map[string]string{"gophermap": "a\n" + strings.Repeat("x", 1<<20-10) + "\nb\n"})
	m := mustMenu(t, menu.Builder{FS: fsys}, ".")
	if got := show(m); got != "ia\nib\n" ||
		problem(m.Problems[0]) != "gophermap:2: a line of more than 4096 bytes is left out" {
		t.Errorf("got %q, %q", got, problems(m))
	}
	fsys = tree(map[string]string{"gophermap": "a\n" + strings.Repeat("x", 5<<20) + "\nb\n"})
	m = mustMenu(t, menu.Builder{FS: fsys}, ".")
	if got := show(m); got != "ia\ni... and more: this menu is longer than 4 MiB\n" ||
		problem(m.Problems[0]) != "gophermap: maps of more than 4 MiB: the rest is left out" {
		t.Errorf("got %.100q, %q", got, problems(m))
	}
}

func TestAbuseHugeMaps(t *testing.T) {
	files := map[string]string{"gophermap": strings.Repeat("\n", 50) + strings.Repeat("=x\n", 100),
		"x": strings.Repeat("\n", 1<<20)}
	m := mustMenu(t, menu.Builder{FS: tree(files)}, ".")
	if n := len(m.Items); n != 100_001 || m.Items[n-1].Label != "... and more" {
		t.Errorf("%d items, the last %+v", n, m.Items[n-1])
	}
}

func TestAbuseManyNames(t *testing.T) {
	seen := seenFS{large(150_000, ""), map[string]bool{}}
	m, err := (&menu.Builder{FS: seen}).Menu(context.Background(), ".")
	if err != nil || len(m.Items) != 100_001 || m.Items[99_999].Label != "file-99999" {
		t.Fatalf("%d items, %v", len(m.Items), err)
	}
	if n := len(seen.names); n > 6000 {
		t.Errorf("%d files were looked at", n)
	}
}

// deepFS is listFS for a directory far down.
type deepFS struct {
	listFS
	at string
}

func (d deepFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if name != d.at {
		return nil, fs.ErrNotExist
	}
	return d.entries, nil
}

// Items in a directory with a name of 4,000 bytes have as long selectors: of a
// menu of them only a part is made.
func TestAbuseManyLongNames(t *testing.T) {
	fsys := deepFS{large(20_000, strings.Repeat("x", 200)), strings.Repeat("d/", 1900) + "d"}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := (&menu.Builder{FS: fsys}).Menu(context.Background(), fsys.at)
	runtime.ReadMemStats(&after)
	if err != nil || len(m.Items) < 3000 || m.Items[len(m.Items)-1].Label != "... and more" ||
		!strings.Contains(problem(m.Problems[0]), "15 MiB") {
		t.Fatalf("%d items, %v, %v", len(m.Items), err, m.Problems)
	}
	if n := len(m.AppendTo(nil)); n > 15<<20+100 {
		t.Errorf("%d bytes", n)
	}
	if spent := (after.TotalAlloc - before.TotalAlloc) >> 20; spent > 100 {
		t.Errorf("%d MiB were allocated", spent)
	}
}

func TestAbuseManyProblems(t *testing.T) {
	fsys := tree(map[string]string{"gophermap": strings.Repeat("~\n", 10_000) + "end\n"})
	m := mustMenu(t, menu.Builder{FS: fsys}, ".")
	if n := len(m.Problems); n != 100 || len(m.Items) != 1 {
		t.Errorf("%d problems, %d items", n, len(m.Items))
	}
}

// What patterns are compared with is bounded for a menu: past it the listing is
// made without them.
func TestAbuseManyPatterns(t *testing.T) {
	for name, text := range map[string]string{
		"hide":          strings.Repeat("-*e*e*e*e*.tx\n", 10_000) + "*\n",
		"hide some":     strings.Repeat("-*f*i*l*e*7*.txt\n", 10_000) + "*\n",
		"items":         strings.Repeat("?*f*i*l*e*59999.txt\t\n", 10_000) + "*\n",
		"of two places": strings.Repeat("?zz?\t\n?/e/*\t\n", 4900) + "?/e/*\t\n*\n",
	} {
		fsys := large(60_000, ".txt")
		fsys.MapFS["gophermap"] = &fstest.MapFile{Data: []byte(text)}
		fsys.MapFS["e/x"] = &fstest.MapFile{}
		m := mustMenu(t, menu.Builder{FS: fsys}, ".")
		if n := len(m.Items); n < 30_000 {
			t.Errorf("%s: %d items: the listing is missing", name, n)
		}
		told := func(what string) bool {
			return slices.ContainsFunc(m.Problems, func(d diag.Diagnostic) bool {
				return strings.Contains(d.Message, what)
			})
		}
		limit := "too many to be compared"
		if name == "of two places" {
			limit = "names were read for patterns"
		}
		if !told(limit) || name == "items" && told("matches no file") {
			t.Errorf("%s: no report of the limit: %v", name, m.Problems[0])
		}
	}
}

// A menu that nobody waits for any more is not made to its end.
func TestMenuEndsWithItsContext(t *testing.T) {
	cause := errors.New("the client is gone")
	for name, text := range map[string]string{"listing": "", "map": strings.Repeat("x\n", 100_000),
		"patterns": strings.Repeat("?*x\t\n", 100)} {
		ctx, cancel := context.WithCancelCause(context.Background())
		fsys := &countingFS{listFS: large(60_000, ""), cancel: func() { cancel(cause) }}
		if text != "" {
			fsys.MapFS["gophermap"] = &fstest.MapFile{Data: []byte(text)}
		}
		m, err := (&menu.Builder{FS: fsys}).Menu(ctx, ".")
		if !errors.Is(err, cause) || len(m.Items) > 0 {
			t.Errorf("%s: %d items, %v", name, len(m.Items), err)
		}
		if fsys.opened > 2000 {
			t.Errorf("%s: %d files were opened for nobody", name, fsys.opened)
		}
	}
}

// countingFS cancels at the first file that is opened.
type countingFS struct {
	listFS
	opened int
	cancel func()
}

func (c *countingFS) Open(name string) (fs.File, error) {
	c.opened++
	c.cancel()
	return c.listFS.Open(name)
}

func FuzzGophermap(f *testing.F) {
	f.Add("!T\n0A\ta.txt\n=x\n*\n", "=gophermap\n:txt=9\n", false)
	f.Add("\ufeffiA\r\n?*\t\n-a.txt\n1\x1b\t/\tb\t99999\n", "[0|A|x|server|port]\n", true)
	f.Add("0A\ta.txt\n=x\n*", ":txt=3\n", false)
	f.Add("0../../..\t\n1..\t..\n=../../etc/passwd\n", ".\n", false)
	f.Add("*\n", "Name=A\nPath=./a.txt\nNumb=-1\nAbstract=x\\\ny\n\nType=X\nPath=~/b.txt\n# c\nName=L\nPath=1/sub\nHost=+\n", false)
	f.Add("=echo \"$DATE\"\n\x1b[1m\xe9\n-a*\n?*\t \n", "iX\niY\n", true)
	f.Fuzz(func(t *testing.T, text, other string, gph bool) {
		fsys := site()
		name := "d/gophermap"
		if gph {
			name = "d/index.gph"
		}
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
		fsys["d/x"] = &fstest.MapFile{Data: []byte(other)}
		fsys["d/tagged/gophertag"] = &fstest.MapFile{Data: []byte(other)}
		fsys["d/.names"] = &fstest.MapFile{Data: []byte(other)}
		fsys["d/.cap/a.txt"] = &fstest.MapFile{Data: []byte(text)}
		fsys["d/.abstract"] = &fstest.MapFile{Data: []byte(other)}
		seen := seenFS{fsys, map[string]bool{}}
		m := mustMenu(t, menu.Builder{FS: seen, Host: "our.example", Port: 70}, "d") // checks each line
		if n := 20 * (1 + strings.Count(text, "\n")) * (1 +
			20*strings.Count(other, "\n")); len(m.Items) > n+20 {
			t.Fatalf("%d items", len(m.Items))
		}
		for _, it := range m.Items {
			if it.Type == menu.TypeError {
				t.Fatalf("an error item: %+v", it)
			}
		}
		for file := range seen.names {
			known := regexp.MustCompile(`^(.*/)?(\.gophermap|\.names|\.Links|\.abstract|\.cap(/[^/.][^/]*)?)$`).MatchString(file)
			if strings.HasPrefix(file, "/") ||
				strings.Contains("/"+file, "/.") && file != "." && !known {
				t.Fatalf("%q was looked at", file)
			}
		}
	})
}
