package e2e_test

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/gophd/gophd/test/e2e/harness"
)

// TestLargeFiles looks over gophd's shoulder: the kernel sends a file, which takes no memory of
// gophd. A reply is as long as the file was when it was opened, although it grows.
func TestLargeFiles(t *testing.T) {
	strace := harness.Tool(t, "strace")
	if out, err := exec.Command(strace, "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("no program may look at another here: %v: %s", err, out)
	}
	const size = 8 << 20
	root, calls := t.TempDir(), filepath.Join(t.TempDir(), "calls")
	path := filepath.Join(root, "large.bin")
	write(t, path, "")
	must(t, os.Truncate(path, size))
	d := harness.StartCmd(t, exec.Command(strace, "-D", "-f", "-qq", "-e", "trace=sendfile",
		"-o", calls, harness.Program(t), "-listen", "127.0.0.1:0", "-root", root))

	c, err := begin(d.Addr, "/large.bin")
	must(t, err)
	defer func() { _ = c.Close() }()
	_, err = io.ReadFull(c, make([]byte, 1))
	must(t, errors.Join(err, os.Truncate(path, 2*size)))
	if n, err := io.Copy(io.Discard, c); n+1 != size || err != nil {
		t.Fatalf("got %d bytes, %v", n+1, err)
	}
	var text []byte
	if !eventually(func() bool { // a call is written down after its bytes were received
		text, err = os.ReadFile(calls)
		return err == nil && sumOf(string(text)) == size
	}) {
		t.Errorf("sendfile has sent %d bytes, want %d:\n%s", sumOf(string(text)), size, text)
	}
}

var sendfile = regexp.MustCompile(`sendfile(?:\(| resumed).*\) += (\d+)`)

// sumOf adds up what the calls of sendfile have sent, in a trace.
func sumOf(trace string) (sum int) {
	for _, call := range sendfile.FindAllStringSubmatch(trace, -1) {
		n, _ := strconv.Atoi(call[1])
		sum += n
	}
	return sum
}
