package search

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/treetest"
)

// TestLarge builds an index of TEST_GOPHD_SEARCH texts of 2 KB, as many as 100,000,
// and prints what it takes. Words come as often as in a language (Zipf's law):
// 250,000 different ones in all, as Heaps' law has it for English.
func TestLarge(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("TEST_GOPHD_SEARCH"))
	if n == 0 {
		t.Skip("TEST_GOPHD_SEARCH=100000 builds so many texts")
	}
	dir := t.TempDir()
	x, began, cpu := openIndex(t, dir, 1<<30), time.Now(), spent()
	for i := range n {
		name := fmt.Sprintf("top%d/%d", i%50, i)
		treetest.Must(t, x.Put(Text{Name: name, Title: "text " + name,
			Body: sample(uint64(i), 2<<10)}))
		if x.Due() {
			treetest.Must(t, x.Commit())
		}
	}
	treetest.Must(t, x.Commit())
	t.Logf("%d texts: built in %v, CPU %v, %+v, resident %d MiB", n, time.Since(began), spent()-cpu,
		x.Stats(), rss()>>20)
	treetest.Must(t, x.Close())
	began = time.Now()
	x = openIndex(t, dir, 1<<30)
	t.Logf("opened again in %v", time.Since(began))
	for _, q := range []string{vocabulary(0), vocabulary(0) + " " + vocabulary(1),
		vocabulary(0)[:2] + "*", vocabulary(0) + " in:top7",
		fmt.Sprintf("%q", vocabulary(0)+" "+vocabulary(1)),
		fmt.Sprintf("%q", vocabulary(2)+" "+vocabulary(0)+" "+vocabulary(3)), vocabulary(70_000),
		strings.Repeat(`"`+vocabulary(0)+" "+vocabulary(1)+`" `, 300), phrases(8), "xkota"} {
		var times []time.Duration
		var a Results
		cpu := spent()
		for range 21 {
			began := time.Now()
			a, _ = x.Search(t.Context(), Query{Text: q})
			times = append(times, time.Since(began))
		}
		slices.Sort(times)
		t.Logf("%-24.24s %6d texts, %2d results, median %v, worst %v, CPU %v", q, a.Total,
			len(a.Names), times[10], times[20], (spent()-cpu)/21)
	}
}

// phrases is a query of so many phrases of common words.
func phrases(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%q ", vocabulary(i)+" "+vocabulary(i+1))
	}
	return b.String()
}

// spent is the CPU time that this process took.
func spent() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func rss() int64 {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	kb, _ := strconv.ParseInt(strings.Fields(string(rest))[0], 10, 64)
	return kb << 10
}

// vocabulary is the i-th commonest word.
func vocabulary(i int) string {
	const syllables = "kotaneluvirosapimegudafehokatenoliverusopamigedufoha" + "benacilodimu"
	const n = len(syllables) / 2
	word := ""
	for i += n; i > 0; i /= n {
		word += syllables[2*(i%n) : 2*(i%n)+2]
	}
	return word
}

func sample(seed uint64, size int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	zipf := rand.NewZipf(r, 1.07, 2.7, 170_000)
	var b bytes.Buffer
	for column := 0; b.Len() < size; {
		w := vocabulary(int(zipf.Uint64()))
		b.WriteString(w)
		if column += len(w) + 1; column > 66 {
			b.WriteByte('\n')
			column = 0
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()[:size]
}

func BenchmarkPut(b *testing.B) {
	texts := make([]string, 1000)
	for i := range texts {
		texts[i] = sample(uint64(i), 2<<10)
	}
	b.SetBytes(2 << 10)
	b.ReportAllocs()
	x := openIndex(b, "", 0)
	for i := 0; b.Loop(); i++ {
		_ = x.Put(Text{Name: strconv.Itoa(i), Body: texts[i%len(texts)]})
		if x.Due() {
			_ = x.Commit()
		}
	}
}
