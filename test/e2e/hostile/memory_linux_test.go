package hostile

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/test/e2e/harness"
)

const (
	smallMemory = 400 << 20
	mostMore    = 200 << 10 // KiB above the idle server
	manyNames   = 200_000
)

// TestSmallMemory gives gophd 400 MiB. Four addresses ask for what is expensive, all at
// once and again and again, while a fifth uses everything: each request is answered.
func TestSmallMemory(t *testing.T) {
	harness.Slow(t, "make small-memory")
	root := tree(t)
	must(t, errors.Join(os.Mkdir(root+"/many", 0o755),
		datedTexts(t.Context(), root+"/many", manyNames)))
	treetest.Write(t, root, map[string]string{"page.txt": strings.Repeat("a line of a large page\n",
		80_000), "small/x.txt": "x\n"})
	d := harness.Start(t, "-root", root, "-http", "view", "-search", "-request-timeout", "1h")
	limitMemory(t, d.Process.Pid)
	d.WaitLog("search index built")
	fifth(t, d.Addr, time.Now().Add(5*time.Second)) // what building the index left behind is collected
	idle := memoryKiB(t, d, "VmRSS")
	long := strings.Repeat(`"b a" `, 670)
	for _, attack := range []struct {
		name, request string
		conns         int // of each address
	}{
		{"a feed of many names", "/many/feed.xml\r\n", 25},
		{"the menu of many names", "/many/\r\n", 25},
		{"searches that find a large directory", "/search\tb a\r\n", 8},
		{"many searches of an address", "/search\tlarge\r\n", 24},
		{"searches of 4 KB", "/search\t" + long + "\r\n", 4},
		{"HEAD of a large page",
			"HEAD /page.txt HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\nConnection: close\r\n\r\n", 25},
		{"a large page", "GET /many/ HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\nConnection: close\r\n\r\n", 25},
	} {
		t.Run(attack.name, func(t *testing.T) {
			if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", d.Process.Pid), []byte("5"),
				0); err != nil {
				t.Fatal(err) // begin a new VmHWM
			}
			var all sync.WaitGroup
			var asked, unanswered atomic.Int64
			end := time.Now().Add(5 * time.Second)
			for i := range 4 * attack.conns {
				all.Go(func() {
					for first := true; first || time.Now().Before(end); first = false {
						asked.Add(1)
						if n, err := send(io.Discard, fmt.Sprintf("127.5.0.%d", 1+i%4), d.Addr,
							attack.request); n == 0 || err != nil {
							unanswered.Add(1)
							t.Logf("an attacker got %d bytes, %v", n, err)
						}
					}
				})
			}
			took := fifth(t, d.Addr, end)
			all.Wait()
			more := memoryKiB(t, d, "VmHWM") - idle
			t.Logf("%d requests; idle %d MiB, at most %d MiB more; the fifth: %d requests, 99 %% within %v, slowest %v", asked.Load(), idle>>10, more>>10, len(took), took[len(took)*99/100].Round(time.Millisecond/10), took[len(took)-1].Round(time.Millisecond/10))
			if unanswered.Load() > 0 || more > mostMore {
				t.Errorf("%d requests are not answered; %d MiB more", unanswered.Load(), more>>10)
			}
		})
	}
}

// fifth uses everything until some time, and returns how long each request took, in order.
func fifth(t *testing.T, addr string, end time.Time) (took []time.Duration) {
	for i := 0; i == 0 || time.Now().Before(end); i++ {
		for request, want := range map[string]string{
			"/a.txt\r\n": "alpha\n", "/small/\r\n": "0x.txt", "robots.txt\r\n": "#",
			fmt.Sprintf("/no/%d\r\n", i): "3Not found", "/search\tlarge\r\n": "i",
			"GET /small/x.txt HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\nConnection: close\r\n\r\n": "HTTP/1.1 200",
		} {
			began := time.Now()
			var got strings.Builder
			_, err := send(&got, "127.6.0.1", addr, request)
			if took = append(took, time.Since(began)); err != nil ||
				!strings.HasPrefix(got.String(), want) {
				t.Errorf("the fifth's %q: %.80q, %v", request, got.String(), err)
			}
		}
	}
	slices.Sort(took)
	return took
}

// send sends a request and copies the reply, whose length it returns.
func send(to io.Writer, from, addr, request string) (int64, error) {
	c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)},
		Timeout: harness.Timeout}).Dial("tcp", addr)
	if err != nil {
		return 0, err
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(harness.Timeout))
	if _, err := io.WriteString(c, request); err != nil {
		return 0, err
	}
	return io.Copy(to, c)
}

// limitMemory puts a process into a control group of 400 MiB, where this user may.
func limitMemory(t *testing.T, pid int) {
	t.Helper()
	for _, group := range [][2]string{{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"},
		{"/sys/fs/cgroup", "memory.max"}} {
		if _, err := os.Stat(filepath.Join(group[0], "cgroup.procs")); err != nil {
			continue
		}
		dir := filepath.Join(group[0], fmt.Sprintf("gophd-test-%d", pid))
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			t.Cleanup(func() { // the process is still there, and goes back where it came from
				_ = os.WriteFile(filepath.Join(group[0], "cgroup.procs"), fmt.Append(nil, pid), 0)
				_ = os.Remove(dir)
			})
			err = errors.Join(os.WriteFile(filepath.Join(dir, group[1]),
				fmt.Append(nil, smallMemory), 0), os.WriteFile(filepath.Join(dir, "cgroup.procs"),
				fmt.Append(nil, pid), 0))
		}
		if err == nil {
			return
		}
		t.Log(err)
	}
	t.Log("memory is measured, and not limited: no control group is to be had here")
}
