package fastcgi

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/fcgi"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/selector"
)

// listen returns a socket and a client for it.
func listen(t testing.TB) (net.Listener, *Program) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", name)
	treetest.Must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l, &Program{Socket: name}
}

// program answers each request with fixed bytes, after it was read.
func program(t testing.TB, answer func(net.Conn)) *Program {
	t.Helper()
	l, c := listen(t)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				_, _ = conn.Read(make([]byte, 64<<10))
				answer(conn)
			}()
		}
	}()
	return c
}

func send(b ...[]byte) func(net.Conn) {
	return func(c net.Conn) { _, _ = c.Write(bytes.Join(b, nil)) }
}

func out(s string) []byte    { return appendRecord(nil, typeStdout, []byte(s)) }
func stderr(s string) []byte { return appendRecord(nil, typeStderr, []byte(s)) }
func ended(exit, status byte) []byte {
	return appendRecord(nil, typeEnd, []byte{0, 0, 0, exit, status, 0, 0, 0})
}

// ask returns the whole reply.
func ask(t testing.TB, c *Program, params ...[2]string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := c.Do(ctx, params)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(r)
	return string(b), err
}

// TestOtherImplementation asks Go's own FastCGI server what it got.
func TestOtherImplementation(t *testing.T) {
	l, c := listen(t)
	go func() {
		_ = fcgi.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			env := fcgi.ProcessEnv(r)
			for _, k := range slices.Sorted(maps.Keys(env)) {
				_, _ = fmt.Fprintf(w, "%s=%d\n", k, len(env[k]))
			}
			_, _ = fmt.Fprint(w, strings.Repeat("x", 200_000))
		}))
	}()
	got, err := ask(t, c, [2]string{"REQUEST_METHOD", "GET"},
		[2]string{"SERVER_PROTOCOL", "HTTP/1.0"}, [2]string{"REQUEST_URI", "/"},
		[2]string{"SHORT", strings.Repeat("a", 127)}, [2]string{"LONG", strings.Repeat("a", 128)},
		[2]string{"HUGE", strings.Repeat("a", 100_000)})
	treetest.Must(t, err)
	_, body, _ := strings.Cut(got, "\r\n\r\n")
	if want := "HUGE=100000\nLONG=128\nSHORT=127\n" + strings.Repeat("x", 200_000); body != want {
		t.Errorf("got %.100q... (%d bytes), want %d bytes", body, len(body), len(want))
	}
}

func TestReplies(t *testing.T) {
	padded := append([]byte{1, byte(typeStdout), 0, 1, 0, 2, 5, 0}, "hi....."...)
	for name, test := range map[string]struct {
		reply [][]byte
		want  string
		err   error
	}{
		"plain":            {[][]byte{out("a"), out("b"), out(""), ended(0, 0)}, "ab", nil},
		"padding":          {[][]byte{padded, out("!"), ended(0, 0)}, "hi!", nil},
		"no end of stream": {[][]byte{out("a"), ended(0, 0)}, "a", nil},
		"nothing":          {[][]byte{ended(0, 0)}, "", nil},
		"died":             {[][]byte{out("a")}, "a", io.ErrUnexpectedEOF},
		"died at once":     {nil, "", io.ErrUnexpectedEOF},
		"died in a record": {[][]byte{out("abc")[:9]}, "a", io.ErrUnexpectedEOF},
		"died in padding":  {[][]byte{padded[:11]}, "hi", io.ErrUnexpectedEOF},
		"overloaded":       {[][]byte{ended(0, 2)}, "", ErrBusy},
		"unknown role":     {[][]byte{ended(0, 3)}, "", errProtocol},
		"other request":    {[][]byte{{1, 6, 0, 2, 0, 1, 0, 0, 'x'}}, "", errProtocol},
		"other version":    {[][]byte{{2, 6, 0, 1, 0, 1, 0, 0, 'x'}}, "", errProtocol},
		"other type":       {[][]byte{{1, 1, 0, 1, 0, 1, 0, 0, 'x'}}, "", errProtocol},
		"another protocol": {[][]byte{[]byte("HTTP/1.1 400 Bad Request\r\n\r\n")}, "", errProtocol},
		"short end":        {[][]byte{{1, 3, 0, 1, 0, 1, 0, 0, 0}}, "", errProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ask(t, program(t, send(test.reply...)))
			if got != test.want || !errors.Is(err, test.err) {
				t.Errorf("%q, %v; want %q, %v", got, err, test.want, test.err)
			}
		})
	}
}

