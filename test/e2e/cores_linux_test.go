package e2e_test

import (
	"context"
	"fmt"
	"math"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/test/e2e/harness"
)

// busy is a handler whose replies cost as much of a processor as it takes to
// count so far.
type busy struct{ count int }

func (b busy) Quick(*server.Request) (server.Answer, bool) {
	spin(b.count)
	return server.Answer{Body: []byte("done")}, true
}

func (b busy) ServeGopher(server.ResponseWriter, *server.Request) error { return server.ErrNotFound }

func spin(n int) {
	sum := 0
	for i := range n {
		sum += i ^ sum
	}
	spun.Store(int64(sum))
}

var spun atomic.Int64 // so that nobody can leave it out

// spins returns how far to count for so much time of a processor.
func spins(d time.Duration) int {
	const n = 20_000_000
	begin := cpuTime()
	spin(n)
	return int(float64(n) * float64(d) / float64(cpuTime()-begin))
}

// cpuTime is what this process has used.
func cpuTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(unix.TimevalToNsec(u.Utime) + unix.TimevalToNsec(u.Stime))
}

// measured is what a Server did in some time.
type measured struct {
	rate   float64 // answers a second
	cpu    float64 // processors in use
	each   float64 // µs of a processor for an answer
	stolen int     // hundredths of a second that the host gave to other machines
}

// measure lets another process ask a Server with n loops.
func measure(t *testing.T, h server.Handler, n int) measured {
	t.Helper()
	client := exec.Command("/proc/self/exe", "-test.run=^TestAskAll$", "-test.v")
	client.Env = append(os.Environ(), "TEST_GOPHD_ASK_ALL="+serveLoops(t, h, n))
	used, stolen := cpuTime(), stolenTime(t)
	out, err := client.CombinedOutput()
	cpu := (cpuTime() - used).Seconds()
	stolen = stolenTime(t) - stolen
	var answers, took float64
	_, told, _ := strings.Cut(string(out), "asked: ")
	if _, scanErr := fmt.Sscan(told, &answers, &took); err != nil || scanErr != nil {
		t.Fatalf("%v, %v: %s", err, scanErr, out)
	}
	return measured{answers / took, cpu / took, cpu * 1e6 / answers, stolen}
}

// serveLoops serves a handler with n loops until the test ends, and returns its
// address. A Server has as many loops as there are processors when it begins.
func serveLoops(t *testing.T, h server.Handler, n int) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	go func() { done <- (&server.Server{Handler: h, MaxConnsPerIP: -1}).Serve(ctx, l) }()
	t.Cleanup(func() { cancel(); must(t, <-done) })
	if got, err := harness.Ask(l.Addr().String(), "/q"); got != "done" || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	return l.Addr().String()
}

// stolenTime is what the host has taken of the processors for other machines, in
// hundredths of a second (proc_stat(5)).
func stolenTime(t *testing.T) (n int) {
	t.Helper()
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Skip(err)
	}
	fields := strings.Fields(string(b[:min(len(b), 200)]))
	if n, err = strconv.Atoi(fields[8]); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestAskAll is the client of TestAllProcessors. It keeps 64 requests under way, in
// one thread, with five system calls for each: what a client costs is missing to
// the loops.
func TestAskAll(t *testing.T) {
	to, err := netip.ParseAddrPort(os.Getenv("TEST_GOPHD_ASK_ALL"))
	if err != nil {
		t.Skip("is started by TestAllProcessors")
	}
	const span = 300 * time.Millisecond
	began := time.Now()
	answers := askAll(t, to, began.Add(span))
	t.Logf("asked: %d %f", answers, time.Since(began).Seconds())
}

func askAll(t *testing.T, to netip.AddrPort, until time.Time) (answers int) {
	t.Helper()
	open := func() int {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err == nil {
			err = unix.Connect(fd, &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()})
		}
		if err == nil {
			_, err = unix.Write(fd, []byte("/q\r\n"))
		}
		if err != nil {
			t.Fatal(err)
		}
		return fd
	}
	var under [64]int // the next to be read is the oldest
	for i := range under {
		under[i] = open()
	}
	var buf [16]byte
	for last := math.MaxInt; answers < last; answers++ {
		fd := &under[answers%len(under)]
		if n, err := unix.Read(*fd, buf[:]); err != nil || string(buf[:n]) != "done" {
			t.Fatalf("%q, %v", buf[:max(n, 0)], err)
		}
		_ = unix.Close(*fd)
		if last == math.MaxInt && time.Now().Before(until) {
			*fd = open()
		} else if last == math.MaxInt {
			last = answers + len(under)
		}
	}
	return answers
}

// All processors answer: with replies of 400 µs two loops use at least 1.7 times
// as much of them as one does, and answer as many more, for the same cost each.
// Small replies cost at most a tenth more with two. Of several rounds what is
// least disturbed counts, and none in which the host gave processors to other
// machines.
func TestAllProcessors(t *testing.T) {
	if os.Getenv("TEST_GOPHD_ALL_PROCESSORS") == "" {
		t.Skip("wants the machine for itself: make cores")
	}
	skipUnlessIdle(t)
	const rounds, tries = 5, 15
	compare := func(what string, h server.Handler) (one, two measured) {
		one.each, two.each = math.Inf(1), math.Inf(1)
		for n, best := range map[int]*measured{1: &one, 2: &two} {
			for counted, tried := 0, 0; counted < rounds; tried++ {
				m := measure(t, h, n)
				if m.stolen == 0 {
					counted++
					*best = measured{rate: max(best.rate, m.rate), cpu: max(best.cpu, m.cpu), each: min(best.each, m.each)}
				} else if tried == tries {
					t.Skipf("wants a machine of its own; in the last round the host took %d ms of the processors for others", 10*m.stolen)
				}
			}
		}
		t.Logf("%s: one loop %.0f/s, %.2f processors, %.1f µs each; two %.0f/s, %.2f, %.1f µs: %.2f as many, %.2f the use, %.2f the cost",
			what, one.rate, one.cpu, one.each, two.rate, two.cpu, two.each, two.rate/one.rate, two.cpu/one.cpu, two.each/one.each)
		return one, two
	}
	one, two := compare("400 µs", busy{spins(400 * time.Microsecond)})
	if two.rate < 1.7*one.rate || two.cpu < 1.7*one.cpu || two.each > 1.05*one.each {
		t.Error("two loops do not answer for two")
	}
	if one, two = compare("small replies", busy{}); two.each > 1.1*one.each {
		t.Error("small replies cost more with two loops")
	}
}

func skipUnlessIdle(t *testing.T) {
	t.Helper()
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		t.Skip(err)
	}
	last, _, _ := strings.Cut(string(b), " ")
	if avg, err := strconv.ParseFloat(last, 64); err != nil || avg > 1 || runtime.GOMAXPROCS(0) < 2 {
		t.Skipf("wants two processors and an idle machine; the load is %s", last)
	}
}
