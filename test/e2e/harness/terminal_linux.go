package harness

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gophd/gophd/internal/treetest"
)

// Terminal opens a terminal: screen reads the output of a program on tty. Both are closed
// with the test.
func Terminal(t testing.TB) (screen, tty *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	raw, err := screen.SyscallConn()
	treetest.Must(t, err)
	n := 0
	if err := raw.Control(func(fd uintptr) {
		_ = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0)
		n, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
	}); err != nil {
		t.Fatal(err)
	}
	if tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY,
		0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tty.Close() })
	return screen, tty
}

// A Screen collects a program's output to a terminal.
type Screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// String returns the output so far.
func (s *Screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// OnScreen starts a program whose standard output and error are a terminal, until
// the test ends.
func OnScreen(t testing.TB, cmd *exec.Cmd) *Screen {
	t.Helper()
	master, tty := Terminal(t)
	cmd.Stdout, cmd.Stderr = tty, tty
	treetest.Must(t, cmd.Start())
	s := &Screen{}
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b)
			if err != nil {
				return
			}
			s.mu.Lock()
			s.text.Write(b[:n])
			s.mu.Unlock()
		}
	}()
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return s
}
