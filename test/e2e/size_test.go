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
	must(t, os.Truncate(path, size))
}

// held asks for a file and stops reading when the reply is under way.
func (d *daemon) held(selector string) *net.TCPConn {
	d.t.Helper()
	c := d.begin(selector + "\r\n")
	must(d.t, c.SetReadBuffer(64<<10))
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		d.t.Fatal(err)
	}
	return c
}

// TestLargeFiles: a file takes no memory, whoever reads it. A reply is as long as the file
// was when it was opened, although it grows.
func TestLargeFiles(t *testing.T) {
	const size, more = 64 << 20, 8 << 20
	root := t.TempDir()
	path := filepath.Join(root, "log.bin")
	sparse(t, path, size)
	d := serve(t, root)
	before := d.peak()

	var clients []*net.TCPConn
	for range 4 {
		clients = append(clients, d.held("/log.bin"))
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	defer func() { _ = f.Close() }()
	_, err = f.Write(make([]byte, more))
	must(t, err)
	for _, c := range clients {
		if n, err := io.Copy(io.Discard, c); n+1 != size || err != nil {
			t.Errorf("got %d bytes, %v, want %d", n+1, err, size)
		}
	}
	if grown := d.peak() - before; grown > 16<<20 {
		t.Errorf("four times %d MiB took %d MiB of memory", size>>20, grown>>20)
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
	d := serveUnder(t, []string{strace, "-D", "-f", "-qq", "-e", "trace=sendfile",
		"-o", calls}, root)
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
