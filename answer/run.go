package answer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
)

// A menu that contains the output of programs is made twice. The first pass finds the
// programs. They then run for this request alone, without a place of the Limiter. The second
// pass inserts their output.

// maxPrograms bounds the programs of one menu.
const maxPrograms = 8

// printed is the output of a program, or its error.
type printed struct {
	text string
	err  error
}

// menuProgram is a program that a menu needs.
type menuProgram struct {
	name string // real name below the root
	menu bool   // it prints the whole menu
}

// unprinted is the error of a menu whose programs have not run yet.
type unprinted struct{ programs []menuProgram }

func (u *unprinted) Error() string {
	return fmt.Sprintf("made by programs: %v", u.programs)
}

var errManyPrograms = fmt.Errorf("more than %d programs", maxPrograms)

// run is the Run of a menu.Builder. A map may run only programs of its own author's tree.
func (q *Asked) run(name, by string) (string, bool, error) {
	real, ok := q.View.Owned(name, by)
	if !ok || !q.Host.Runner.Runs(real) {
		return "", false, nil
	}
	if q.printed == nil {
		q.wanted = append(q.wanted, menuProgram{real, name == by})
		return "", true, nil
	}
	p, ok := q.printed[real]
	if !ok {
		p.err = errManyPrograms
	}
	return p.text, true, p.err
}

// menu returns the menu of a directory or of a menu file, after running its programs.
func (q *Asked) menu(name string, dir bool) (*Value, error) {
	a, err := q.make(name, dir, (*Asked).makeMenu)
	var waits *unprinted
	if !errors.As(err, &waits) {
		return a, err
	}
	q.printed = map[string]printed{}
	for _, prog := range waits.programs {
		if _, ran := q.printed[prog.name]; ran || len(q.printed) == maxPrograms {
			continue
		}
		called := prog.name
		if prog.menu {
			called = name
		}
		text, err := q.Host.Runner.Run(q, prog.name,
			strings.TrimPrefix(selector.Canonical(called, false), "/"))
		if err != nil && (prog.menu || q.Context().Err() != nil) {
			return nil, err
		} else if err != nil {
			err = errors.New(server.ErrorMessage(err))
		}
		q.printed[prog.name] = printed{text, err}
	}
	k := q.key(selector.Canonical(name, dir))
	k.alone, k.client = q, q.address()
	return q.shared(k, name, dir, (*Asked).makeMenu)
}

// A program has few places, so a client that reads slowly must not occupy one: the output is
// read ahead of the client. An output that is drawn as a page or a menu is read whole before
// its call waits for a place, since programs may be slow.

// Bounds in bytes.
const (
	maxAhead  = 1 << 20 // of one output that are read ahead
	maxLoaded = 4 << 20 // of one output that is read whole
	maxMap    = 1 << 20 // of one output that is a map
)

var errTooLarge = &server.Error{
	Kind:    server.Internal,
	Message: "The program failed",
	Err:     errors.New("the reply of a program is too long to be made into a page or a menu"),
}

// ahead reads the output of a program ahead of its reader.
type ahead struct {
	src io.ReadCloser
	all *Limiter

	mu     sync.Mutex
	change sync.Cond
	most   int // bytes to read ahead
	buf    []byte
	err    error // of src; io.EOF at its end
	closed bool
}

// ahead returns a reader that reads src ahead. It closes src at its end, or when the reader
// is closed.
func (l *Limiter) ahead(src io.ReadCloser) *ahead {
	a := &ahead{src: src, all: l, most: maxAhead}
	a.change.L = &a.mu
	go func() {
		defer func() { _ = src.Close() }()
		for chunk := make([]byte, 16<<10); a.more(chunk); {
			continue
		}
	}()
	return a
}

// more reads a chunk and waits until there is room for the next one. It returns false at the
// end of the output.
func (a *ahead) more(chunk []byte) bool {
	n, err := a.src.Read(chunk)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.err = err
	a.change.Broadcast()
	if a.closed {
		return false
	}
	a.buf = append(a.buf, chunk[:n]...)
	held := a.all.held.Add(int64(n))
	if a.most > maxAhead && held > maxHeld*3/4 {
		a.err = errOverfull
	}
	for a.err == nil && !a.closed &&
		(len(a.buf) >= a.most ||
			len(a.buf) > 0 && a.most <= maxAhead && a.all.held.Load() > maxHeld/2) {
		a.change.Wait()
	}
	return a.err == nil && !a.closed
}

// Read returns bytes that were read ahead.
func (a *ahead) Read(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.buf) == 0 && a.err == nil {
		a.change.Wait()
	}
	if len(a.buf) == 0 {
		return 0, a.err
	}
	n := copy(p, a.buf)
	a.buf = a.buf[n:]
	if len(a.buf) == 0 {
		a.buf = nil
	}
	a.all.held.Add(int64(-n))
	a.change.Broadcast()
	return n, nil
}

// whole returns the whole output, up to most bytes. It counts in Limiter.held until Close.
func (a *ahead) whole(most int) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.most = most + 1
	a.change.Broadcast()
	for a.err == nil && len(a.buf) <= most {
		a.change.Wait()
	}
	switch {
	case len(a.buf) > most:
		return nil, errTooLarge
	case !errors.Is(a.err, io.EOF):
		return nil, a.err
	}
	return a.buf, nil
}

// Close discards the rest of the output and closes its source.
func (a *ahead) Close() error {
	a.mu.Lock()
	if !a.closed {
		a.closed = true
		a.all.held.Add(int64(-len(a.buf)))
		a.buf = nil
	}
	a.change.Broadcast()
	a.mu.Unlock()
	return a.src.Close()
}

// ReadMap returns the whole output of a program that prints a map. It counts as memory of
// programs until the request ends.
func (q *Asked) ReadMap(output io.ReadCloser) (string, error) {
	q.Host.open()
	a := q.Host.Limiter.ahead(output)
	context.AfterFunc(q.Context(), func() { _ = a.Close() })
	text, err := a.whole(maxMap)
	if err != nil {
		_ = a.Close()
	}
	return string(text), err
}
