//go:build linux

package hostile

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gophd/gophd/test/e2e/harness"
)

// floods are what one client sends through a proxy, each on a connection of its
// own that it keeps for a second, or until there are many.
var floods = []string{
	"PROXY TCP4 192.0.2.1 198.51.100.1 1234 70\r\n/a.txt\r\n",
	"PROXY TCP4 192.0.2.1 198.51.100.1 1234 70\r\n/large.bin\r\n",
	"PROXY TCP4 192.0.2.1 198.51.100.1 1234 70\r\n",
	"PROXY TCP4 192.0.2.1",
	"",
}

// TestSoakProxied lets one client flood through a trusted proxy: gophd never has
// more descriptors than connections to give, the 16 that a full server accepts before
// it makes room, the 32 files that the client may be sent at once (that is its cap),
// and some of its own; and those who come directly are served, in the long form within
// 50 ms in the middle.
func TestSoakProxied(t *testing.T) {
	span, long := time.Second, os.Getenv("TEST_GOPHD_SOAK") != ""
	if long {
		span = 15 * time.Second
	}
	const most = 200 + 16 + 32 + 20 // descriptors
	d := harness.Start(t, "-root", tree(t), "-request-timeout", "1h", "-max-conns", "200", "-trust-proxy", "127.0.0.9")
	d.Until("the file is read", func() bool { return d.Ask("/a.txt") == "alpha\n" })
	others := startOthers(t, d.Addr)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var all sync.WaitGroup
	var came atomic.Int64
	for i := range 8 {
		all.Go(func() { came.Add(flood(ctx, d.Addr, i)) })
	}
	held, open := 0, 0
	for began := time.Now(); time.Since(began) < span; time.Sleep(time.Millisecond) {
		n, files := descriptors(d)
		held, open = max(held, n), max(open, n+len(files))
	}
	took := others.stop()
	stop()
	all.Wait()
	median := took[len(took)/2]
	t.Logf("%d connections came by the proxy, at most %d sockets held, %d descriptors; others: %d asked, median %v, slowest %v",
		came.Load(), held, open, len(took), median.Round(10*time.Microsecond), took[len(took)-1].Round(100*time.Microsecond))
	if open > most {
		t.Errorf("%d descriptors, want %d at most", open, most)
	}
	if long && median > 50*time.Millisecond {
		t.Errorf("others were answered after %v in the middle", median)
	}
}

// many is how many connections a flood keeps at most: those of eight of them fit
// into 1,024 descriptors.
const many = 100

// flood connects as fast as it can until ctx ends, and returns how often it did.
func flood(ctx context.Context, addr string, i int) (came int64) {
	dial := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 9)}, Control: smallBuffer}
	var kept []net.Conn
	began := time.Now()
	for ; ctx.Err() == nil; i++ {
		c, err := dial.DialContext(ctx, "tcp", addr)
		if err != nil {
			continue
		}
		came++
		_, _ = io.WriteString(c, floods[i%len(floods)])
		if kept = append(kept, c); time.Since(began) < time.Second && len(kept) < many {
			continue
		}
		closeAll(kept)
		kept, began = kept[:0], time.Now()
	}
	closeAll(kept)
	return came
}

func closeAll[C net.Conn](conns []C) {
	for _, c := range conns {
		_ = c.Close()
	}
}

// descriptors counts the server's sockets, and lists what else it has open.
func descriptors(d *harness.Daemon) (sockets int, files []string) {
	dir := fmt.Sprintf("/proc/%d/fd/", d.Process.Pid)
	all, _ := os.ReadDir(dir)
	for _, f := range all {
		switch name, err := os.Readlink(dir + f.Name()); {
		case strings.HasPrefix(name, "socket:"):
			sockets++
		case err == nil:
			files = append(files, name)
		}
	}
	return sockets, files
}
