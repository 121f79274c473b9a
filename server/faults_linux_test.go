package server

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/treetest"
)

// wantReset reads the rest of a reply, which must end with a reset before atMost bytes.
func wantReset(t *testing.T, c io.Reader, atMost int) {
	t.Helper()
	got, err := io.ReadAll(c)
	if !errors.Is(err, syscall.ECONNRESET) || len(got) >= atMost {
		t.Errorf("%d bytes of %d, %v", len(got), atMost, err)
	}
}

// stallOver makes the stall timer of a reply fire.
func stallOver(w ResponseWriter) {
	s := w.(*reply).conn.socket
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer.Reset(0)
}

// If a handler hangs or fails in the middle of a reply, the client sees that it is incomplete.
func TestReplyThatBreaksOff(t *testing.T) {
	begins, free := strings.Repeat("x", 2*bufferSize), make(chan struct{})
	var log lines
	addr := startTCP(t, &Server{StallTimeout: time.Hour, Log: log.logger(),
		Handler: quickOnly{HandlerFunc(func(w ResponseWriter, _ *Request) error {
			_, err := io.WriteString(w, begins)
			stallOver(w)
			<-free
			_, late := io.WriteString(w, "too late")
			return errors.Join(err, late)
		})}})
	c := dialTCP(t, addr)
	_, _ = io.WriteString(c, "/x\r\n")
	wantReset(t, c, 2*bufferSize+1)
	close(free)
	want := fmt.Sprintf("selector=/x bytes=%d ", len(begins))
	treetest.Until(t, "it is logged", func() bool {
		return strings.Contains(log.String(), want) &&
			strings.Contains(log.String(), "does not answer")
	})

	bad := HandlerFunc(func(w ResponseWriter, _ *Request) error {
		_, err := io.WriteString(w, begins)
		return errors.Join(err, syscall.EIO)
	})
	c = dialTCP(t, startTCP(t, &Server{Handler: quickOnly{bad}}))
	_, _ = io.WriteString(c, "/x\r\n")
	wantReset(t, c, 2*bufferSize+1)
}
