package site_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/site"
)

var eventually = treetest.Eventually

// author changes a content tree as people do.
type author struct {
	*rand.Rand
	dir, beside string // the root, and a directory next to it
	n           int
}

func (g *author) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g *author) name() string {
	at := g.dir
	for range 1 + g.IntN(3) {
		at = filepath.Join(at, g.pick("a", "b", "c", "d", "e"))
	}
	return at
}

// work does one thing. Whether it can be done does not matter.
func (g *author) work() {
	g.n++
	at, other := g.name(), g.name()
	spare := filepath.Join(g.beside, fmt.Sprint(g.n))
	rules := fmt.Sprintf("Disallow: /%s\nAllow: /%s/\n", g.pick("a", "b", "c", ""),
		g.pick("d", "e"))
	note := filepath.Join(at, ".robots")
	switch g.IntN(14) {
	case 0, 1:
		_ = os.MkdirAll(at, 0o755)
	case 2:
		_ = os.WriteFile(at, []byte("text"), 0o644)
	case 3, 4: // as some editors write
		_ = os.WriteFile(note, []byte(rules), 0o644)
	case 5, 6: // as rsync, git and other editors do
		_ = os.WriteFile(note+".new", []byte(rules), 0o644)
		_ = os.Rename(note+".new", note)
	case 7:
		_ = os.Remove(note)
	case 8:
		_ = os.RemoveAll(at)
	case 9:
		_ = os.Rename(at, other)
	case 10: // out of the root, and back under another name
		if os.Rename(at, spare) == nil {
			_ = os.Rename(spare, other)
		}
	case 11:
		_ = os.Symlink(filepath.Join(g.dir, g.pick("a", "b", "c")), at)
	case 12:
		_ = os.Chmod(g.pick(at, note), []os.FileMode{0, 0o311, 0o755}[g.IntN(3)])
	case 13:
		_ = os.Chmod(at, 0o755)
	}
}

// Whatever is done to a tree, robots.txt is soon what a fresh start makes of it.
func TestNoChangeIsLost(t *testing.T) { noChangeIsLost(t) }

// The same for whom not everything is open.
func TestNoChangeIsLostUnprivileged(t *testing.T) {
	unprivileged(t)
	noChangeIsLost(t)
}

func noChangeIsLost(t *testing.T) {
	base := t.TempDir()
	g := author{Rand: treetest.Dice(t), dir: filepath.Join(base, "root"),
		beside: filepath.Join(base, "beside")}
	for _, dir := range []string{g.dir, g.beside} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		_ = filepath.WalkDir(base, func(at string, _ os.DirEntry, _ error) error {
			if info, err := os.Lstat(at); err == nil && info.IsDir() {
				_ = os.Chmod(at, 0o755)
			}
			return nil
		})
	})
	s := start(t, g.dir, site.Config{})
	for range 12 {
		for range 1 + g.IntN(60) {
			g.work()
			if g.IntN(8) == 0 {
				time.Sleep(time.Duration(g.IntN(30)) * time.Millisecond)
			}
		}
		fresh, err := site.Load(g.dir)
		if err != nil {
			t.Fatal(err)
		}
		if !eventually(func() bool { return bytes.Equal(s.Now().Robots, fresh.Robots) }) {
			t.Fatalf("got:\n%s\nwant:\n%s", s.Now().Robots, fresh.Robots)
		}
	}
}
