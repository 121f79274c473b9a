package logs

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"unicode"

	"github.com/gophd/gophd/internal/command/terminal"
)

// Nothing from outside reaches a terminal that shows the log but what can be
// seen, and nothing of it is lost.
func TestLogHidesNothing(t *testing.T) {
	for _, selector := range []string{"/plain", "/é \U0001f439", "/\x1b[31m\x7f\"", "/\u009b31m\u202e\u2028x\U000e0001"} {
		var out strings.Builder
		w := &lazyWriter{w: &out, last: terminal.JSON}
		slog.New(slog.NewJSONHandler(w, nil)).Info("request", "selector", selector)
		w.write()
		line := strings.TrimSuffix(out.String(), "\n")
		if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q: %q", selector, line)
		}
		var got struct{ Selector string }
		if err := json.Unmarshal([]byte(line), &got); err != nil || got.Selector != selector {
			t.Errorf("%q is read as %q, %v", selector, got.Selector, err)
		}
	}
}

// What was lost is told once there is room again.
func TestLogTellsOfLostLines(t *testing.T) {
	var out strings.Builder
	free := make(chan bool)
	w := &lazyWriter{w: writerFunc(func(p []byte) (int, error) { <-free; return out.Write(p) })}
	w.tell = func(lost int) { _, _ = fmt.Fprintf(w, "lost %d\n", lost) }
	line := []byte(strings.Repeat("x", 1<<20-1) + "\n")
	_, _ = w.Write(line)
	go w.write() // waits
	for begun := false; !begun; {
		w.mu.Lock()
		begun = len(w.buf) == 0
		w.mu.Unlock()
	}
	for range logMax>>20 + 3 {
		_, _ = w.Write(line)
	}
	close(free)
	w.write()
	w.write() // what it told
	if got := out.Len() >> 20; got != 1+logMax>>20 || !strings.HasSuffix(out.String(), "x\nlost 3\n") {
		t.Errorf("%d MiB were written, the end is %q", got, out.String()[out.Len()-20:])
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
