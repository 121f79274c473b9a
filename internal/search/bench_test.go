package search

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLarge builds an index of GOPHD_SEARCH texts of 2 KB, as many as 100,000,
// and prints what it takes. Words come as often as in a language (Zipf's law):
// 250,000 different ones in all, as Heaps' law has it for English.
func TestLarge(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("GOPHD_SEARCH"))
	if n == 0 {
		t.Skip("GOPHD_SEARCH=100000 builds so many texts")
	}
	dir := t.TempDir()
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), sample(uint64(i), 2<<10), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	x, began := New(0), time.Now()
	for i := range n {
		name := fmt.Sprint(i)
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Put(name, "text "+name, 0, f); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
	}
	x.Settle()
	built := time.Since(began)
	peak := rss()
	runtime.GC()
	debug.FreeOSMemory()
	runtime.ReadMemStats(&after)
	t.Logf("%d texts: built in %v, %+v, heap %d MiB, resident at the end %d MiB", n, built.Round(time.Millisecond), x.Stats(),
		(after.HeapAlloc-before.HeapAlloc)>>20, peak>>20)
	open := func(_ context.Context, name string) (io.ReadCloser, error) { return os.Open(filepath.Join(dir, name)) }
	for _, q := range []string{vocabulary(0), vocabulary(0) + " " + vocabulary(1), vocabulary(0)[:2] + "*",
		fmt.Sprintf("%q", vocabulary(0)+" "+vocabulary(1)), fmt.Sprintf("%q", vocabulary(2)+" "+vocabulary(0)+" "+vocabulary(3)), vocabulary(70_000)} {
		var times []time.Duration
		var a Results
		cpu := spent()
		for range 21 {
			began := time.Now()
			a, _ = x.Search(t.Context(), Query{Text: q, Open: open})
			times = append(times, time.Since(began))
		}
		slices.Sort(times)
		t.Logf("%-24s %6d texts, %2d results, median %v, worst %v, CPU %v", q, a.Texts, len(a.Results), times[10], times[20], (spent()-cpu)/21)
	}
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

func sample(seed uint64, size int) []byte {
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
	return b.Bytes()[:size]
}

func BenchmarkPut(b *testing.B) {
	texts := make([][]byte, 1000)
	for i := range texts {
		texts[i] = sample(uint64(i), 2<<10)
	}
	b.SetBytes(2 << 10)
	b.ReportAllocs()
	x := New(0)
	for i := 0; b.Loop(); i++ {
		_ = x.Put(strconv.Itoa(i), "", 0, bytes.NewReader(texts[i%len(texts)]))
	}
}
