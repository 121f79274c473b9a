package answer_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/server"
)

// book is the history of one file: which generations of it there are.
type book struct {
	file     string
	lines    int // of a generation
	selector string

	begun atomic.Int64 // the newest of which anything may be seen
	told  atomic.Int64 // the newest that has been there for a second: no answer is older from then on
}

// content repeats the generation, so that a mixture shows.
func (b *book) content(gen int64) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "i%d\t\terror.host\t1\r\n", gen), b.lines)
}

// turn puts the next generation in place of the last.
func (b *book) turn(t *testing.T) {
	gen := b.begun.Add(1)
	if err := os.WriteFile(b.file+".new", b.content(gen), 0o644); err != nil {
		t.Error(err)
	}
	if err := os.Rename(b.file+".new", b.file); err != nil {
		t.Error(err)
	}
}

// check says what is wrong with an answer to a request that was made after a
// generation was told.
func (b *book) check(answer []byte, told int64) error {
	newest := b.begun.Load()
	answer = bytes.TrimSuffix(answer, []byte(menu.End))
	first, _, _ := bytes.Cut(answer, []byte("\t"))
	if len(first) < 2 {
		return fmt.Errorf("%s: no answer: %q", b.selector, answer)
	}
	gen, err := strconv.ParseInt(string(first[1:]), 10, 64)
	switch {
	case err != nil || !bytes.Equal(answer, b.content(gen)):
		return fmt.Errorf("%s: mixed: %.200q", b.selector, answer)
	case gen > newest:
		return fmt.Errorf("%s: generation %d was not there yet", b.selector, gen)
	case gen < told:
		return fmt.Errorf("%s: generation %d, though %d was told", b.selector, gen, told)
	}
	return nil
}

// library is files whose history is known, and who reads them.
type library struct {
	dir    string
	books  []*book
	tree   *Files
	quick  atomic.Int64 // answers at once
	asked  atomic.Int64
	random *rand.Rand // of the writer
}

// turns is how often a file is replaced. A little more than a second after it the new
// one must be in every answer.
const (
	turns = 100
	known = 1100 * time.Millisecond
)

func newLibrary(t *testing.T, names ...string) *library {
	l := &library{dir: t.TempDir(), random: treetest.Dice(t)}
	for _, name := range names {
		b := &book{file: filepath.Join(l.dir, name), lines: 40, selector: "/" + name}
		if filepath.Ext(name) == ".bin" {
			b.lines = 8000 // it is sent by sendfile(2)
		}
		if filepath.Base(name) == "gophermap" {
			b.selector = "/" + filepath.Dir(name) + "/"
		}
		must(t, os.MkdirAll(filepath.Dir(b.file), 0o755))
		b.turn(t)
		l.books = append(l.books, b)
	}
	l.tree = newFiles(run(t, l.dir), 1<<20)
	return l
}

// write replaces files; directories come and go, and annotations.
func (l *library) write(t *testing.T) {
	for range turns {
		b := l.books[l.random.IntN(len(l.books))]
		b.turn(t)
		gen := b.begun.Load()
		time.AfterFunc(known, func() { b.told.Store(max(b.told.Load(), gen)) })
		if spare := filepath.Join(l.dir, "a", "spare"); l.random.IntN(4) == 0 {
			_ = os.Mkdir(spare, 0o755)
			_ = os.WriteFile(filepath.Join(l.dir, "a", ".robots"),
				[]byte("Disallow: /spare\n"), 0o644)
			_ = os.Rename(spare, filepath.Join(l.dir, fmt.Sprint("spare", l.random.IntN(3))))
		}
		time.Sleep(time.Duration(l.random.IntN(40)) * time.Millisecond)
	}
}

// ask answers a request for a book as the server does: quickly, if that is possible.
func (l *library) ask(b *book) error {
	told := b.told.Load()
	l.asked.Add(1)
	req := &server.Request{Host: "h", Port: 70}
	req.Selector = b.selector
	a, ok := l.tree.Quick(req)
	if !ok {
		var r reply
		_ = l.tree.ServeGopher(&r, req) // without an answer there is none
		return b.check(r.Bytes(), told)
	}
	l.quick.Add(1)
	if a.File != nil {
		a.Body, _ = io.ReadAll(io.LimitReader(a.File, a.Size))
		_ = a.File.Close()
	}
	return b.check(a.Body, told)
}

// No answer is older than a second, and none mixes two states of a file.
func TestAnswersAreFreshAndWhole(t *testing.T) {
	l := newLibrary(t, "a/text.txt", "a/b/text.txt", "a/gophermap", "m/gophermap",
		"text.txt", "a/large.bin")
	var reading sync.WaitGroup
	stop := make(chan struct{})
	for range 3 {
		r := rand.New(rand.NewPCG(l.random.Uint64(), 0))
		reading.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(time.Duration(r.IntN(300)) * time.Microsecond):
				}
				if err := l.ask(l.books[r.IntN(len(l.books))]); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	l.write(t)
	for _, b := range l.books {
		if !eventually(func() bool { return b.told.Load() == b.begun.Load() }) {
			t.Errorf("%s: the newest generation is never told", b.selector)
		}
		if err := l.ask(b); err != nil {
			t.Error(err)
		}
	}
	if !eventually(func() bool { return t.Failed() || l.quick.Load() > 0 }) {
		t.Error("nothing was answered from memory")
	}
	close(stop)
	reading.Wait()
	t.Logf("%d answers, %d at once", l.asked.Load(), l.quick.Load())
}
