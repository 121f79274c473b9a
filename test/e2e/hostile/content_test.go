//go:build linux

package hostile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gophd/gophd/site"
	"github.com/gophd/gophd/test/e2e/harness"
)

const (
	texts   = 200  // that stay as they are
	larges  = 5    // 64 KiB to 1 MiB
	livings = 10   // texts that are replaced
	dated   = 2000 // texts that a feed lists
	people  = 20   // directories that come and go, with annotations
	denied  = "Disallow: /private"
)

// textOf returns a text of 1 KiB.
func textOf(i int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "text %09d\n", i), 1<<10/15)
}

// largeOf returns a file of 64 KiB, or twice as much as the one before.
func largeOf(i int) []byte { return largeFiles[i] }

var largeFiles = func() (list [larges][]byte) {
	r := rand.NewChaCha8([32]byte{1})
	for i := range list {
		list[i] = make([]byte, 64<<10<<i)
		_, _ = r.Read(list[i])
	}
	return list
}()

// menuOf returns what the gophermap gives, or the listing of the texts.
func menuOf(addr string, listing bool) []byte {
	host, port, _ := net.SplitHostPort(addr)
	var b []byte
	for i := range texts {
		label := fmt.Sprintf("%03d.txt", i)
		if !listing {
			label = fmt.Sprintf("A text, number %d", i)
		}
		b = fmt.Appendf(b, "0%s\t/texts/%03d.txt\t%s\t%s\r\n", label, i, host, port)
	}
	return append(b, ".\r\n"...)
}

// growth is what the text that grows is a beginning of.
var growth = sync.OnceValue(func() (b []byte) {
	for i := 0; len(b) < maxGrowth; i++ {
		b = fmt.Appendf(b, "%07d and so on and on\n", i)
	}
	return b
})

const maxGrowth = 1 << 20

// livingText returns a text that says which version it is, and its hash.
func livingText(version, size int) []byte {
	body := bytes.Repeat(fmt.Appendf(nil, "%d.", version), size)
	return fmt.Appendf(nil, "%d %x\n%s", version, sha256.Sum256(body), body)
}

// versionOf returns the version of such a text, false if it is not all of it.
func versionOf(text []byte) (version int, ok bool) {
	head, body, _ := bytes.Cut(text, []byte("\n"))
	var hash []byte
	n, err := fmt.Sscanf(string(head), "%d %x", &version, &hash)
	sum := sha256.Sum256(body)
	return version, n == 2 && err == nil && bytes.Equal(hash, sum[:])
}

// content is the tree, and what was changed in it.
type content struct {
	root string
	n    int // of what was done
	rand *rand.Rand

	mu       sync.Mutex // held by who changes something, and while there is no root
	replaced [livings][]time.Time
}

// makeContent makes the tree in a directory.
func makeContent(t *testing.T, base string) *content {
	g := &content{root: filepath.Join(base, "root"), rand: rand.New(rand.NewPCG(3, 5))}
	files := map[string][]byte{
		".robots": []byte("Disallow: /private/\n"), "private/letter.txt": []byte("x"),
		"growing/log.txt": nil,
		"a.txt":           []byte("alpha\n"), "large.bin": large, "people/readme.txt": []byte("x"),
		"menu/gophermap": menuMap(),
	}
	for i := range texts {
		files[fmt.Sprintf("texts/%03d.txt", i)] = textOf(i)
	}
	for i := range dated {
		files[fmt.Sprintf("phlog/2026-%02d-%02d-%d.txt", 1+i%12, 1+i%28, i)] = textOf(i)
		files[fmt.Sprintf("leased/%d.txt", i%20)] = []byte("leased\n")
	}
	for i := range larges {
		files[fmt.Sprintf("large/%d.bin", i)] = largeOf(i)
	}
	for i := range livings {
		files[fmt.Sprintf("living/%d.txt", i)] = livingText(0, 100)
		g.replaced[i] = []time.Time{time.Now()}
	}
	for name, data := range files {
		at := filepath.Join(g.root, name)
		must(t, errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, data, 0o644)))
	}
	must(t, os.Symlink("texts", filepath.Join(g.root, "linked")))
	return g
}

// menuMap is a gophermap whose items are on the server that serves it.
func menuMap() (b []byte) {
	for i := range texts {
		b = fmt.Appendf(b, "0A text, number %d\t/texts/%03d.txt\n", i, i)
	}
	return b
}

// changeAndCompare changes the tree, and looks from time to time whether robots.txt says
// what the tree does.
func (m *longRun) changeAndCompare(ctx context.Context) {
	rest := min(m.pace/2, 5*time.Second)
	for ctx.Err() == nil {
		for end := time.Now().Add(rest); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			m.content.work()
		}
		m.compare()
	}
}

