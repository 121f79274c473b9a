package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/gophd/gophd/site"
)

// TestWhatIsWrittenIsRead: what was written before a tree is read is in its policy: on a busy machine, too,
// however it was written, and by whatever process. (A file is empty for a moment
// where a writer has opened it and not written yet: a reader then reads that,
// and is told of the write.)
func TestWhatIsWrittenIsRead(t *testing.T) {
	for range 8 {
		busy := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
		if err := busy.Start(); err != nil {
			t.Skip(err)
		}
		defer func() { _ = busy.Process.Kill(); _ = busy.Wait() }()
	}
	ways := map[string]func(name, text string) error{
		"written over": func(name, text string) error {
			return os.WriteFile(name, []byte(text), 0o644)
		},
		"renamed": func(name, text string) error {
			if err := os.WriteFile(name+".new", []byte(text), 0o644); err != nil {
				return err
			}
			return os.Rename(name+".new", name)
		},
		"by another process": func(name, text string) error {
			return exec.Command("sh", "-c", `printf %s "$2" >"$1"`, "sh", name, text).Run()
		},
		"new": func(name, text string) error {
			_ = os.Remove(name)
			return os.WriteFile(name, []byte(text), 0o644)
		},
	}
	var all sync.WaitGroup
	defer all.Wait()
	for way, put := range ways {
		dir := t.TempDir()
		write(t, dir+"/d/x", "x")
		all.Go(func() {
			for i := range 25 {
				rule := fmt.Sprintf("Disallow: /%d/", i)
				if err := put(dir+"/d/.robots", rule+"\n"); err != nil {
					t.Error(err)
					return
				}
				snap, err := site.Load(dir)
				if err != nil || !strings.Contains(string(snap.Robots),
					fmt.Sprintf("Disallow: /d/%d/\n", i)) {
					t.Errorf("%s, %d: %v, %s", way, i, err, snap.Robots)
					return
				}
			}
		})
	}
}
