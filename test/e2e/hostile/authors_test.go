//go:build linux

package hostile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gophd/gophd/test/e2e/harness"
)

// author is a user who may write below one directory, and means no good.
type author struct {
	name string
	// act does it in the directory, size times or less, until ctx ends. What it
	// leaves undone then is not its fault.
	act func(ctx context.Context, dir string, size int) error
	// size is how much makes the long form; the short one is a fiftieth.
	size int
	ask  string // what a hundred clients ask for meanwhile, and do not wait for
	mib  int    // that gophd may take more

	flags []string
	hangs bool // below the directory a disk is mounted that does not answer
}

var authors = []author{
	{name: "links through links, 800 deep", act: chains, size: 800, ask: "/bob/39/x.txt", mib: 50},
	{name: "100 patterns, 60,000 names", act: patterns, size: 60_000, ask: "/bob/", mib: 100},
	{name: "renames, 40 a second", act: renames, size: 600, mib: 50},
	{name: "200,000 directories", act: directories, size: 200_000, mib: 300},
	{name: "200 annotations of 9,000 rules", act: annotations, size: 9_000, mib: 300},
	{name: "leases on 1,000 files", act: leases, size: 1_000, ask: "/bob/0.txt", mib: 50},
	{name: "a disk that hangs", act: directories, size: 50, ask: "/bob/mnt/x.txt", mib: 100,
		hangs: true, flags: []string{"-stall-timeout", "2s"}},
	{name: "a feed of 200,000 names", act: datedTexts, size: 200_000,
		ask: "/bob/feed.xml", mib: 200},
	{name: "searches of 4 KB in 50,000 texts", act: datedTexts, size: 50_000,
		ask: "/search\t" + strings.Repeat(`"b a" `, 600), mib: 300, flags: []string{"-search"}},
}

// TestSoakAuthors lets one author after the other loose on a tree that others
// write and read as well: what they read comes and is right, what they annotate
// holds in the end.
func TestSoakAuthors(t *testing.T) {
	part, others := 50, 200
	if os.Getenv("TEST_GOPHD_SOAK") != "" {
		part, others = 1, 20_000
	}
	for _, a := range authors {
		t.Run(a.name, func(t *testing.T) {
			root := tree(t)
			must(t, errors.Join(os.Mkdir(root+"/bob", 0o755),
				directories(t.Context(), root+"/ann", others)))
			if a.hangs {
				mnt := mountDisk(t, root+"/bob/mnt", diskFiles())
				defer mnt.stall()()
			}
			d := harness.Start(t, append([]string{"-root", root, "-request-timeout", "1h"},
				a.flags...)...)
			d.Until("the tree is read", func() bool {
				return strings.HasPrefix(d.Ask("caps.txt"), "CAPS")
			})
			a.soak(t, d, root, a.size/part)
		})
	}
}

func (a author) soak(t *testing.T, d *harness.Daemon, root string, size int) {
	resting, spent := memoryKiB(t, d, "VmRSS"), cpuTime(t, d)
	others := startOthers(t, d.Addr)
	ctx, stop := context.WithTimeout(t.Context(), 15*time.Second)
	defer stop()
	began := time.Now()
	acted := a.act(ctx, root+"/bob", size)
	a.clients(d.Addr)
	lasted := time.Since(began)
	if errors.Is(acted, os.ErrPermission) {
		t.Skip("not here: ", acted)
	} else if acted != nil && ctx.Err() == nil {
		t.Error(acted)
	}
	changed := time.Now()
	must(t, os.WriteFile(root+"/ann/.robots", []byte("Disallow: /secret/\n"), 0o644))
	holds := func(d *harness.Daemon) func() bool {
		return func() bool { // it is closed without a byte while the first scan waits for the disk
			file, _ := harness.Ask(d.Addr, "robots.txt")
			return strings.Contains(file, "Disallow: /ann/secret/\n")
		}
	}
	d.Until("somebody else's annotation holds", holds(d))
	held := time.Since(changed)
	took := others.stop()
	later := harness.Start(t, append([]string{"-root", root}, a.flags...)...)
	later.WaitLog("scanned") // until then robots.txt is not answered
	later.Until("it holds there", holds(later))
	peak := max(memoryKiB(t, d, "VmHWM"), memoryKiB(t, later, "VmHWM"))
	t.Logf("%.1f s, %.1f s of CPU, %d MiB and at most %d more; others: %d asked, median %v, slowest %v; an annotation of theirs holds after %v",
		lasted.Seconds(), (cpuTime(t, d) - spent).Seconds(), resting>>10, (peak-resting)>>10,
		len(took), took[len(took)/2].Round(10*time.Microsecond),
		took[len(took)-1].Round(100*time.Microsecond), held.Round(time.Millisecond))
	if more := (peak - resting) >> 10; more > a.mib {
		t.Errorf("%d MiB more, want %d at most", more, a.mib)
	}
}

