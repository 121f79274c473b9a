// Package accesslog writes one line for each request in Apache's combined form with the
// virtual host in front (vhost_combined), which log analysers read:
//
//	gopher.example.org:70 192.0.2.7 gopher - [20/Nov/2026:12:39:30 +0000] "/phlog/" 200 1234 "-" "-"
//
// The fields are the host and port of the site, the client's address, the protocol, the time when
// the connection was accepted, the selector in place of an HTTP request line, the status that HTTP
// would have ([server.Kind.Status]), the bytes sent (- for none), and a browser's Referer and
// User-Agent. Gopher has neither, and [None] leaves them out.
//
// Lines that cannot be written are dropped and counted (package lossy): no reply waits for
// the log. Do not use it where every line must be kept.
package accesslog

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"syscall"
	"time"

	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/limit"
	"github.com/gophd/gophd/internal/process/lossy"
	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/server"
)

// tryAgain is the delay before a retry after the process ran out of descriptors.
const tryAgain = time.Second

// A Log is an open access log. It is a server.Observer.
type Log struct {
	name string
	ips  IPs
	log  *slog.Logger
	w    lossy.Writer
}

// Open opens a log for appending, and creates it if it does not exist. Faults are reported to
// logger.
func Open(name string, ips IPs, logger *slog.Logger) (*Log, error) {
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	l := &Log{name: name, ips: ips, log: logger}
	l.w.To = f
	l.w.Tell = func(lines int64, err error) {
		logger.Error("access log lines are lost", "error", err, "lines", lines,
			"in_all", l.w.Lost())
	}
	return l, nil
}

// files bounds how long opening a log may take.
var files = disk.Guarded(&stall.Guard{})

// open does not wait for a reader. It opens a FIFO without a reader for reading, too, so that
// the FIFO buffers lines until a reader opens it.
func open(name string) (*os.File, error) {
	f, err := files.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o640)
	if errors.Is(err, syscall.ENXIO) {
		f, err = files.OpenFile(name, os.O_RDWR|syscall.O_NONBLOCK, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the access log: %w", err)
	}
	if info, err := f.Stat(); err == nil {
		disk.Withhold(name, info)
	}
	return f, nil
}

// Reopen writes the collected lines and opens the file by its name again, after a rotation
// has renamed it. It does not wait.
func (l *Log) Reopen() {
	if l != nil {
		go l.reopen()
	}
}

func (l *Log) reopen() {
	f, err := open(l.name)
	if err != nil {
		l.log.Error("cannot open the access log again", "error", err, "hint",
			"the old file is written to until the next SIGHUP")
		if limit.Reached(err) {
			time.AfterFunc(tryAgain, l.Reopen)
		}
		return
	}
	if old, ok := l.w.Exchange(f).(*os.File); ok {
		_ = old.Close()
	}
}

// Observe adds a line.
func (l *Log) Observe(s server.Served) {
	_, _ = io.WriteString(&l.w, line(s, time.Now().Add(-s.Took), l.ips))
}

// Lost returns how many lines were lost.
func (l *Log) Lost() int64 {
	if l == nil {
		return 0
	}
	return l.w.Lost()
}

// Close writes the collected lines, for at most 3 s.
func (l *Log) Close() {
	if l != nil && !l.w.Flush() {
		l.log.Error("access log lines are lost: the file takes none", "name", l.name)
	}
}
