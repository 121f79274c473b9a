package terminal

import (
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/text/transform"
)

// progressAfter is how long a task may take before it reports progress.
const progressAfter = 2 * time.Second

// Progress shows on a terminal, in one line that is written over, how far a task
// is, if it takes longer than two seconds. The line is what how returns, which is
// called by another goroutine. The returned function ends it and takes the line
// away. On anything but a terminal nothing is shown.
func Progress(w io.Writer, how func() string) (stop func()) {
	if !Is(w) {
		return func() {}
	}
	return progress(w, how, progressAfter)
}

func progress(w io.Writer, how func() string, after time.Duration) (stop func()) {
	done := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		timer := time.NewTimer(after)
		defer timer.Stop()
		for shown := false; ; shown = true {
			select {
			case <-timer.C:
				text, _, _ := transform.String(printable{}, how())
				_, _ = fmt.Fprintf(w, "\r%s\x1b[K", text)
				timer.Reset(time.Second / 5)
			case <-done:
				if shown {
					_, _ = io.WriteString(w, "\r\x1b[K")
				}
				return
			}
		}
	})
	return sync.OnceFunc(func() { close(done); ended.Wait() })
}
