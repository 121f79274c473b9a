package server

import (
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/treetest"
)

// If a handler hangs or fails in the middle of a reply, the client sees that it is incomplete.
func TestReplyThatBreaksOff(t *testing.T) {
	begins := strings.Repeat("x", 2*bufferSize)
	free := make(chan struct{})
	for logged, breaks := range map[string]func(ResponseWriter) error{
		"does not answer": func(w ResponseWriter) error {
			s := w.(*reply).conn.socket
			s.mu.Lock()
			s.timer.Reset(0) // the stall time is over
			s.mu.Unlock()
			<-free
			_, err := io.WriteString(w, "too late")
			return err
		},
		syscall.EIO.Error(): func(ResponseWriter) error { return syscall.EIO },
	} {
		var log treetest.Log
		c := dialTCP(t, startTCP(t, &Server{StallTimeout: time.Hour, Log: log.Logger(),
			Handler: HandlerFunc(func(w ResponseWriter, _ *Request) error {
				_, err := io.WriteString(w, begins)
				return errors.Join(err, breaks(w))
			})}))
		send(c, "/x\r\n")
		got, err := io.ReadAll(c)
		if !errors.Is(err, syscall.ECONNRESET) || len(got) > len(begins) {
			t.Errorf("%s: %d bytes, %v", logged, len(got), err)
		}
		treetest.Until(t, "it is logged", func() bool {
			return strings.Contains(log.String(), "selector=/x bytes=32768 ") &&
				strings.Contains(log.String(), logged)
		})
	}
	close(free)
}
