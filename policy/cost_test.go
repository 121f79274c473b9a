package policy

import (
	"fmt"
	"slices"
	"testing"
)

// edited changes the annotation of a top-level directory, or of one in it.
func edited(d *Dir, at ...int) *Dir {
	next := *d
	if len(at) == 0 {
		line := "Disallow: /other/\n"
		if string(d.Notes[0].Data) == line {
			line = "Disallow: /another/\n"
		}
		next.Notes = []*Annotation{{File: d.Notes[0].File, Data: []byte(line)}}
		return &next
	}
	next.Dirs = slices.Clone(d.Dirs)
	next.Dirs[at[0]] = edited(d.Dirs[at[0]], at[1:]...)
	return &next
}

// measure tells what compiling and proving cost: CPU time of all threads.
func measure(b *testing.B, d *Dir, at ...int) {
	var c *Compiled
	b.Run("new", func(b *testing.B) {
		used := cpu()
		for b.Loop() {
			c = Compile(Input{Root: d}, nil)
		}
		b.ReportMetric(float64((cpu()-used).Microseconds())/1000/float64(b.N), "cpu-ms/op")
	})
	b.Run("edit", func(b *testing.B) {
		if c == nil {
			c = Compile(Input{Root: d}, nil)
		}
		used := cpu()
		for b.Loop() {
			d = edited(d, at...)
			c = Compile(Input{Root: d}, c)
		}
		b.ReportMetric(float64((cpu()-used).Microseconds())/1000/float64(b.N), "cpu-ms/op")
	})
}

func BenchmarkHostile(b *testing.B) {
	for name, d := range hostile() {
		for _, users := range []int{300, 3000} {
			host := beside(hostOf(users, 3, "", private), d)
			i := slices.IndexFunc(host.Dirs, func(d *Dir) bool { return d.Name == "~user00006" })
			b.Run(fmt.Sprintf("%s%d", name, users), func(b *testing.B) { measure(b, host, i) })
		}
	}
}

func BenchmarkUsers(b *testing.B) { measure(b, hostOf(5000, 1, "", private), 7) }

func BenchmarkMillion(b *testing.B) { measure(b, million(""), 7, 10) }