// clients ask for what the author has made, a hundred of them, and go at once.
func (a author) clients(addr string) {
	var all sync.WaitGroup
	for i := range 100 {
		if a.ask == "" {
			break
		}
		all.Go(func() {
			d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 2, 0, byte(1+i))},
				Timeout: harness.Timeout}
			c, err := d.Dial("tcp", addr)
			if err != nil {
				return
			}
			_, _ = fmt.Fprintf(c, "%s\r\n", a.ask)
			_ = c.SetReadDeadline(time.Now().Add(time.Duration(i) * 10 * time.Millisecond))
			_, _ = c.Read(make([]byte, 100))
			_ = c.Close()
		})
	}
	all.Wait()
}

// chains makes a directory that is size deep, and 39 links of which each leads
// down and up again through the one before.
func chains(_ context.Context, dir string, size int) error {
	deep := strings.Repeat("d/", min(size, 800))
	err := errors.Join(os.MkdirAll(filepath.Join(dir, deep), 0o755),
		os.WriteFile(filepath.Join(dir, "x.txt"), nil, 0o644),
		os.Symlink(deep+strings.Repeat("../", strings.Count(deep, "/")), dir+"/0"))
	for i := range 39 {
		err = errors.Join(err, os.Symlink(fmt.Sprintf("%d/%s%s", i, deep,
			strings.Repeat("../", strings.Count(deep, "/"))), fmt.Sprintf("%s/%d", dir, i+1)))
	}
	return err
}

// patterns makes a gophermap of a hundred patterns that match nothing, and names.
func patterns(ctx context.Context, dir string, size int) error {
	var b bytes.Buffer
	for i := range 100 {
		fmt.Fprintf(&b, "*a*a*a*a*%db\n", i)
	}
	for i := 0; i < size && ctx.Err() == nil; i++ {
		if err := os.WriteFile(fmt.Sprintf("%s/%s%d", dir, strings.Repeat("a", 40), i), nil,
			0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(dir+"/gophermap", b.Bytes(), 0o644)
}

func renames(ctx context.Context, dir string, size int) error {
	if err := os.Mkdir(dir+"/0", 0o755); err != nil {
		return err
	}
	for i := 0; i < size && sleep(ctx, 25*time.Millisecond); i++ {
		if err := os.Rename(fmt.Sprintf("%s/%d", dir, i),
			fmt.Sprintf("%s/%d", dir, i+1)); err != nil {
			return err
		}
	}
	return nil
}

func directories(ctx context.Context, dir string, size int) error {
	for i := 0; i < size && ctx.Err() == nil; i++ {
		if err := os.MkdirAll(fmt.Sprintf("%s/%d/%d", dir, i/200, i), 0o755); err != nil {
			return err
		}
	}
	return nil
}

func annotations(ctx context.Context, dir string, size int) error {
	var b bytes.Buffer
	for i := range size {
		fmt.Fprintf(&b, "Disallow: /some-name-that-is-rather-long/%d\n", i)
	}
	for i := 0; i < 200 && ctx.Err() == nil; i++ {
		at := fmt.Sprintf("%s/%d", dir, i)
		if err := errors.Join(os.Mkdir(at, 0o755),
			os.WriteFile(at+"/.robots", b.Bytes(), 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// leases makes texts and an annotation, and holds leases on them until ctx ends. Nobody
// can open them meanwhile.
func leases(ctx context.Context, dir string, size int) error {
	names := []string{".robots", "gophermap"}
	for i := range size {
		names = append(names, fmt.Sprintf("%d.txt", i))
	}
	for _, name := range names {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		context.AfterFunc(ctx, func() { _ = f.Close() })
		for try := 0; ; try++ { // gophd may have it open
			_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK)
			if !errors.Is(err, unix.EAGAIN) || !sleep(ctx, time.Millisecond) {
				break
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// datedTexts makes texts that feeds list and searches find.
func datedTexts(ctx context.Context, dir string, size int) error {
	for i := 0; i < size && ctx.Err() == nil; i++ {
		name := fmt.Sprintf("%s/20%02d-%02d-%02d-%d.txt", dir, i%20, 1+i%12, 1+i%28, i)
		if err := os.WriteFile(name, []byte("b a b a\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// cpuTime returns the CPU time that the server has used.
func cpuTime(t *testing.T, d *harness.Daemon) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", d.Process.Pid))
	must(t, err)
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')'):]) // the first is ")"; utime and stime are 14 and 15 in all
	user, _ := strconv.Atoi(string(fields[12]))
	system, _ := strconv.Atoi(string(fields[13]))
	return time.Duration(user+system) * 10 * time.Millisecond
}
