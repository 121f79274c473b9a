package server

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A request that finds no descriptor left waits for one, as long as a request
// may take; then the fault is told.
func TestOutOfFilesIsNoRequestsFault(t *testing.T) {
	for lasts, want := range map[time.Duration]string{
		3 * time.Second: "</x|>", time.Hour: "3Server error\t\terror.host\t1\r\n.\r\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			p, stop := start(t, &Server{Handler: HandlerFunc(func(w ResponseWriter, r *Request) error {
				if time.Since(began) < lasts {
					return &fs.PathError{Op: "open", Path: "x", Err: syscall.EMFILE}
				}
				return echoSelector(w, r)
			})})
			if got := ask(t, p.dial(), "/x\n"); got != want || time.Since(began) > DefaultRequestTimeout+time.Second {
				t.Errorf("got %q after %v", got, time.Since(began))
			}
			stop()
		})
	}
}

// What was begun is not begun again.
func TestOutOfFilesInTheMiddle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, stop := start(t, &Server{Handler: HandlerFunc(func(w ResponseWriter, r *Request) error {
			return errors.Join(echoSelector(w, r), syscall.EMFILE)
		})})
		if got := ask(t, p.dial(), "/x\n"); strings.Count(got, "/x") > 1 {
			t.Errorf("got %q", got)
		}
		stop()
	})
}
