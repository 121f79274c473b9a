package policy

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
)

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// million is a tree of a million files, with 10,000 annotations.
func million(root string) *Dir {
	d := &Dir{}
	if root != "" {
		d.Notes = []*Annotation{{File: ".robots", Data: []byte(root)}}
	}
	for i := range 1000 {
		top := &Dir{Name: fmt.Sprintf("d%04d", i)}
		for j := range 99 {
			sub := &Dir{Name: fmt.Sprintf("s%02d", j)}
			for k := range 10 {
				sub.Files = append(sub.Files, fmt.Sprintf("file%d.txt", k))
			}
			if j%10 == 0 {
				sub.Notes = []*Annotation{{File: top.Name + "/" + sub.Name + "/.robots", Data: []byte("Disallow: /file1\n")}}
			}
			top.Dirs = append(top.Dirs, sub)
		}
		d.Dirs = append(d.Dirs, top)
	}
	return d
}

// TestMillion is for a machine with time: TEST_GOPHD_MILLION=1.
func TestMillion(t *testing.T) {
	if os.Getenv("TEST_GOPHD_MILLION") == "" {
		t.Skip("TEST_GOPHD_MILLION=1 asks for it")
	}
	for _, root := range []string{"", "Disallow: /*.zip$\n"} {
		d := million(root)
		start, used := time.Now(), cpu()
		c := Compile(Input{Root: d}, nil)
		t.Logf("root %q: %v CPU, %v, %d bytes, %d reports", root, cpu()-used, time.Since(start), len(c.File()), len(c.Reports()))
		for range 3 {
			next := &Dir{Notes: d.Notes, Dirs: slices.Clone(d.Dirs)}
			top := *d.Dirs[5]
			top.Files = append(slices.Clone(top.Files), "zz")
			next.Dirs[5] = &top
			d = next
			start, used = time.Now(), cpu()
			c = Compile(Input{Root: d}, c)
			t.Logf("  a change: %v CPU, %v", cpu()-used, time.Since(start))
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		t.Logf("  %d MiB with the tree", m.HeapAlloc>>20)
		runtime.KeepAlive(c)
	}
}
