//go:build linux

package hostile

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gophd/gophd/test/e2e/harness"
)

// sample is what gophd holds at one time.
type sample struct {
	at         time.Duration
	resident   int // KiB
	files      int
	goroutines int
	heap       int // KiB in use
}

// client asks for the numbers. Each time on a connection of its own, so that
// the one that asks is always counted.
var client = http.Client{Timeout: harness.Timeout,
	Transport: &http.Transport{DisableKeepAlives: true}}

// sample takes one, false if gophd does not answer, which it need not while it
// may open no files.
func (m *longRun) sample() (sample, bool) {
	res, err := client.Get(m.metrics)
	if err != nil {
		return sample{}, false
	}
	defer func() { _ = res.Body.Close() }()
	page, err := io.ReadAll(res.Body)
	m.page = page
	s := sample{
		at: time.Since(m.began), resident: memoryKiB(m.t, m.Daemon, "VmRSS"),
		files:      openFiles(m.t, m.Daemon),
		goroutines: gauge(page, "go_goroutines"),
		heap:       gauge(page, "go_memstats_heap_inuse_bytes") >> 10,
	}
	return s, err == nil && s.goroutines > 0
}

// gauge finds a number on a page for Prometheus, the sum of its hosts.
func gauge(page []byte, name string) (sum int) {
	for line := range strings.Lines(string(page)) {
		if after, ok := strings.CutPrefix(line, name); ok && (after[0] == ' ' || after[0] == '{') {
			v, _ := strconv.ParseFloat(strings.TrimSpace(after[strings.LastIndexByte(after, ' '):]), 64)
			sum += int(v)
		}
	}
	return sum
}

// watch takes samples.
func (m *longRun) watch(ctx context.Context) {
	for sleep(ctx, m.pace/2) {
		if s, ok := m.sample(); ok {
			m.samples = append(m.samples, s)
		}
	}
}

// rest waits until gophd has nothing to do, and says what it holds then. Of one
// sample the connection that asked is still there, of another it is not.
func (m *longRun) rest() (s sample) {
	var ok bool
	for end, calm := time.Now().Add(90*time.Second), 0; calm < 5 &&
		time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		old := s
		if s, ok = m.sample(); ok && abs(old.files-s.files) <= 2 &&
			abs(old.goroutines-s.goroutines) <= 2 {
			calm++
		} else {
			calm = 0
		}
	}
	return s
}

// empty is rest after everything was read again, which gives back what is no longer
// held: how much of that there is depends on who was there when the garbage was
// collected last.
func (m *longRun) empty() sample {
	m.rest()
	reloads := func() int { m.sample(); return gauge(m.page, "gophd_reloads_total") }
	before := reloads()
	if err := m.hangUp(m.t.Context()); err != nil {
		m.t.Error(err)
	}
	m.Until("everything is read again", func() bool { return reloads() > before })
	return m.rest()
}

func abs(n int) int { return max(n, -n) }

// middle returns the middle one of what f says of all samples of a part of the
// run.
func (m *longRun) middle(from, to float64, f func(sample) int) int {
	var list []int
	for _, s := range m.samples {
		if part := s.at.Seconds() / m.span.Seconds(); part >= from && part < to {
			list = append(list, f(s))
		}
	}
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)/2]
}

func resident(s sample) int   { return s.resident }
func heap(s sample) int       { return s.heap }
func goroutines(s sample) int { return s.goroutines }
func files(s sample) int      { return s.files }

// longSpan is how long a run is after which nothing may have grown.
const longSpan = 2 * time.Minute

// judge fails if something has grown: at rest by more than a few, under load,
// from the second and third tenth of a long run to the last two, by more than a
// tenth and what the clients of one habit cost.
func (m *longRun) judge(before, after sample) {
	memory, long := 8<<10, m.span >= longSpan
	if !long { // the index and the cache are still growing
		memory = 48 << 10
	}
	for name, of := range map[string]struct {
		f          func(sample) int
		rest, load int
	}{"goroutines": {goroutines, 4, 120}, "open files": {files, 4, 120},
		"KiB of memory": {resident, memory, 8 << 10}} {
		if was, is := of.f(before), of.f(after); is > was+of.rest {
			m.t.Errorf("at rest there were %d %s, and are %d", was, name, is)
		}
		if !long {
			continue
		}
		if early, late := m.middle(0.1, 0.3, of.f),
			m.middle(0.8, 1, of.f); late > early*11/10+of.load {
			m.t.Errorf("under load there were %d %s, and are %d", early, name, late)
		}
	}
	if n := m.faults.Load(); n > 0 {
		m.t.Errorf("%d faults in all", n)
	}
	if len(m.rewritten) == 0 {
		m.t.Error("robots.txt was never compared")
	}
}

