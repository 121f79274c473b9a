package logs

import (
	"bytes"
	"io"
	"sync"
	"time"
)

// lazyWriter collects log lines for up to a tenth of a second, so that a busy
// server makes one system call for many. A caller never waits for them to be
// written: while the reader of the log takes nothing, lines beyond logMax are lost and
// counted.
type lazyWriter struct {
	w    io.Writer
	last func([]byte) []byte // what is still done to the lines; nil: nothing
	tell func(lost int)      // is called when there is room again

	mu    sync.Mutex
	buf   []byte
	timer *time.Timer
	lost  int // lines

	writing sync.Mutex // held before mu
	spare   []byte     // what the next lines are collected in
}

const (
	logDelay   = 100 * time.Millisecond
	logSize    = 64 << 10 // is written without delay
	logMax     = 4 << 20
	logEndTime = 3 * time.Second // what is left gets so long at the end
)

func (l *lazyWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	had := len(l.buf)
	if had+len(p) > logMax {
		l.lost++
		return len(p), nil
	}
	l.buf = append(l.buf, p...)
	switch {
	case l.timer == nil:
		l.timer = time.AfterFunc(logDelay, l.write)
	case had == 0:
		l.timer.Reset(logDelay)
	case had < logSize && len(l.buf) >= logSize:
		l.timer.Reset(0)
	}
	return len(p), nil
}

// flush writes the remaining lines, for at most logEndTime.
func (l *lazyWriter) flush() {
	done := make(chan struct{})
	go func() {
		l.write()
		l.write() // the report of lost lines
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(logEndTime):
	}
}

// write writes the collected lines. While it waits, at most two more wait for it:
// the timer is set again only for the first line and for the one that crosses
// logSize.
func (l *lazyWriter) write() {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	lines, lost := l.buf, l.lost
	l.buf, l.lost = l.spare[:0], 0
	l.mu.Unlock()
	out := lines
	if l.last != nil {
		out = l.last(lines)
	}
	if len(out) > 0 {
		if n, err := l.w.Write(out); err != nil {
			lost += bytes.Count(out[max(0, min(n, len(out))):], []byte("\n"))
		}
	}
	l.spare = lines[:0]
	if lost > 0 {
		l.tell(lost)
	}
}
