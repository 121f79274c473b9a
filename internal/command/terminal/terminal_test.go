package terminal

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/gophd/gophd/internal/treetest"
)

// TestSafe: in whatever pieces text comes, what is written is the same, and
// nothing in it is a control character but line ends and tabs.
func TestSafe(t *testing.T) {
	var every []byte
	for n := range 256 {
		every = append(every, byte(n), 'x')
	}
	text := "a\r\nb\tc\r\x1b[2J é 世\xff\xc3" + string(every) + "\u202e\u0085\r"
	var whole bytes.Buffer
	w := Safe(&whole)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	if bad := strings.IndexFunc(whole.String(), func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t'
	}); bad >= 0 {
		t.Errorf("a control character in %q", whole.String()[bad:])
	}
	if !strings.HasPrefix(whole.String(), "a\nb\tc\\r\\x1b[2J é 世\\xff\\xc3") {
		t.Errorf("got %q", whole.String())
	}
	for size := 1; size < 5; size++ {
		var pieces bytes.Buffer
		w := Safe(&pieces)
		for rest := []byte(text); len(rest) > 0; rest = rest[min(size, len(rest)):] {
			_, _ = w.Write(rest[:min(size, len(rest))])
		}
		_ = w.Close()
		if pieces.String() != whole.String() {
			t.Errorf("in pieces of %d: %q", size, pieces.String())
		}
	}
}

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out treetest.Log
		n := 0
		stop := progress(&out, func() string {
			n++
			return fmt.Sprintf("%d done\x1b", n)
		}, progressAfter)
		time.Sleep(progressAfter - 1)
		synctest.Wait()
		if out.String() != "" {
			t.Errorf("told after less than two seconds: %q", out.String())
		}
		time.Sleep(300 * time.Millisecond)
		stop()
		if want := "\r1 done\\x1b\x1b[K\r2 done\\x1b\x1b[K\r\x1b[K"; out.String() != want {
			t.Errorf("got %q, want %q", out.String(), want)
		}
		var quick treetest.Log
		stop = progress(&quick, func() string { return "x" }, progressAfter)
		time.Sleep(time.Second)
		if stop(); quick.String() != "" {
			t.Errorf("a quick task is told of: %q", quick.String())
		}
	})
}