// compare waits until robots.txt is what a fresh start would make of the tree.
func (m *longRun) compare() {
	m.content.mu.Lock() // so that there is a root
	fresh, err := readAll(m.content.root)
	m.content.mu.Unlock()
	if err != nil {
		m.t.Error(err)
		return
	}
	var got []byte
	for began := time.Now(); time.Since(began) < maxRest+maxWait; time.Sleep(5 * time.Millisecond) {
		if got, err = harness.Exchange("127.3.1.1", m.Addr, "robots.txt", nil); err == nil &&
			bytes.Equal(rulesOf(got), rulesOf(fresh.Robots)) {
			m.rewritten = append(m.rewritten, time.Since(began))
			return
		}
	}
	m.fault("robots.txt differs from the policy (%v):\n%s\nwant:\n%s", err, got, fresh.Robots)
}

// added are the lines of a robots.txt that are not about the tree alone: sitemaps, and mounts
// that hang.
var added = regexp.MustCompile(`(?m)^(Sitemap: .*|Disallow: /?hanging.*|)\n`)

func rulesOf(file []byte) []byte { return added.ReplaceAll(file, nil) }

// readAll returns the policy of a tree with a search.
func readAll(root string) (*site.Snapshot, error) {
	s, err := site.Open(root, site.Config{Watch: site.WatchOff, Endless: []string{"/search"}})
	if err != nil {
		return nil, err
	}
	fresh, stop, err := s.Read(context.Background())
	if err != nil {
		return nil, err
	}
	return fresh, stop()
}

// work does one thing. What cannot be done is left.
func (g *content) work() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n++
	at, other := g.person(), g.person()
	note := filepath.Join(at, ".robots")
	rules := fmt.Sprintf("User-agent: *\nDisallow: /%d/\nDisallow: /diary\n\nUser-agent: robot%d\nDisallow: /\n", g.n%7, g.n%3)
	switch g.rand.IntN(10) {
	case 0, 1, 2, 3:
		g.replace(g.rand.IntN(livings))
	case 4:
		_ = os.MkdirAll(filepath.Join(at, "0"), 0o755)
		_ = os.WriteFile(filepath.Join(at, "diary.txt"), []byte(rules), 0o644)
	case 5:
		_ = os.WriteFile(note, []byte(rules), 0o644)
	case 6:
		_ = os.WriteFile(note+".new", []byte(rules), 0o644)
		_ = os.Rename(note+".new", note)
	case 7:
		_ = os.Rename(at, other)
	case 8:
		_ = os.RemoveAll(at)
	case 9:
		_ = os.Remove(note)
	}
}

func (g *content) person() string {
	return filepath.Join(g.root, "people", fmt.Sprint(g.rand.IntN(people)))
}

// replace puts a new version of a text in the place of the old one.
func (g *content) replace(i int) {
	name := filepath.Join(g.root, "living", fmt.Sprintf("%d.txt", i))
	text := livingText(len(g.replaced[i]), 1+g.rand.IntN(20_000))
	if os.WriteFile(name+".new", text, 0o644) == nil && os.Rename(name+".new", name) == nil {
		g.replaced[i] = append(g.replaced[i], time.Now())
	}
}

// age returns how long a version had been replaced when it was asked for.
func (g *content) age(i, version int, asked time.Time) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	if next := version + 1; next < len(g.replaced[i]) {
		return max(0, asked.Sub(g.replaced[i][next]))
	}
	return 0
}

// writeOn writes to a text without pause. When that is long enough, an empty
// one takes its place.
func (g *content) writeOn(ctx context.Context) {
	for at := 0; sleep(ctx, time.Millisecond); {
		at += g.writeMore(at)
		if at >= maxGrowth-100 {
			at = 0
		}
	}
}

func (g *content) writeMore(at int) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	name := filepath.Join(g.root, "growing", "log.txt")
	if at == 0 && (os.WriteFile(name+".new", nil, 0o644) != nil ||
		os.Rename(name+".new", name) != nil) {
		return 0
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	line := growth()[at : at+1+bytes.IndexByte(growth()[at:], '\n')]
	n, _ := f.Write(line)
	return n
}

// exchange puts another directory in the place of the root, with the same
// files. For a moment there is none.
func (g *content) exchange() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	next, old := g.root+".next", g.root+".old"
	if err := errors.Join(os.RemoveAll(old), os.RemoveAll(next), linkAll(g.root, next),
		os.Rename(g.root, old)); err != nil {
		return err
	}
	time.Sleep(20 * time.Millisecond)
	return os.Rename(next, g.root)
}

// hide takes the root away for a while.
func (g *content) hide(d time.Duration) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := os.Rename(g.root, g.root+".away"); err != nil {
		return err
	}
	time.Sleep(d)
	return os.Rename(g.root+".away", g.root)
}

// linkAll makes a second tree of the same files. Those that go meanwhile are
// left out.
func linkAll(from, to string) error {
	return filepath.WalkDir(from, func(name string, e fs.DirEntry, err error) error {
		at := to + strings.TrimPrefix(name, from)
		switch {
		case err == nil && e.IsDir():
			err = os.Mkdir(at, 0o755)
		case err == nil:
			err = os.Link(name, at)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}
