package poll

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// harness is a Poller with one loop, whose events the test takes itself.
type harness struct {
	*Poller
	*Loop
	addr     string
	accepted atomic.Int64
	admit    func(*Conn) bool
}

func newHarness(t *testing.T, conf Params) *harness {
	t.Helper()
	lc := net.ListenConfig{}
	lc.SetMultipathTCP(false)
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{addr: l.Addr().String()}
	conf.Accepted = &h.accepted
	conf.Admit = func(c *Conn) bool {
		c.Owner = h
		return h.admit == nil || h.admit(c)
	}
	if h.Poller, err = New(l.(*net.TCPListener), conf); err != nil {
		t.Fatal(err)
	}
	h.Loop = h.NewLoop()
	_ = l.Close()
	t.Cleanup(func() {
		h.Close()
		for {
			if _, _, err := h.Next(); err != nil {
				return
			}
		}
	})
	return h
}

func (h *harness) dial(t *testing.T) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return c.(*net.TCPConn)
}

func (h *harness) want(t *testing.T, event Event) *Conn {
	t.Helper()
	c, got, err := h.Next()
	if err != nil || got != event {
		t.Fatalf("event %d, %v, want %d", got, err, event)
	}
	return c
}

const long = time.Hour

// A request comes in pieces, and with an end of stream.
func TestReadyInPieces(t *testing.T) {
	h := newHarness(t, Params{ReadTimeout: long, LingerTimeout: long})
	client := h.dial(t)
	want := ""
	for _, piece := range []string{"one", ", two"} {
		_, _ = io.WriteString(client, piece)
		want += piece
		c := h.want(t, Ready)
		if string(c.Data) != want || c.Ended {
			t.Fatalf("%q, ended %v", c.Data, c.Ended)
		}
		if !c.Wait() {
			t.Fatal("does not wait")
		}
	}
	_ = client.CloseWrite()
	if c := h.want(t, Ready); string(c.Data) != "one, two" || !c.Ended {
		t.Errorf("%q, ended %v", c.Data, c.Ended)
	}
}

// A client that leaves without a word, and one that is silent for too long.
func TestClosedAndTimedOut(t *testing.T) {
	h := newHarness(t, Params{ReadTimeout: time.Millisecond, LingerTimeout: long})
	_ = h.dial(t)
	if c := h.want(t, TimedOut); c.Answered() || c.Wait() {
		t.Error("it is not closed")
	}
	h = newHarness(t, Params{ReadTimeout: long, LingerTimeout: long})
	_ = h.dial(t).Close()
	if c := h.want(t, Closed); !errors.Is(c.Err, io.EOF) {
		t.Errorf("closed by %v", c.Err)
	}
}

// A request that is there when the time is over is still read, however late that is.
func TestRequestAtItsDeadline(t *testing.T) {
	h := newHarness(t, Params{ReadTimeout: long, LingerTimeout: long})
	client := h.dial(t)
	_, _ = io.WriteString(client, "one")
	c := h.want(t, Ready)
	if !c.Unread() {
		t.Error("a loop looks at what came")
	}
	if !c.Wait() || c.Unread() {
		t.Fatal("does not wait")
	}
	_, _ = io.WriteString(client, ", two")
	for there, buf := 0, make([]byte, 9); there < len(", two"); {
		there, _, _ = unix.Recvfrom(c.fd, buf, unix.MSG_PEEK)
	}
	if !c.Unread() {
		t.Error("there is nothing to read")
	}
	c.deadline = time.Now()
	if h.want(t, Ready); string(c.Data) != "one, two" || c.Wait() {
		t.Errorf("%q, or it may still wait", c.Data)
	}
}

// What was answered lingers: what the client sends is thrown away until it
// closes, or its time is over.
func TestLinger(t *testing.T) {
	for event, timeout := range map[Event]time.Duration{Closed: long, TimedOut: 10 * time.Millisecond} {
		h := newHarness(t, Params{ReadTimeout: long, LingerTimeout: timeout})
		client := h.dial(t)
		_, _ = io.WriteString(client, "request")
		c := h.want(t, Ready)
		if n, err := c.Send([]byte("reply")); n != 5 || err != nil {
			t.Fatal(n, err)
		}
		c.Linger()
		if event == Closed {
			h.admit = func(c *Conn) bool { // it did not close at once
				_, _ = io.WriteString(client, "more")
				_ = client.CloseWrite()
				return c.Answered()
			}
		}
		if h.want(t, event) != c || !c.Answered() {
			t.Error("another connection ended")
		}
		if got, err := io.ReadAll(client); string(got) != "reply" || err != nil {
			t.Errorf("the client got %q, %v", got, err)
		}
	}
}

// One that blocks lingers where the others do, without its goroutine.
func TestBlockThenLinger(t *testing.T) {
	h := newHarness(t, Params{ReadTimeout: long, LingerTimeout: long})
	client := h.dial(t)
	_, _ = io.WriteString(client, "request")
	c := h.want(t, Ready)
	c.Owner = h
	if err := c.Block(); err != nil {
		t.Fatal(err)
	}
	if c.Evict() {
		t.Error("evicted, though a goroutine has it")
	}
	_, _ = c.Write([]byte("reply"))
	if !c.Linger() {
		t.Fatal("does not linger")
	}
	if got, err := io.ReadAll(client); string(got) != "reply" || err != nil {
		t.Errorf("the client got %q, %v", got, err)
	}
	_ = client.Close()
	if h.want(t, Closed) != c {
		t.Error("another connection ended")
	}
}

