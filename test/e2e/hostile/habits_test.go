//go:build linux

package hostile

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// habits are those of TestSoak, and some that few clients are enough for.
var habits = slices.Concat(basicHabits, []habit{
	{name: "HTTP", first: "GET /a.txt HTTP/1.1\r\nHost: x\r\n\r\nPOST / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n"},
	{name: "garbage", first: "\x00\xff\x80\x01\x02" + strings.Repeat("\xde\xad\xbe\xef", 900)},
	{name: "endless", first: strings.Repeat("/a.txt/../", 1000)},
	{name: "PROXY", first: "PROXY TCP4 127.0.0.9 127.0.0.1 1 70\r\n/a.txt\r\n"},
	{name: "PROXY v2", first: "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c\x7f\x00\x00\x09\x7f\x00\x00\x01\x00\x01\x00\x46/a.txt\r\n"},
	{name: "TLS, never reading", first: "/large.bin\r\n", tls: true},
	{name: "TLS, silent", first: "", tls: true},
	{name: "feeds", first: "/phlog/feed.xml\r\n"},
	{name: "searches", first: "/search\t" + strings.Repeat(`"text 00000" `, 300) + "\r\n"},
	{name: "searches for what is everywhere", first: "/search\ttext\r\n"},
	{name: "sitemaps", first: "/sitemap.txt\r\n"},
	{name: "what hangs", first: "/hanging0/\r\n/hanging1/\r\n"},
	{name: "files under a lease", first: "/leased/0.txt\r\n"},
	{name: "robots that are rude", first: "robots.txt\r\n/private/letter.txt\r\n"},
})

// misbehave lets clients of one habit after the other come, stay for a while, and go.
func (m *longRun) misbehave(ctx context.Context, n int) {
	dice := rand.New(rand.NewPCG(11, uint64(n)))
	for i := n * len(habits) / 2; ctx.Err() == nil; i++ {
		c := habits[i%len(habits)]
		conns := c.arrive(m.t, m.Addr, 100)
		m.hostile.Add(int64(len(conns)))
		end := time.Now().Add(m.pace/4 + rand.N(m.pace))
		for tick := 0; time.Now().Before(end) && sleep(ctx, 50*time.Millisecond); tick++ {
			c.drip(conns, tick)
		}
		for _, conn := range conns {
			if dice.IntN(2) == 0 {
				_ = conn.SetLinger(0)
			}
			_ = conn.Close()
		}
	}
}

// holdLeases takes leases on files, gives them back and takes them again.
func (m *longRun) holdLeases(ctx context.Context) {
	for ctx.Err() == nil {
		var held []*os.File
		for i := range 20 {
			f, err := os.OpenFile(filepath.Join(m.content.root, "leased",
				fmt.Sprintf("%d.txt", i)), os.O_RDWR, 0)
			if err != nil {
				continue // there is no root
			}
			held = append(held, f)
			_, _ = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK) // unless gophd has it open
		}
		sleep(ctx, 3*time.Second)
		for _, f := range held {
			_ = f.Close()
		}
		sleep(ctx, 200*time.Millisecond)
	}
}

// hang keeps a disk from answering, for longer and for less than gophd waits for it.
func (m *longRun) hang(ctx context.Context, d *disk) {
	for sleep(ctx, rand.N(2*m.pace)) {
		release := d.stall()
		sleep(ctx, rand.N(2*m.pace))
		release()
	}
}

// breakThings lets one thing after the other go wrong.
func (m *longRun) breakThings(ctx context.Context) {
	things := []struct {
		name string
		do   func(context.Context) error
	}{
		{"SIGHUP", m.hangUp}, {"out of descriptors", m.fewFiles}, {"log rotated", m.rotate},
		{"root exchanged", m.exchangeRoot},
		{"root away", func(context.Context) error { return m.content.hide(m.pace / 10) }},
		{"root exchanged, out of descriptors", m.exchangeWithFewFiles},
	}
	for i := 0; sleep(ctx, m.pace); i++ {
		thing := things[i%len(things)]
		if err := thing.do(ctx); err != nil {
			m.t.Errorf("%s: %v", thing.name, err)
		}
		m.broke[thing.name]++
	}
}

func (m *longRun) hangUp(context.Context) error {
	return m.Process.Signal(syscall.SIGHUP)
}

func (m *longRun) exchangeRoot(context.Context) error {
	return m.content.exchange()
}

// rotate moves the access log away, as logrotate does, and throws it away, which
// makes room on its disk.
func (m *longRun) rotate(ctx context.Context) error {
	if err := os.Rename(m.access, m.access+".1"); err != nil {
		return err
	}
	if err := m.hangUp(ctx); err != nil {
		return err
	}
	sleep(ctx, m.pace/4)
	return os.Remove(m.access + ".1")
}

// fewFiles lets gophd open hardly any more files for a while.
func (m *longRun) fewFiles(ctx context.Context) error {
	return m.withFewFiles(func() error { sleep(ctx, m.pace/3); return nil })
}

func (m *longRun) exchangeWithFewFiles(ctx context.Context) error {
	return m.withFewFiles(func() error {
		err := m.content.exchange()
		sleep(ctx, m.pace/3)
		return err
	})
}

func (m *longRun) withFewFiles(do func() error) error {
	var was unix.Rlimit
	if err := unix.Prlimit(m.Process.Pid, unix.RLIMIT_NOFILE, nil, &was); err != nil {
		return err
	}
	few := was
	few.Cur = uint64(openFiles(m.t, m.Daemon) + 4)
	if err := unix.Prlimit(m.Process.Pid, unix.RLIMIT_NOFILE, &few, nil); err != nil {
		return err
	}
	defer func() { _ = unix.Prlimit(m.Process.Pid, unix.RLIMIT_NOFILE, &was, nil) }()
	return do()
}
