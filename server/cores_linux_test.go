package server

import (
	"io"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// busy is a handler whose replies cost as much of a processor as it takes to
// count so far.
type busy struct{ count int }

func (b busy) Quick(*Request) (Answer, bool) {
	spin(b.count)
	return Answer{Body: []byte("done")}, true
}

func (b busy) ServeGopher(ResponseWriter, *Request) error { return ErrNotFound }

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

// load asks from many clients for some time, and returns how many answers there
// were, and what they cost this process, clients included.
func load(t *testing.T, h Handler, n int, span time.Duration) (answers int, cpu time.Duration) {
	t.Helper()
	addr := startTCP(t, &Server{Handler: h, MaxConnsPerIP: -1, loops: n})
	var mu sync.Mutex
	var all sync.WaitGroup
	end, began := time.Now().Add(span), cpuTime()
	for range 16 {
		all.Go(func() {
			mine := 0
			for ; time.Now().Before(end); mine++ {
				c, err := net.Dial("tcp", addr)
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.WriteString(c, "/q\r\n")
				if got, err := io.ReadAll(c); string(got) != "done" || err != nil {
					t.Errorf("%q, %v", got, err)
				}
				_ = c.Close()
			}
			mu.Lock()
			defer mu.Unlock()
			answers += mine
		})
	}
	all.Wait()
	return answers, cpuTime() - began
}

// meeting is a handler whose requests to /q wait for each other in pairs, where
// they are read.
type meeting struct{ pairs chan bool }

func (m meeting) Quick(r *Request) (Answer, bool) {
	if r.Selector == "/slow" {
		spin(2_000_000)
		return Answer{Body: []byte("slow")}, true
	}
	select {
	case m.pairs <- true:
	case <-m.pairs:
	case <-time.After(10 * time.Second):
		return Answer{Body: []byte("alone")}, true
	}
	return Answer{Body: []byte("met")}, true
}

func (m meeting) ServeGopher(ResponseWriter, *Request) error { return ErrNotFound }

// Once replies are known to take long, loops answer at the same time.
func TestLoopsAnswerAtOnce(t *testing.T) {
	addr := startTCP(t, &Server{Handler: meeting{make(chan bool)}, loops: 2})
	for range 6 {
		if got := exchange(t, dialTCP(t, addr), "/slow\r\n"); got != "slow" {
			t.Fatalf("got %q", got)
		}
	}
	a, b := dialTCP(t, addr), dialTCP(t, addr)
	_, _ = io.WriteString(a, "/q\r\n")
	_, _ = io.WriteString(b, "/q\r\n")
	for _, c := range []net.Conn{a, b} {
		if got, err := io.ReadAll(c); string(got) != "met" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	}
}

// All processors answer: with replies of 400 µs two loops answer at least 1.7
// times as many as one does, for the same cost each. Small replies cost at most a
// tenth more with two.
func TestAllProcessors(t *testing.T) {
	if os.Getenv("GOPHD_ALL_PROCESSORS") == "" {
		skipUnlessIdle(t)
	}
	const span = 700 * time.Millisecond
	each := func(h Handler, n int) (perSecond, cost float64) {
		answers, cpu := load(t, h, n, span)
		return float64(answers) / span.Seconds(), cpu.Seconds() * 1e6 / float64(answers)
	}
	h := busy{spins(400 * time.Microsecond)}
	rate1, cost1 := each(h, 1)
	rate2, cost2 := each(h, 2)
	t.Logf("400 µs: one loop %.0f/s, %.0f µs each; two %.0f/s, %.0f µs", rate1, cost1, rate2, cost2)
	if rate2 < 1.7*rate1 || cost2 > 1.05*cost1 {
		t.Errorf("two loops: %.2f times as many, %.2f times the cost", rate2/rate1, cost2/cost1)
	}
	least1, least2 := 1e9, 1e9
	for range 3 {
		_, cost1 = each(busy{}, 1)
		_, cost2 = each(busy{}, 2)
		least1, least2 = min(least1, cost1), min(least2, cost2)
	}
	t.Logf("small replies: one loop %.1f µs each, two %.1f", least1, least2)
	if least2 > 1.1*least1 {
		t.Errorf("small replies cost %.2f times as much with two loops", least2/least1)
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
	if raceEnabled {
		t.Skip("the race detector costs more than what is measured")
	}
}
