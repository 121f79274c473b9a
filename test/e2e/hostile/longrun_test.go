//go:build linux

package hostile

// The long soak: gophd with its default limits, and everything at once. People
// read, and every byte they get is checked; authors write without pause;
// clients of every bad habit come and go; and things break: descriptors run
// out, the access log's disk fills, the root is exchanged.
//
//	readers_test.go   readers, and what they must get
//	content_test.go   authors
//	habits_test.go    clients that misbehave, and what breaks
//	numbers_test.go   memory, files and time, which must not grow

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gophd/gophd/test/e2e/harness"
)

// TestSoakLong takes as long as TEST_GOPHD_SOAK_LONG says, such as 30m; by default,
// some seconds.
func TestSoakLong(t *testing.T) {
	if os.Getenv("TEST_GOPHD_SOAK_LONG") == "" {
		harness.Slow(t, "make soak-long")
	}
	span := 8 * time.Second
	if want, err := time.ParseDuration(os.Getenv("TEST_GOPHD_SOAK_LONG")); err == nil {
		span = want
	}
	m := startLongRun(t, span)
	for m.run(max(span/10, 2*time.Second)); span >= longSpan && m.answered() < warm; {
		m.run(span / 10)
	}
	before := m.empty()
	m.forget()
	m.run(span)
	after := m.empty()
	m.tell(before, after)
	m.judge(before, after)
	if t.Failed() {
		m.printLog()
	}
}

// warm is after how many answers of a long run the index, the cache and each allocator are
// as large as they get, which takes some eleven minutes of two quiet cores: the table of
// missing names fills up, and SQLite keeps the most pages that it ever used, which it reaches
// when segments with several versions of the text that grows are merged.
const warm = 400_000

// hanging is the number of mounted disks.
const hanging = 2

// longPace is the time between two things that break, in a run of 17 minutes and more.
const longPace = 10 * time.Second

// answered is how many requests of readers were answered.
func (m *longRun) answered() (n int) {
	for _, r := range m.readers {
		n += len(r.answers)
	}
	return n
}

// printLog prints what gophd logged besides requests.
func (m *longRun) printLog() {
	for line := range strings.Lines(m.Log()) {
		if !strings.Contains(line, "msg=request") && !strings.Contains(line, `"msg":"request"`) {
			m.t.Logf("%.300s", strings.TrimSuffix(line, "\n"))
		}
	}
}

// longRun is a long soak.
type longRun struct {
	*harness.Daemon
	t       *testing.T
	span    time.Duration
	began   time.Time
	pace    time.Duration // between two things that break
	access  string        // the access log
	metrics string        // where the numbers of the process are
	content *content
	readers []*reader
	disks   []*disk // mounted, and hanging now and then

	faults    atomic.Int64 // what went wrong with gophd
	hostile   atomic.Int64 // clients that meant no good
	broke     map[string]int
	rewritten []time.Duration // from a change of the policy to its robots.txt
	samples   []sample
	page      []byte // of the last sample

	mu     sync.Mutex
	stills []still
}

func startLongRun(t *testing.T, span time.Duration) *longRun {
	base := t.TempDir()
	m := &longRun{t: t, span: span, pace: min(max(span/100, 500*time.Millisecond), longPace),
		content: makeContent(t, base), access: filepath.Join(smallDisk(t, span), "access.log"),
		broke: map[string]int{}}
	args := []string{"-root", m.content.root, "-sandbox-parent", "-access-log", m.access,
		"-status", "127.0.0.0/8",
		"-metrics", "127.0.0.1:0", "-search", "-sitemap", "-tls-self-signed",
		filepath.Join(base, "tls")}
	for i := range hanging {
		// Only root can mount. In a short run, a root is exchanged so often that gophd may not
		// have noticed the last exchange, which a disk delays by a second.
		if dir := filepath.Join(base, fmt.Sprint("hanging", i)); os.Geteuid() == 0 &&
			m.pace >= longPace {
			m.disks = append(m.disks, mountDisk(t, dir, diskFiles()))
			args = append(args, "-mount", fmt.Sprintf("hanging%d=%s", i, dir))
		}
	}
	m.Daemon = harness.Start(t, args...)
	m.metrics = url(m.WaitLog("/metrics"))
	m.Until("robots.txt is made", func() bool {
		return strings.Contains(m.Ask("robots.txt"), denied)
	})
	for i := range 6 {
		m.readers = append(m.readers, newReader(m, i))
	}
	return m
}

// forget begins what is measured again.
func (m *longRun) forget() {
	m.samples = nil
	for _, r := range m.readers {
		r.answers = nil
	}
}

// url takes a URL out of a line of the log.
func url(line string) string {
	_, rest, _ := strings.Cut(line, "http://")
	return "http://" + rest[:strings.IndexAny(rest, "\" \n")]
}

// smallDisk returns a directory that fills up in the middle of two rotations,
// where this user may mount one.
func smallDisk(t *testing.T, span time.Duration) string {
	dir, size := t.TempDir(), "size=128k"
	if span >= time.Minute {
		size = "size=1m"
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, size); err != nil {
		t.Log("the access log's disk will not be full:", err)
		return dir
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

// run lets everybody loose for a time.
func (m *longRun) run(span time.Duration) {
	m.began = time.Now()
	ctx, stop := context.WithTimeout(m.t.Context(), span)
	defer stop()
	var all sync.WaitGroup
	for _, r := range m.readers {
		all.Go(func() { r.read(ctx) })
	}
	all.Go(func() { m.changeAndCompare(ctx) })
	all.Go(func() { m.content.writeOn(ctx) })
	all.Go(func() { m.holdLeases(ctx) })
	for _, d := range m.disks {
		all.Go(func() { m.hang(ctx, d) })
	}
	for i := range 2 {
		all.Go(func() { m.misbehave(ctx, i) })
	}
	all.Go(func() { m.breakThings(ctx) })
	all.Go(func() { m.watch(ctx) })
	all.Go(func() { m.noticeStalls(ctx) })
	all.Wait()
}

// fault notes what gophd did wrong. The first ones are told.
func (m *longRun) fault(format string, args ...any) {
	if n := m.faults.Add(1); n <= 20 {
		m.t.Errorf("after %v: %s", time.Since(m.began).Round(time.Millisecond),
			fmt.Sprintf(format, args...))
	}
}

// still is a time in which this process was not run, for whatever reason:
// nothing is said about gophd then.
type still struct{ from, to time.Time }

// missed is the time that makes a client a silent one.
const missed = 300 * time.Millisecond

// noticeStalls notes when that happens.
func (m *longRun) noticeStalls(ctx context.Context) {
	const beat = 20 * time.Millisecond
	for from := time.Now(); sleep(ctx, beat); from = time.Now() {
		if time.Since(from) > missed {
			m.mu.Lock()
			m.stills = append(m.stills, still{from, time.Now()})
			m.mu.Unlock()
		}
	}
}

// stoodStill reports whether it happened since some time.
func (m *longRun) stoodStill(since time.Time) bool {
	time.Sleep(100 * time.Millisecond) // until it is noticed
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.stills) > 0 && m.stills[len(m.stills)-1].to.After(since)
}

// sleep waits, and reports whether the run goes on.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