func TestStderr(t *testing.T) {
	c := program(t, send(stderr("one\r\nt"), out("a"), stderr("wo\x1b[2J\n\nthree"),
		stderr(strings.Repeat("\nx", 500)), ended(7, 0)))
	var lines []string
	c.Stderr = func(l string) { lines = append(lines, l) }
	r, err := c.Do(t.Context(), nil)
	treetest.Must(t, err)
	if b, err := io.ReadAll(r); err != nil || string(b) != "a" || r.Exit() != 7 {
		t.Errorf("%q, %v, exit %d", b, err, r.Exit())
	}
	if len(lines) < 4 || len(lines) > maxErrorLines ||
		!slices.Equal(lines[:4], []string{"one", `two\x1b[2J`, "three", "x"}) {
		t.Errorf("%d lines: %q", len(lines), lines[:min(6, len(lines))])
	}
}

func TestHangs(t *testing.T) {
	for name, begin := range map[string][]byte{"at once": nil, "in a head": {1, 6, 0},
		"in a record": out("abc")[:9], "after a record": out("a")} {
		t.Run(name, func(t *testing.T) {
			c := program(t, func(conn net.Conn) {
				_, _ = conn.Write(begin)
				_, _ = conn.Read(make([]byte, 1)) // until the client goes
			})
			c.Timeout = 50 * time.Millisecond
			if _, err := ask(t, c); !errors.Is(err, ErrHangs) {
				t.Error(err)
			}
		})
	}
	_, c := listen(t) // nobody accepts
	c.Timeout = 50 * time.Millisecond
	if _, err := ask(t, c, [2]string{"HUGE",
		strings.Repeat("a", 16<<20)}); !errors.Is(err, ErrHangs) {
		t.Errorf("a request that is not taken: %v", err)
	}
}

func flood(record []byte) func(net.Conn) {
	return func(conn net.Conn) {
		for {
			if _, err := conn.Write(record); err != nil {
				return
			}
		}
	}
}

