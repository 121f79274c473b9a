package policy

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cpu is the processor time of the process.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// costs are the sites whose costs are known, and which annotation of them is edited.
func costs() map[string]map[string]string {
	list := map[string]map[string]string{}
	add := func(name, file, text string) {
		if list[name] == nil {
			list[name] = map[string]string{}
		}
		list[name][file] += text
	}
	for i := range 10_000 {
		add("10000 directories", fmt.Sprintf("~u%02d/%03d/.robots", i%100, i/100), "Disallow: /private/\n")
	}
	for i := range 500 {
		add("500 of 5000 users", fmt.Sprintf("~u%03d/.robots", i), "Disallow: /private/\nAllow: /private/pub/\n")
	}
	add("500 of 5000 users", ".robots", "Disallow: /*.zip$\nUser-agent: GPTBot\nDisallow: /*/art/\n")
	for i := range 200 {
		for j := range 800 {
			add("200 of 800 rules", fmt.Sprintf("~u%03d/.robots", i), fmt.Sprintf("Disallow: /%d/\n", j))
		}
	}
	for i := range 1900 {
		add("a chain of 1900", strings.Repeat("d/", i+1)+".robots", "Disallow: /x/\nAllow: /x/y\n")
	}
	for i := range 100 {
		for j := range 31 {
			add("100 directories of 31 robots", fmt.Sprintf("~u%03d/.robots", i), fmt.Sprintf("User-agent: bot%d\nDisallow: /%d/\n", j, j))
		}
	}
	for i := range 100_000 {
		add("100000 authors", fmt.Sprintf("~u%05d/.robots", i), "Disallow: /x\n")
	}
	return list
}

// BenchmarkCosts prints what compiling and proving cost, new and after an edit of one
// annotation: processor time of all threads, and memory that stays.
func BenchmarkCosts(b *testing.B) {
	for name, notes := range costs() {
		in := inputOf(notes)
		b.Run(name, func(b *testing.B) {
			var c *Compiled
			b.Run("new", func(b *testing.B) {
				used := cpu()
				for b.Loop() {
					c = Compile(in, nil)
				}
				b.ReportMetric(float64((cpu()-used).Milliseconds())/float64(b.N), "cpu-ms/op")
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				b.ReportMetric(float64(m.HeapAlloc>>20), "MiB")
			})
			b.Run("edit", func(b *testing.B) {
				used, last := cpu(), len(in.Annotations)-1
				for i := 0; b.Loop(); i++ {
					in.Annotations[last].Data = fmt.Appendf(nil, "Disallow: /edit%d/\n", i)
					c = Compile(in, c)
				}
				b.ReportMetric(float64((cpu()-used).Milliseconds())/float64(b.N), "cpu-ms/op")
			})
		})
	}
}
