package main

import (
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

// newLogger makes the logger that the flags ask for, and what is to be called
// before the program ends.
func newLogger(c *cli.Context) (*slog.Logger, func(), error) {
	opts := &slog.HandlerOptions{Level: slog.LevelInfo}
	switch {
	case c.Bool("quiet"):
		opts.Level = slog.LevelWarn
	case c.Bool("v"):
		opts.Level = slog.LevelDebug
	}
	w := &lazyWriter{w: c.App.ErrWriter}
	switch format := c.String("log-format"); {
	case format == "text", format == "auto" && isTerminal(c.App.ErrWriter):
		return slog.New(slog.NewTextHandler(w, opts)), w.flush, nil
	case format == "json", format == "auto":
		return slog.New(slog.NewJSONHandler(w, opts)), w.flush, nil
	default:
		return nil, nil, usageError("one of text, json, auto", "unknown -log-format %q", format)
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// lazyWriter collects log lines for up to a tenth of a second, so that a busy
// server makes one system call for many. What it cannot write is lost: no
// reply waits for a log.
type lazyWriter struct {
	w     io.Writer
	mu    sync.Mutex
	buf   []byte
	timer *time.Timer
}

const (
	logDelay = 100 * time.Millisecond
	logSize  = 64 << 10
)

func (l *lazyWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case len(l.buf)+len(p) > logSize:
		l.write()
	case len(l.buf) == 0 && l.timer == nil:
		l.timer = time.AfterFunc(logDelay, l.flush)
	case len(l.buf) == 0:
		l.timer.Reset(logDelay)
	}
	l.buf = append(l.buf, p...)
	return len(p), nil
}

func (l *lazyWriter) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write()
}

func (l *lazyWriter) write() {
	if len(l.buf) > 0 {
		_, _ = l.w.Write(l.buf)
		l.buf = l.buf[:0]
	}
}