// tell prints what is to be known of the run, as tables.
func (m *longRun) tell(before, after sample) {
	var b strings.Builder
	b.WriteString("\n| part of the run | memory | of it heap | goroutines | open files | requests | median | 99 % | slowest |\n| --- |" + strings.Repeat(" --: |", 8))
	row := func(name string, rss, heap, goroutines, files int, rest string) {
		fmt.Fprintf(&b, "\n| %s | %.1f MiB | %.1f MiB | %d | %d |%s", name, float64(rss)/1024,
			float64(heap)/1024, goroutines, files, rest)
	}
	row("at rest, before", before.resident, before.heap, before.goroutines,
		before.files, " | | | |")
	const parts = 10
	for i := range parts {
		from, to := float64(i)/parts, float64(i+1)/parts
		row(fmt.Sprintf("%d %%", 100*(i+1)/parts), m.middle(from, to, resident),
			m.middle(from, to, heap), m.middle(from, to, goroutines),
			m.middle(from, to, files), latencies(m.between(from, to)))
	}
	row("at rest, after", after.resident, after.heap, after.goroutines, after.files, " | | | |")
	var bytesRead int64
	var oldest time.Duration
	for _, r := range m.readers {
		bytesRead, oldest = bytesRead+r.bytes, max(oldest, r.oldest)
	}
	fmt.Fprintf(&b, "\n\n%d requests answered (%d MiB), %d faults; %d hostile clients; %d changes to the tree; robots.txt compared %d times, right after %s",
		len(m.between(0, 2)), bytesRead>>20, m.faults.Load(), m.hostile.Load(), m.content.n,
		len(m.rewritten), spread(m.rewritten))
	fmt.Fprintf(&b, "\nthe oldest text had been replaced %v before; broken: %v",
		oldest.Round(time.Millisecond), m.broke)
	fmt.Fprintf(&b, "\n%d reloads, %d of them failed; %d lines of the access log lost\n",
		gauge(m.page, "gophd_reloads_total"),
		gauge(m.page, "gophd_reload_failures_total"),
		gauge(m.page, "gophd_access_log_lost_lines_total"))
	var longest time.Duration
	for _, s := range m.stills {
		longest = max(longest, s.to.Sub(s.from))
	}
	fmt.Fprintf(&b, "%d times this process was not run for 300 ms or more, at most for %v\n",
		len(m.stills), longest.Round(time.Millisecond))
	m.t.Log(b.String())
}

// between returns how long the requests of a part of the run took.
func (m *longRun) between(from, to float64) (took []time.Duration) {
	for _, r := range m.readers {
		for _, s := range r.answers {
			if part := s.at.Seconds() / m.span.Seconds(); part >= from && part < to {
				took = append(took, s.took)
			}
		}
	}
	return took
}

func latencies(took []time.Duration) string {
	if len(took) == 0 {
		return " 0 | | | |"
	}
	slices.SortFunc(took, cmp.Compare[time.Duration])
	ms := func(i int) float64 { return took[min(i, len(took)-1)].Seconds() * 1000 }
	return fmt.Sprintf(" %d | %.1f ms | %.1f ms | %.0f ms |", len(took), ms(len(took)/2),
		ms(len(took)*99/100), ms(len(took)))
}

// spread tells the middle and the slowest.
func spread(took []time.Duration) string {
	if len(took) == 0 {
		return "-"
	}
	slices.Sort(took)
	return fmt.Sprintf("%v (middle), %v (at most)", took[len(took)/2].Round(time.Millisecond),
		took[len(took)-1].Round(time.Millisecond))
}
