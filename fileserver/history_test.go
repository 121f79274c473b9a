package fileserver

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/server"
)

// stale is how old an answer may be.
const stale = 250 * time.Millisecond

// book is the history of one file: when each generation of it came.
type book struct {
	file     string
	lines    int // of a generation
	selector string

	mu    sync.Mutex
	began []time.Time // when writing a generation began
	done  []time.Time // when it was in place
}

// content repeats the generation, so that a mixture shows.
func (b *book) content(gen int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "i%d\t\terror.host\t1\r\n", gen), b.lines)
}

// turn puts the next generation in place of the last.
func (b *book) turn(t *testing.T) {
	b.mu.Lock()
	gen := len(b.began)
	b.began = append(b.began, time.Now())
	b.mu.Unlock()
	if err := os.WriteFile(b.file+".new", b.content(gen), 0o644); err != nil {
		t.Error(err)
	}
	if err := os.Rename(b.file+".new", b.file); err != nil {
		t.Error(err)
	}
	b.mu.Lock()
	b.done = append(b.done, time.Now())
	b.mu.Unlock()
}

// check says what is wrong with an answer to a request made from start to end.
func (b *book) check(answer []byte, start, end time.Time, slack time.Duration) error {
	answer = bytes.TrimSuffix(answer, []byte(menu.End))
	first, _, _ := bytes.Cut(answer, []byte("\t"))
	if len(first) < 2 {
		return fmt.Errorf("%s: no answer: %q", b.selector, answer)
	}
	gen, err := strconv.Atoi(string(first[1:]))
	if err != nil || !bytes.Equal(answer, b.content(gen)) {
		return fmt.Errorf("%s: mixed: %.200q", b.selector, answer)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case gen >= len(b.began) || b.began[gen].After(end):
		return fmt.Errorf("%s: generation %d was not there yet", b.selector, gen)
	case gen+1 < len(b.done) && b.done[gen+1].Before(start.Add(-stale-slack)):
		return fmt.Errorf("%s: generation %d is %v too old", b.selector, gen, start.Sub(b.done[gen+1])-stale)
	}
	return nil
}

// ask answers a request as the server does: quickly, if that is possible.
func ask(tree *Files, sel string, quick *atomic.Int64) []byte {
	req := &server.Request{Host: "h", Port: 70}
	req.Selector = sel
	if a, ok := tree.Quick(req); ok {
		quick.Add(1)
		if a.FD != 0 {
			a.Body = make([]byte, a.Size)
			n, _ := syscall.Pread(a.FD, a.Body, 0)
			a.Body = a.Body[:max(n, 0)]
			if a.Return == nil {
				a.Return = func() { _ = syscall.Close(a.FD) }
			}
			a.Return()
		}
		return a.Body
	}
	var r reply
	if err := tree.ServeGopher(&r, req); err != nil {
		return nil
	}
	return r.Bytes()
}

// lag measures how late this process gets its turn: no server can be quicker.
func lag(stop <-chan struct{}, longest *atomic.Int64) {
	for last := time.Now(); ; {
		select {
		case <-stop:
			return
		case <-time.After(time.Millisecond):
		}
		now := time.Now()
		longest.Store(max(longest.Load(), int64(now.Sub(last))))
		last = now
	}
}

// library is files whose history is known, and who reads them.
type library struct {
	dir    string
	books  []*book
	tree   *Files
	stop   chan struct{}
	quick  atomic.Int64 // answers at once
	slack  atomic.Int64 // how late turns came
	asked  atomic.Int64
	random *rand.Rand // of the writer
}

func newLibrary(t *testing.T, names ...string) *library {
	l := &library{dir: t.TempDir(), stop: make(chan struct{}), random: dice(t)}
	for _, name := range names {
		b := &book{file: filepath.Join(l.dir, name), lines: 40, selector: "/" + name}
		if filepath.Ext(name) == ".bin" {
			b.lines = 8000 // it is sent by sendfile(2)
		}
		if filepath.Base(name) == "gophermap" {
			b.selector = "/" + filepath.Dir(name) + "/"
		}
		if err := os.MkdirAll(filepath.Dir(b.file), 0o755); err != nil {
			t.Fatal(err)
		}
		b.turn(t)
		l.books = append(l.books, b)
	}
	l.tree = &Files{Site: run(t, l.dir), Cache: 1 << 20}
	return l
}

// read asks for files, one after the other.
func (l *library) read(t *testing.T, r *rand.Rand) {
	for {
		select {
		case <-l.stop:
			return
		default:
		}
		b := l.books[r.IntN(len(l.books))]
		start := time.Now()
		answer := ask(l.tree, b.selector, &l.quick)
		l.asked.Add(1)
		if err := b.check(answer, start, time.Now(), time.Duration(l.slack.Load())); err != nil {
			t.Error(err)
			return
		}
		time.Sleep(time.Duration(r.IntN(300)) * time.Microsecond)
	}
}

// write replaces files; directories come and go, and annotations.
func (l *library) write(t *testing.T) {
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end) && !t.Failed(); {
		l.books[l.random.IntN(len(l.books))].turn(t)
		if spare := filepath.Join(l.dir, "a", "spare"); l.random.IntN(4) == 0 {
			_ = os.Mkdir(spare, 0o755)
			_ = os.WriteFile(filepath.Join(l.dir, "a", ".robots"), []byte("Disallow: /spare\n"), 0o644)
			_ = os.Rename(spare, filepath.Join(l.dir, fmt.Sprint("spare", l.random.IntN(3))))
		}
		time.Sleep(time.Duration(l.random.IntN(40)) * time.Millisecond)
	}
}

// No answer is older than 250 ms, and none mixes two states of a file.
func TestAnswersAreFreshAndWhole(t *testing.T) {
	l := newLibrary(t, "a/text.txt", "a/b/text.txt", "a/gophermap", "m/gophermap", "text.txt", "a/large.bin")
	var busy sync.WaitGroup
	busy.Go(func() { lag(l.stop, &l.slack) })
	for range 3 {
		r := rand.New(rand.NewPCG(l.random.Uint64(), 0))
		busy.Go(func() { l.read(t, r) })
	}
	l.write(t)
	close(l.stop)
	busy.Wait()
	t.Logf("%d answers, %d at once, turns up to %v late", l.asked.Load(), l.quick.Load(), time.Duration(l.slack.Load()))
	if l.quick.Load() == 0 {
		t.Error("nothing was answered from memory")
	}
}
