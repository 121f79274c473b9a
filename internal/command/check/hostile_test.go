package check

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestHostileFiles: no file of an author makes a check wait or read without end. What is
// no regular file of the tree is not opened, and a map is cut where the server cuts it.
func TestHostileFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, tree{"zero/gophermap": "-> /dev/zero",
		"log/gophermap": "-> /proc/kmsg", "in/gophermap": "7D\t/in/x\n0E\t/in/x\n=x\n=y\n",
		"in/y":         "-> /dev/zero",
		"names/.names": "-> /dev/zero", "t/.gophermap": "-> /dev/zero", "c/.cap": "-> /dev/zero",
		"b.gph": "-> /dev/zero", "n/.robots": "-> /dev/zero", "gophertag": "-> /dev/zero"})
	for _, name := range []string{"fifo/gophermap", "in/x", "p/.names", "q/.robots", "r/index.dcgi",
		"fifo.gph", "robots.txt"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		must(t, unix.Mkfifo(filepath.Join(dir, name), 0o644))
	}
	must(t, os.Mkdir(filepath.Join(dir, "large"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "large/gophermap"), []byte("0No\tno.txt\n"), 0o644))
	must(t, os.Truncate(filepath.Join(dir, "large/gophermap"), 2<<30))

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, _ := findings(t, dir, Options{})
	runtime.ReadMemStats(&after)
	if read := after.TotalAlloc - before.TotalAlloc; read > 256<<20 {
		t.Errorf("%d MiB were allocated", read>>20)
	}
	for _, want := range []string{"warning CHECK-NOWHERE large/gophermap:1",
		"error CHECK-OUTSIDE b.gph", "error CHECK-OUTSIDE zero/gophermap",
		"error CHECK-OUTSIDE names/.names", "error CHECK-READ fifo/gophermap",
		"error CHECK-READ p/.names"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, strings.Join(got, "\n"))
		}
	}
}
