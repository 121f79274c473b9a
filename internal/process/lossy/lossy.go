// Package lossy writes log lines without blocking the caller. It collects lines for a tenth of
// a second, so that a busy server writes many with one system call. While the file cannot be
// written, lines beyond a bound are dropped and counted.
//
// Do not use it where every line must be kept.
package lossy

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	delay   = 100 * time.Millisecond // time for which lines are collected
	atOnce  = 64 << 10               // bytes from which they are written without delay
	maxKept = 4 << 20                // bytes in memory
	perTell = time.Minute            // between two reports of lost lines
	endTime = 3 * time.Second        // how long Flush waits
)

// A Writer collects lines. Each Write is one line or several.
type Writer struct {
	// To takes the lines; Exchange replaces it.
	To io.Writer
	// Form, if not nil, transforms the lines before they are written.
	Form func(lines []byte) []byte
	// Tell is called at most once a minute with the number of lines lost since the last
	// call, and with the last error; err is nil if there was no room.
	Tell func(lines int64, err error)

	mu    sync.Mutex
	lines []byte
	timer *time.Timer

	lost atomic.Int64

	// Fields guarded by writing, which is locked before mu.
	writing sync.Mutex
	spare   []byte // the next buffer
	rest    []byte // of a line that the last write has cut
	told    time.Time
	toldOf  int64
}

// Lost returns how many lines were lost.
func (w *Writer) Lost() int64 { return w.lost.Load() }

// Write collects lines.
func (w *Writer) Write(lines []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	had := len(w.lines)
	if had+len(lines) > maxKept {
		w.lost.Add(int64(bytes.Count(lines, []byte("\n"))))
		return len(lines), nil
	}
	w.lines = append(w.lines, lines...)
	switch {
	case w.timer == nil:
		w.timer = time.AfterFunc(delay, w.write)
	case had == 0:
		w.timer.Reset(delay)
	case had < atOnce && len(w.lines) >= atOnce:
		w.timer.Reset(0)
	}
	return len(lines), nil
}

// Flush writes the collected lines. It returns false if that takes more than 3 s.
func (w *Writer) Flush() bool {
	done := make(chan struct{})
	go func() {
		w.write()
		w.write() // Tell may have written lines
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-time.After(endTime):
		return false
	}
}

// Exchange writes the collected lines, replaces To, and returns the old one.
func (w *Writer) Exchange(to io.Writer) (old io.Writer) {
	w.write()
	w.writing.Lock()
	defer w.writing.Unlock()
	old = w.To
	w.To = to
	w.rest = nil
	return old
}

// write writes the collected lines. At most two calls wait for a slow one, since the timer is
// set only by the first line and by the one that reaches atOnce.
func (w *Writer) write() {
	w.writing.Lock()
	defer w.writing.Unlock()

	// Take the lines.
	w.mu.Lock()
	lines := w.lines
	w.lines = w.spare[:0]
	w.mu.Unlock()
	w.spare = lines[:0]
	if w.Form != nil {
		lines = w.Form(lines)
	}

	// Write them, after the rest of a line that the last write has cut.
	var err error
	if len(lines) > 0 {
		err = w.append(lines)
	}

	// Report losses.
	if lost := w.lost.Load(); lost > w.toldOf && time.Since(w.told) >= perTell {
		since := lost - w.toldOf
		w.told, w.toldOf = time.Now(), lost
		w.Tell(since, err)
	}
}

// append writes lines. If it fails, all but the one that is cut are lost.
func (w *Writer) append(lines []byte) error {
	cut := len(w.rest) > 0
	if cut {
		lines = append(w.rest, lines...)
		w.rest = nil
	}
	n, err := w.To.Write(lines)
	if err == nil {
		return nil
	}
	if n > 0 {
		cut = lines[n-1] != '\n'
	}
	lines = lines[n:]
	if cut {
		end := bytes.IndexByte(lines, '\n') + 1
		w.rest = bytes.Clone(lines[:end])
		lines = lines[end:]
	}
	w.lost.Add(int64(bytes.Count(lines, []byte("\n"))))
	return err
}
