package daemon

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/server"
)

// TestAlive: a handler that hangs, and a queue that nobody empties, are no life.
func TestAlive(t *testing.T) { synctest.Test(t, testAlive) }

func testAlive(t *testing.T) {
	var log bytes.Buffer
	l, err := net.Listen("tcp", "127.0.0.1:0")
	treetest.Must(t, err)
	defer func() { _ = l.Close() }()
	s := &daemon{srv: &server.Server{}, listeners: []listener{{gopherAndHTTP, l, ""}},
		log: slog.New(slog.NewTextHandler(&log, nil))}
	alive := func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		return s.alive(ctx)
	}
	if !alive() {
		t.Errorf("not alive at rest: %s", &log)
	}
	c, err := net.Dial("tcp", l.Addr().String())
	treetest.Must(t, err)
	defer func() { _ = c.Close() }()
	if runtime.GOOS == "linux" &&
		(alive() || !strings.Contains(log.String(), "connections are not accepted")) {
		t.Errorf("alive although nobody accepts: %s", &log)
	}
	soon, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if log.Reset(); !s.alive(soon) || log.Len() > 0 {
		t.Errorf("the end is taken for a fault: %s", &log)
	}
	if c, err := l.Accept(); err != nil || !alive() {
		t.Errorf("not alive again: %s", &log)
	} else {
		_ = c.Close()
	}
	hang := make(chan bool)
	defer close(hang)
	s.srv.Handler = server.HandlerFunc(func(server.ResponseWriter, *server.Request) error {
		<-hang
		return nil
	})
	if alive() || !strings.Contains(log.String(), "the handler does not answer") {
		t.Errorf("alive although the handler hangs: %s", &log)
	}
}
