package initcmd

import (
	"github.com/gophd/gophd/internal/treetest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gophd/gophd/menu"
)

func TestInit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "hole")
	var out strings.Builder
	if err := Init(&out, []string{dir}, time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	if want := "made 8 files in " + dir + "\ntry: gophd -listen :7070 " + dir +
		"\n"; out.String() != want {
		t.Errorf("said %q, want %q", &out, want)
	}
	for _, name := range []string{"gophermap", "about.txt", ".robots", "phlog/.robots",
		"phlog/gophermap", "phlog/2026-11-21-first.txt", "phlog/2026-11-22-second.txt",
		"phlog/drafts/next.txt"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		treetest.Must(t, err)
		for line := range strings.Lines(string(text)) {
			if utf8.RuneCountInString(line) > 72 {
				t.Errorf("%s: a long line: %s", name, line)
			}
		}
	}
	list, err := (&menu.Builder{FS: os.DirFS(dir), Host: "h", Port: 70}).Menu(t.Context(), "phlog")
	if err != nil || len(list.Problems) > 0 {
		t.Errorf("%v, %v", err, list.Problems)
	}
	var links []string
	for _, it := range list.Items {
		if it.Type != menu.TypeInfo {
			links = append(links, it.Label+" "+it.Selector)
		}
	}
	if want := "2026-11-22 How to write the next post /phlog/2026-11-22-second.txt|2026-11-21 The first post /phlog/2026-11-21-first.txt|Back to the start /"; strings.Join(links, "|") != want {
		t.Errorf("the posts are %q, want %q", links, want)
	}
}
