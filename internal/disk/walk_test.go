package disk_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gophd/gophd/internal/disk"
)

// The links of a name may have so many elements, whatever they lead to, and to
// find out costs no more than that.
func TestAbuseLinkChains(t *testing.T) {
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, strings.Repeat("d/", 800)), 0o755))
	write(t, dir, map[string]string{
		"file":  "x",
		"full":  "-> " + strings.Repeat("./", 254) + "file",
		"over":  "-> " + strings.Repeat("./", 255) + "file",
		"half":  "-> " + strings.Repeat("./", 127) + "d",
		"deep":  "-> " + strings.Repeat("d/", 800) + "l1",
		"l0":    "-> d/../l1",
		"d/two": "-> " + strings.Repeat("./", 127) + "two.d",
		"d/twO": "-> " + strings.Repeat("./", 126) + "two.d",

		"d/two.d/file": "x",
	})
	at := filepath.Join(dir, strings.Repeat("d/", 800))
	for i := range 39 { // each leads up all the way and down again
		link := filepath.Join(at, "l"+string(rune('A'+i)))
		must(t, os.Symlink(strings.Repeat("../", 800)+strings.Repeat("d/", 800)+"l"+
			string(rune('B'+i)), link))
	}
	roots(t, dir, func(t *testing.T, r *disk.Root) {
		for name, want := range map[string]error{
			"full": nil, "over": disk.ErrTooManyLinks, "deep": disk.ErrTooManyLinks, "half/twO/file": nil,
			"half/two/file":                  disk.ErrTooManyLinks,
			strings.Repeat("d/", 800) + "lA": disk.ErrTooManyLinks, "l0": fs.ErrNotExist,
		} {
			calls := 0
			f, err := r.Open(func(_ string, f func() error) error { calls++; return f() }, name)
			if err == nil {
				_ = f.Close()
			}
			if !errors.Is(err, want) || want != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%.20s: %v, want %v", name, err, want)
			}
			if most := disk.MaxLinkElements + 2*len(name) + 2; calls > most {
				t.Errorf("%.20s: %d system calls, want at most %d", name, calls, most)
			}
		}
	})
}

// What is always a link again when it is to be opened is not there.
func TestLinkThatIsExchangedEachTime(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"x": "x", "link": "-> x"})
	at := filepath.Join(dir, "x")
	roots(t, dir, func(t *testing.T, r *disk.Root) {
		seen := 0
		_, err := r.Open(func(name string, f func() error) error {
			if name == "x" {
				must(t, os.Remove(at))
				if seen++; seen%2 == 1 { // it is looked at
					must(t, os.WriteFile(at, nil, 0o644))
				} else {
					must(t, os.Symlink("link", at))
				}
			}
			return f()
		}, "link")
		if !errors.Is(err, fs.ErrNotExist) || seen != 2*3 {
			t.Errorf("tried %d times: %v", seen, err)
		}
	})
}