// Who sends on a connection that somebody else closes is told that it is closed.
func TestClosedWhileSending(t *testing.T) {
	h := newHarness(t, Params{ReadTimeout: long, LingerTimeout: long})
	client := h.dial(t)
	_, _ = io.WriteString(client, "request")
	c := h.want(t, Ready)
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	const size = 256 << 20 // more than sockets take
	if err = errors.Join(err, file.Truncate(size), c.Block()); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	ended := make(chan error)
	go func() {
		_, err := c.SendFile(file, size)
		ended <- err
	}()
	if _, err = client.Read(make([]byte, 1)); err != nil { // it has begun
		t.Fatal(err)
	}
	_ = c.Close()
	if err := <-ended; !errors.Is(err, os.ErrClosed) {
		t.Errorf("sending ended with %v", err)
	}
	if err := c.SetWriteDeadline(time.Now()); !errors.Is(err, os.ErrClosed) {
		t.Errorf("its deadline: %v", err)
	}
}

// Evicting closes what is held at once, and what is not when it gets back.
func TestEvict(t *testing.T) {
	h := newHarness(t, Params{ReadTimeout: long, LingerTimeout: long})
	client := h.dial(t)
	_, _ = io.WriteString(client, "part")
	c := h.want(t, Ready)
	if !c.Evict() || c.Wait() {
		t.Error("it waits")
	}
	if _, err := client.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the client is told %v", err)
	}
	client = h.dial(t)
	_, _ = io.WriteString(client, "part")
	if c = h.want(t, Ready); !c.Wait() || !c.Evict() {
		t.Error("it is not held")
	}
	if _, err := client.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the client is told %v", err)
	}
}

// What was answered and is not closed gets its grace as long as there is room; then
// it has to be admitted, or is closed.
func TestGraceNeedsRoom(t *testing.T) {
	const room = 3
	h := newHarness(t, Params{ReadTimeout: long, LingerTimeout: long, Room: func() int { return room }})
	answered := 0
	h.admit = func(c *Conn) bool {
		if c.Answered() {
			_ = c.Close()
		}
		return !c.Answered()
	}
	for range 10 * room {
		client := h.dial(t)
		_, _ = io.WriteString(client, "request")
		for {
			if c, event, _ := h.Next(); event == Ready {
				_, _ = c.Send([]byte("reply"))
				c.Linger()
				answered++
				break
			}
		}
		if h.open > room+1 {
			t.Fatalf("%d are held of %d that were answered, want %d", h.open, answered, room+1)
		}
	}
}

// No more are accepted than there is room for, however many loops there are, but one
// more by each, to be refused.
func TestAcceptedNeedRoom(t *testing.T) {
	const room, loops = 10, 4
	h := newHarness(t, Params{ReadTimeout: long, LingerTimeout: long, Room: func() int { return room }})
	for range loops * batch {
		_, _ = io.WriteString(h.dial(t), "request")
	}
	h.want(t, Ready)
	first := h.Loop
	for range loops - 1 { // the others are still at the first of what they have accepted
		h.stepDown()
		h.Loop = h.NewLoop()
		h.want(t, Ready)
	}
	h.stepDown()
	h.Loop = first
	if got := h.accepted.Load(); got > room+loops-1 {
		t.Errorf("%d were accepted, want %d", got, room+loops-1)
	}
}

// After Stop the queue is emptied, then the end comes when nothing is left.
func TestStop(t *testing.T) {
	h := newHarness(t, Params{ReadTimeout: long, LingerTimeout: long})
	var clients []*net.TCPConn
	for range 3 * batch {
		client := h.dial(t)
		_, _ = io.WriteString(client, "request")
		clients = append(clients, client)
	}
	h.Stop(long)
	for range clients {
		c := h.want(t, Ready)
		_, _ = c.Send([]byte("reply"))
		c.Linger()
	}
	for _, client := range clients {
		if got, err := io.ReadAll(client); string(got) != "reply" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		_ = client.Close()
	}
	for {
		if _, _, err := h.Next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if n := h.accepted.Load(); n != int64(len(clients)) {
		t.Errorf("%d were accepted", n)
	}
}

// At the end, what a loop has in hand is left to it: if another one closed it, its
// own close would hit whatever has the descriptor by then.
func TestCloseLeavesWhatIsInHand(t *testing.T) {
	for name, end := range map[string]func(*Conn) bool{
		"waits":   (*Conn).Wait,
		"lingers": (*Conn).Linger,
		"blocks":  func(c *Conn) bool { return c.Block() != nil || c.Close() != nil },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, Params{ReadTimeout: long, LingerTimeout: long})
			client := h.dial(t)
			_, _ = io.WriteString(client, "one")
			h.want(t, Ready).Wait()
			_, _ = io.WriteString(client, ", two")
			c := h.want(t, Ready)
			h.stepDown()
			h.Loop = h.NewLoop()
			h.Close()
			if _, _, err := h.Next(); !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			if c.LocalAddrPort().String() != h.addr {
				t.Error("it is closed already")
			}
			if end(c) {
				t.Error("it is still open")
			}
			if _, err := client.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("the client is told %v", err)
			}
		})
	}
}

// Nothing is accepted during a pause, and everything after it.
func TestPause(t *testing.T) {
	h := newHarness(t, Params{ReadTimeout: long, LingerTimeout: long})
	const pause = 50 * time.Millisecond
	began := time.Now()
	h.Pause(pause)
	_, _ = io.WriteString(h.dial(t), "request")
	if h.want(t, Ready); time.Since(began) < pause {
		t.Error("accepted during the pause")
	}
}
