package lossy

import (
	"errors"
	"strings"
	"testing"
)

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestStuck: a file that takes nothing costs bounded memory, and nobody waits. What was lost
// is told once there is room again.
func TestStuck(t *testing.T) {
	var out strings.Builder
	begun, free := make(chan bool, 16), make(chan bool)
	told := int64(0)
	w := &Writer{To: writerFunc(func(p []byte) (int, error) {
		begun <- true
		<-free
		return out.Write(p)
	})}
	w.Tell = func(lost int64, err error) { told += lost }
	line := []byte(strings.Repeat("x", 1<<20-1) + "\n")
	_, _ = w.Write(line)
	go w.write()
	<-begun
	for range maxKept>>20 + 3 {
		_, _ = w.Write(line)
	}
	if w.Lost() != 3 {
		t.Errorf("%d lines lost before there is room", w.Lost())
	}
	close(free)
	w.write()
	if got := out.Len() >> 20; got != 1+maxKept>>20 || told != 3 {
		t.Errorf("%d MiB were written, %d lines told", got, told)
	}
}

// TestLostAreCounted: a disk that fills in the middle of a line, again and again. Each line
// that is not whole is counted, unless its rest is to follow.
func TestLostAreCounted(t *testing.T) {
	var file []byte
	room := 0
	full := errors.New("no space left on device")
	told := 0
	w := &Writer{Tell: func(int64, error) { told++ }}
	w.To = writerFunc(func(p []byte) (int, error) {
		n := min(len(p), room)
		file = append(file, p[:n]...)
		if n < len(p) {
			return n, full
		}
		return n, nil
	})
	const line = "a whole line\n"
	written := int64(0)
	for i, r := range []int{0, len(line) / 2, 0, len(line) + 5, 1, 10 * len(line),
		2*len(line) - 1} {
		room = r
		before := w.Lost()
		_, _ = w.Write([]byte(line + line + line))
		w.write()
		written += 3 - (w.Lost() - before)
		whole := int64(0)
		if len(w.rest) > 0 {
			whole = 1 // soon
		}
		for got := range strings.Lines(string(file)) {
			if got == line {
				whole++
			}
		}
		if whole != written {
			t.Errorf("write %d: %d whole lines, but %d were not counted as lost:\n%s", i,
				whole, written, file)
		}
	}
	if told != 1 {
		t.Errorf("told %d times in a minute", told)
	}
}
