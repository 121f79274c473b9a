package hostile

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gophd/gophd/test/e2e/harness"
)

// habit is what many clients do wrong.
type habit struct {
	name    string
	first   string // what each sends at once
	trickle string // what each sends again and again, byte by byte
	half    bool   // closes its side
	tls     bool   // shakes hands before
}

var basicHabits = []habit{
	{name: "silent"},
	{name: "trickling", trickle: "/a.txt"},
	{name: "never reading", first: "/large.bin\r\n"},
	{name: "half-closing", first: "/large.bin\r\n", half: true},
	{name: "not closing", first: "/a.txt\r\n"},
	{name: "TLS hello in part", first: "\x16\x03\x01\x02\x00\x01\x00\x01\xfc"},
}

// deadlines are what gophd is started with, and what is expected of it.
type deadlines struct {
	request, stall time.Duration
	// others is in which time everybody else must be answered. A connection
	// that finds the kernel's queue full is tried again a second later.
	others time.Duration
}

// TestSoak holds ten thousand clients of each habit against gophd if GOPHD_SOAK
// says 10000; by default, a few hundred.
func TestSoak(t *testing.T) {
	n, limits := 600, deadlines{time.Second, time.Second, 3 * time.Second}
	if want, err := strconv.Atoi(os.Getenv("GOPHD_SOAK")); err == nil {
		n, limits = want, deadlines{10 * time.Second, 15 * time.Second, 2 * time.Second}
	}
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil || files.Cur < uint64(n+200) {
		t.Skipf("%d open files are too few (%v)", files.Cur, err)
	}
	root := tree(t)
	for _, c := range basicHabits {
		t.Run(c.name, func(t *testing.T) {
			d := harness.Start(t, "-root", root, "-tls-self-signed", t.TempDir(),
				"-request-timeout", limits.request.String(), "-stall-timeout", limits.stall.String())
			d.Until("the file is read", func() bool { return d.Ask("/a.txt") == "alpha\n" })
			soak(t, d, c, n, limits)
		})
	}
}

// soak lets n clients of one habit connect and logs what they cost the server and
// other clients.
func soak(t *testing.T, d *harness.Daemon, c habit, n int, limits deadlines) {
	restingFiles := openFiles(t, d)
	resting, peak, held := residentKiB(t, d), 0, 0
	others := startOthers(t, d.Addr)
	began := time.Now()
	conns := c.arrive(t, d.Addr, n)
	arrived := time.Since(began)
	for tick := 0; tick == 0 || openFiles(t, d) > restingFiles+8; tick++ {
		peak, held = max(peak, residentKiB(t, d)), max(held, openFiles(t, d)-restingFiles)
		if c.trickle != "" {
			c.drip(conns, tick)
		}
		if time.Since(began) > arrived+limits.request+limits.stall*3/2+10*time.Second {
			t.Fatalf("after %v there still are %d files more", time.Since(began), openFiles(t, d)-restingFiles)
		}
		time.Sleep(100 * time.Millisecond)
	}
	gone := time.Since(began)
	took := others.stop()
	for _, conn := range conns {
		_ = conn.Close()
	}
	t.Logf("%d came in %.1f s, %d files held, at most %d MiB more; others: %d asked, median %v, slowest %v; all gone after %.1f s",
		n, arrived.Seconds(), held, (peak-resting)>>10, len(took), took[len(took)/2].Round(10*time.Microsecond),
		took[len(took)-1].Round(100*time.Microsecond), gone.Seconds())
	if more := (peak - resting) >> 10; more > 100 {
		t.Errorf("%d MiB more", more)
	}
	if slowest := took[len(took)-1]; slowest > limits.others {
		t.Errorf("somebody else waited %v", slowest)
	}
}

// perAddress is how many clients come from one address.
const perAddress = 25

// arrive connects n clients, from many addresses of this machine.
func (c habit) arrive(t *testing.T, addr string, n int) []*net.TCPConn {
	t.Helper()
	conns := make([]*net.TCPConn, n)
	var all sync.WaitGroup
	for w := range 16 {
		all.Go(func() {
			for i := w; i < n; i += 16 {
				conns[i] = c.client(t, addr, i/perAddress)
			}
		})
	}
	all.Wait()
	return slices.DeleteFunc(conns, func(c *net.TCPConn) bool { return c == nil })
}

func (c habit) client(t *testing.T, addr string, number int) *net.TCPConn {
	d := net.Dialer{
		Timeout: 10 * time.Second, LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 1, byte(number/250), byte(1+number%250))},
		Control: smallBuffer,
	}
	conn, err := d.Dial("tcp", addr)
	if err != nil {
		t.Error(err)
		return nil
	}
	tcp := conn.(*net.TCPConn)
	var to io.Writer = tcp
	if c.tls {
		to = tls.Client(tcp, harness.AnyCert(""))
		_ = tcp.SetDeadline(time.Now().Add(5 * time.Second)) // a refused client is told so in plain text, not in TLS
	}
	_, _ = io.WriteString(to, c.first)
	_ = tcp.SetDeadline(time.Time{})
	if c.half {
		_ = tcp.CloseWrite()
	}
	return tcp
}

// smallBuffer keeps what a client does not read from filling this machine.
func smallBuffer(_, _ string, raw syscall.RawConn) error {
	return raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, 4096)
	})
}

// drip sends one byte of each client that is still there.
func (c habit) drip(conns []*net.TCPConn, tick int) {
	if tick%10 != 0 {
		return
	}
	one := []byte{c.trickle[tick/10%len(c.trickle)]}
	for _, conn := range conns {
		_, _ = conn.Write(one)
	}
}

// others are polite clients, who must be served meanwhile.
type others struct {
	cancel context.CancelFunc
	done   chan []time.Duration
	t      *testing.T
}

func startOthers(t *testing.T, addr string) *others {
	ctx, cancel := context.WithCancel(t.Context())
	o := &others{cancel: cancel, done: make(chan []time.Duration, 1), t: t}
	go func() {
		var took []time.Duration
		for i := 0; ctx.Err() == nil; i++ {
			took = append(took, o.ask(addr, i))
			time.Sleep(10 * time.Millisecond)
		}
		slices.Sort(took)
		o.done <- took
	}()
	return o
}

// ask asks for what the server has at hand, and for what it has not.
func (o *others) ask(addr string, i int) time.Duration {
	sel, want := "/a.txt", "alpha\n"
	if i%2 == 1 {
		sel, want = fmt.Sprintf("/no/%%%02x/such", i), "3Not found"
	}
	began := time.Now()
	if got, err := harness.Ask(addr, sel); err != nil || !strings.HasPrefix(got, want) {
		o.t.Errorf("%s: %.100q, %v", sel, got, err)
	}
	return time.Since(began)
}

func (o *others) stop() []time.Duration {
	o.cancel()
	return <-o.done
}

// residentKiB returns the resident memory of the server.
func residentKiB(t *testing.T, d *harness.Daemon) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := bytes.Cut(status, []byte("VmRSS:"))
	kib, err := strconv.Atoi(string(bytes.Fields(after)[0]))
	if err != nil {
		t.Fatal(err)
	}
	return kib
}

// openFiles counts the server's open files.
func openFiles(t *testing.T, d *harness.Daemon) int {
	t.Helper()
	dir, err := os.Open(fmt.Sprintf("/proc/%d/fd", d.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}