func TestFloods(t *testing.T) {
	for name, record := range map[string][]byte{"stdout": out(strings.Repeat("x", 60_000)),
		"stderr": stderr(strings.Repeat("x\n", 30_000))} {
		c := program(t, flood(record))
		c.MaxReply = 1 << 20
		got, err := ask(t, c)
		if !errors.Is(err, errFlood) || name == "stdout" && len(got) != 1<<20 {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	c := program(t, flood(out(""))) // empty records for ever
	c.MaxTime = 50 * time.Millisecond
	if _, err := ask(t, c); !errors.Is(err, ErrLong) {
		t.Error(err)
	}
}

// TestCancel: when its context ends, so does a reply, and the program loses its connection.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	lost := make(chan struct{})
	c := program(t, func(conn net.Conn) { _, _ = conn.Read(make([]byte, 1)); close(lost) })
	r, err := c.Do(ctx, nil)
	treetest.Must(t, err)
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := io.ReadAll(r); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-lost
	if _, err := c.Do(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := (&Program{Socket: "/nonexistent"}).Do(t.Context(), nil); err == nil {
		t.Error("no socket, no error")
	}
}

func TestHeader(t *testing.T) {
	for reply, want := range map[string]struct {
		header Header
		found  bool
		rest   string
	}{
		"Content-Type: text/plain\n\nbody": {Header{ContentType: "text/plain"}, true, "body"},
		"Content-type: text/plain\r\nX-Y: z\r\n\r\nbody\n": {Header{ContentType: "text/plain"},
			true, "body\n"},
		"Status: 404 Not Found\r\n\r\n": {Header{Status: 404}, true, ""},
		"status:502\n\n":                {Header{Status: 502}, true, ""},
		"Location: /x\n\n":              {Header{Location: "/x"}, true, ""},
		"X: y\n\nno header":             {Header{}, false, "X: y\n\nno header"},
		"Status: fine\n\nsaid the robot": {Header{}, false,
			"Status: fine\n\nsaid the robot"},
		"Content-Type: text/plain": {Header{}, false,
			"Content-Type: text/plain"},
		"Content-Type: text/plain\n": {Header{}, false,
			"Content-Type: text/plain\n"},
		"Hello\n\nContent-Type: x\n\n": {Header{}, false,
			"Hello\n\nContent-Type: x\n\n"},
		"Content-Type: a\nHello world\n\nb": {Header{}, false,
			"Content-Type: a\nHello world\n\nb"},
		"\nStatus: 404\n\n": {Header{}, false, "\nStatus: 404\n\n"},
		"iStatus: all well\t\thost\t70\r\n\r\n": {Header{}, false,
			"iStatus: all well\t\thost\t70\r\n\r\n"},
		"Dear reader: Status: 404\n\n": {Header{}, false,
			"Dear reader: Status: 404\n\n"},
		"Status: 404\x1b[2J\n\n": {Header{}, false,
			"Status: 404\x1b[2J\n\n"},
		"": {Header{}, false, ""},
		strings.Repeat("A: b\n", 4000) +
			"Status: 404\n\n": {Header{}, false,
			strings.Repeat("A: b\n", 4000) + "Status: 404\n\n"},
	} {
		for _, step := range []int{1, 7, 1 << 20} {
			r := bufio.NewReaderSize(&steps{strings.NewReader(reply), step}, maxHeader)
			h, found := ReadHeader(r)
			rest, _ := io.ReadAll(r)
			if h != want.header || found != want.found || string(rest) != want.rest {
				t.Errorf("%.60q by %d: %+v %v %.60q, want %+v", reply, step, h, found, rest, want)
			}
		}
	}
}

// steps gives a few bytes at a time.
type steps struct {
	io.Reader
	n int
}

func (s *steps) Read(p []byte) (int, error) {
	return s.Reader.Read(p[:min(len(p), s.n)])
}

// Whatever a program sends, the reply ends, and holds no more than was sent.
func FuzzReply(f *testing.F) {
	f.Add(bytes.Join([][]byte{stderr("a\nb"), out("Status: 404\n\nx"), ended(1, 0)}, nil))
	f.Add([]byte{1, 6, 0, 1, 255, 255, 255, 0, 'x'})
	l, c := listen(f)
	answers := make(chan []byte)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 1024))
			_, _ = conn.Write(<-answers)
			_ = conn.Close()
		}
	}()
	c.Stderr = func(l string) {
		if strings.ContainsFunc(l, func(r rune) bool {
			return r != '\t' && selector.IsControl(r)
		}) {
			panic(l)
		}
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r, err := c.Do(ctx, nil)
		treetest.Must(t, err)
		answers <- sent
		in := NewReader(r)
		_, _ = ReadHeader(in)
		n, err := io.Copy(io.Discard, in)
		if n > int64(len(sent)) ||
			err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, errProtocol) &&
				!errors.Is(err, ErrBusy) {
			t.Errorf("%d bytes of %d, %v", n, len(sent), err)
		}
	})
}

// A header that was found is one by the rule, and taking it off loses nothing else.
func FuzzHeader(f *testing.F) {
	f.Add("Content-Type: a\r\nStatus: 200\n\nbody")
	f.Fuzz(func(t *testing.T, reply string) {
		r := bufio.NewReaderSize(strings.NewReader(reply), maxHeader)
		_, found := ReadHeader(r)
		rest, _ := io.ReadAll(r)
		head, ok := strings.CutSuffix(reply, string(rest))
		if !ok || !found && head != "" {
			t.Fatalf("%q left of %q", rest, reply)
		}
		for line := range strings.Lines(head) {
			name, _, colon := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
			if line = strings.TrimRight(line, "\r\n"); line != "" &&
				(!colon || strings.ContainsAny(name, " \t")) {
				t.Fatalf("%q taken for a header", head)
			}
		}
	})
}
