package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gophd/gophd/internal/treetest"
)

// TestAccess: what an account may read, and which directory keeps it from that; as root with
// the ids of the account, which for group 54322 no mode alone tells.
func TestAccess(t *testing.T) {
	dir := t.TempDir()
	for at := dir; at != "/" && at != os.TempDir(); at = filepath.Dir(at) {
		treetest.Must(t, os.Chmod(at, 0o755))
	}
	write := func(name string, mode os.FileMode) {
		name = filepath.Join(dir, name)
		treetest.Must(t, os.MkdirAll(filepath.Dir(name), 0o755))
		if err := os.Chmod(filepath.Dir(name), 0o755); err != nil { // whatever the umask
			t.Fatal(err)
		}
		treetest.Must(t, os.WriteFile(name, nil, mode))
		treetest.Must(t, os.Chmod(name, mode))
	}
	write("open/file", 0o644)
	write("open/own", 0o600)
	write("shut/below/file", 0o644)
	treetest.Must(t, os.Chmod(filepath.Join(dir, "shut"), 0o700))
	other := &Identity{Name: "other", UID: 54321, GID: 54322, Groups: []int{54323}}
	for name, want := range map[string]string{"open": "", "open/file": "", "open/own": "open/own",
		"shut/below/file": "shut", "shut/none": "shut", "open/none": "open/none"} {
		if want != "" {
			want = filepath.Join(dir, want)
		}
		if got := other.Closed(filepath.Join(dir, name), MayRead); got != want {
			t.Errorf("%s: closed at %q, want %q", name, got, want)
		}
	}
	if os.Geteuid() != 0 {
		return
	}
	for gid, want := range map[int]bool{54322: true, 54323: true, 54324: false} {
		name := filepath.Join(dir, "open/group")
		write("open/group", 0o640)
		treetest.Must(t, os.Chown(name, 0, gid))
		if err := other.Access(name, MayRead); (err == nil) != want {
			t.Errorf("group %d: %v", gid, err)
		}
	}
	// This process is itself again, in all its threads.
	write("open/again", 0o600)
	if err := (*Identity)(nil).Access(filepath.Join(dir, "open/again"), MayWrite); err != nil ||
		os.Geteuid() != 0 {
		t.Error(err)
	}
}
