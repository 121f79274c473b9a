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
// Lines are queued and written by a goroutine of their own. Lines that the queue or the
// disk cannot take are lost and counted: no reply ever waits for the log.
// Do not use it where every line must be kept.
package accesslog

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/limit"
	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/server"
)

const (
	maxQueue   = 1 << 14                // requests that wait to be written
	delay      = 100 * time.Millisecond // lines are collected for one write
	closeTime  = 3 * time.Second        // what is still queued gets so long at the end
	tellLosses = time.Minute            // between two complaints
	tryAgain   = time.Second            // after there were no descriptors
)

// A Log is an open access log. It is a server.Observer.
type Log struct {
	name string
	ips  IPs
	log  *slog.Logger

	mu    sync.Mutex
	queue []queued
	again bool // the file is to be opened again
	ended bool

	wake chan struct{} // has an element when there is something to do
	done chan struct{}
	lost atomic.Int64

	// The rest is the writing goroutine's.
	file   *os.File
	torn   bool // the file ends in a part of a line
	told   time.Time
	toldOf int64
}

// Open opens a log, which is made if it is missing, for appending. Complaints
// go to logger.
func Open(name string, ips IPs, logger *slog.Logger) (*Log, error) {
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	l := &Log{name: name, ips: ips, log: logger, file: f, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go l.run()
	return l, nil
}

// run writes the queued lines until the log is closed.
func (l *Log) run() {
	defer close(l.done)
	var spare []queued
	for range l.wake {
		if !l.ending() {
			time.Sleep(delay)
		}
		l.mu.Lock()
		batch, again, ended := l.queue, l.again, l.ended
		l.queue, l.again = spare[:0], false
		l.mu.Unlock()
		l.write(batch)
		clear(batch) // so that the selectors can be freed
		spare = batch
		if again {
			l.reopen()
		}
		if ended {
			_ = l.file.Close()
			return
		}
	}
}

func (l *Log) ending() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.again || l.ended
}

// write appends lines with as few system calls as they need.
func (l *Log) write(batch []queued) {
	if len(batch) == 0 {
		return
	}
	var lines []byte
	if l.torn {
		lines = append(lines, '\n')
	}
	for _, e := range batch {
		lines = e.appendTo(lines, l.ips)
	}
	n, err := l.file.Write(lines)
	whole := bytes.Count(lines[:n], []byte("\n"))
	if l.torn && n > 0 {
		whole-- // the end of a line that was counted before
	}
	if n > 0 && n < len(lines) && lines[n-1] != '\n' && lines[n] == '\n' {
		whole++ // all but its end
	}
	if n > 0 {
		l.torn = lines[n-1] != '\n'
	}
	if err != nil {
		l.lost.Add(int64(len(batch) - whole))
		l.complain(err)
	}
}

func (l *Log) complain(err error) {
	if now := time.Now(); now.Sub(l.told) >= tellLosses {
		lost := l.lost.Load()
		l.log.Error("access log lines are lost", "error", err, "lines", lost-l.toldOf, "in_all", lost)
		l.told, l.toldOf = now, lost
	}
}

func (l *Log) reopen() {
	f, err := open(l.name)
	if err != nil {
		l.log.Error("cannot open the access log again", "error", err, "hint", "the old file is written to until the next SIGHUP")
		if limit.Reached(err) {
			time.AfterFunc(tryAgain, l.Reopen)
		}
		return
	}
	_ = l.file.Close()
	l.file, l.torn = f, false
}

// files bounds how long opening a log may take.
var files stall.Guard

// open never waits for a reader. A FIFO without a reader is opened for reading, too, and
// buffers lines up to its capacity until a reader comes.
func open(name string) (*os.File, error) {
	call := disk.Guarded(&files)
	f, err := call.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o640)
	if errors.Is(err, syscall.ENXIO) {
		f, err = call.OpenFile(name, os.O_RDWR|syscall.O_NONBLOCK, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the access log: %w", err)
	}
	if info, err := f.Stat(); err == nil {
		disk.Withhold(name, info)
	}
	return f, nil
}

// Reopen writes the queued lines and opens the file by its name again, since rotation
// has renamed it.
func (l *Log) Reopen() {
	if l == nil {
		return
	}
	l.ask(&l.again)
}

// Observe queues a line.
func (l *Log) Observe(s server.Served) {
	e := queued{s, time.Now().Add(-s.Took)}
	l.mu.Lock()
	if len(l.queue) >= maxQueue || l.ended {
		l.mu.Unlock()
		l.lost.Add(1)
		return
	}
	l.queue = append(l.queue, e)
	first := len(l.queue) == 1
	l.mu.Unlock()
	if first {
		l.poke()
	}
}

// Lost returns how many lines were lost.
func (l *Log) Lost() int64 {
	if l == nil {
		return 0
	}
	return l.lost.Load()
}

// Close writes the queued lines and closes the file. If the file takes nothing, it gives
// up after 3 s.
func (l *Log) Close() {
	if l == nil {
		return
	}
	l.ask(&l.ended)
	select {
	case <-l.done:
	case <-time.After(closeTime):
		l.log.Error("access log lines are lost: the file takes none", "name", l.name)
	}
}

// ask sets what run is to do besides.
func (l *Log) ask(what *bool) {
	l.mu.Lock()
	*what = true
	l.mu.Unlock()
	l.poke()
}

func (l *Log) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}
