package e2e_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gophd/gophd/test/e2e/harness"
)

// peak returns the most memory that gophd has had, in bytes.
func (d *daemon) peak() int64 {
	d.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.Process.Pid))
	if err != nil {
		d.t.Skip("no /proc here")
	}
	var kib int64
	_, line, _ := strings.Cut(string(status), "VmHWM:")
	if _, err := fmt.Sscan(line, &kib); err != nil {
		d.t.Fatal(err)
	}
	return kib << 10
}

// sparse makes a file that takes no room.
func sparse(t *testing.T, path string, size int64) {
	t.Helper()
	write(t, path, "")
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

// TestAbuseHugeFileTakesNoMemory streams nothing, much of it, to four clients.
func TestAbuseHugeFileTakesNoMemory(t *testing.T) {
	const size = 64 << 20
	root := t.TempDir()
	sparse(t, filepath.Join(root, "huge.bin"), size)
	d := serve(t, root)
	before := d.peak()
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			n, err := io.Copy(io.Discard, d.begin("/huge.bin\r\n"))
			if n != size || err != nil {
				t.Errorf("got %d bytes, %v, want %d", n, err, size)
			}
		})
	}
	clients.Wait()
	if grown := d.peak() - before; grown > 16<<20 {
		t.Errorf("four times %d MiB took %d MiB of memory", size>>20, grown>>20)
	}
}

// request asks, and does not read.
func (d *daemon) request(selector string) *net.TCPConn {
	d.t.Helper()
	c := d.begin("")
	if err := c.SetReadBuffer(64 << 10); err != nil {
		d.t.Fatal(err)
	}
	if _, err := io.WriteString(c, selector+"\r\n"); err != nil {
		d.t.Fatal(err)
	}
	return c
}

// held asks for a file and stops reading when the reply is under way.
func (d *daemon) held(selector string) *net.TCPConn {
	d.t.Helper()
	c := d.request(selector)
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		d.t.Fatal(err)
	}
	return c
}

// TestAbuseGrowingFileEnds sends a file to which somebody appends without
// pause, as long as it was when it was opened.
func TestAbuseGrowingFileEnds(t *testing.T) {
	const size = 64 << 20
	root := t.TempDir()
	path := filepath.Join(root, "log.bin")
	sparse(t, path, size)
	d := serve(t, root)
	c := d.held("/log.bin")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Write(make([]byte, 8<<20)); err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, c)
	if n+1 != size || err != nil {
		t.Errorf("got %d bytes, %v, want %d", n+1, err, size)
	}
}

// TestAbuseShrinkingFileEndsCleanly sends a file that somebody cuts off
// meanwhile: the reply ends where the file does, without a reset.
func TestAbuseShrinkingFileEndsCleanly(t *testing.T) {
	const size, left = 64 << 20, 32 << 20
	root := t.TempDir()
	path := filepath.Join(root, "log.bin")
	sparse(t, path, size)
	d := serve(t, root)
	c := d.held("/log.bin")
	if err := os.Truncate(path, left); err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, c)
	if n+1 != left || err != nil {
		t.Errorf("got %d bytes, %v, want %d", n+1, err, left)
	}
}

// TestLargeFilesGoBySendfile looks over gophd's shoulder.
func TestLargeFilesGoBySendfile(t *testing.T) {
	strace := harness.Tool(t, "strace")
	if out, err := exec.Command(strace, "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("no program may look at another here: %v: %s", err, out)
	}
	const size = 8 << 20
	root := t.TempDir()
	sparse(t, filepath.Join(root, "large.bin"), size)
	calls := filepath.Join(t.TempDir(), "calls")
	d := serveUnder(t, []string{strace, "-D", "-f", "-qq", "-e", "trace=sendfile", "-o", calls}, root)
	if n, err := io.Copy(io.Discard, d.begin("/large.bin\r\n")); n != size || err != nil {
		t.Fatalf("got %d bytes, %v", n, err)
	}
	var text []byte
	if !eventually(func() bool { // a call is written down after its bytes were received
		var err error
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
