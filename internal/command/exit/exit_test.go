package exit

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestMissingMount(t *testing.T) {
	const table = "# disks\nUUID=1 / ext4 defaults 0 1\n/dev/sdb1 /srv/data xfs nofail 0 2\nnas:/x /mnt/nas nfs noauto 0 0\nswap none swap sw 0 0\n"
	const mounted = "/dev/sda1 / ext4 rw 0 0\nnas:/x /mnt/nas nfs rw 0 0\n"
	for dir, want := range map[string]string{
		"/srv/data/gopher": "/srv/data", "/srv/data": "/srv/data", "/srv/database": "",
		"/mnt/nas/x": "", "/nope": "",
	} {
		if got := missingMount(dir, table, mounted); got != want {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
}

// TestDirectory: what cannot work as written has another status than what may heal.
func TestDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		dir    string
		err    error
		status int
	}{
		{"/nope", fs.ErrNotExist, Usage}, {file, syscall.ENOTDIR, Usage},
		{file, os.ErrInvalid, Usage},
		{"/", fs.ErrPermission, Failure}, {"/", syscall.EIO, Failure},
		{"/", syscall.ESTALE, Failure},
	} {
		if got := Report(io.Discard, Directory("-root", tt.dir, nil, tt.err)); got != tt.status {
			t.Errorf("%s, %v: status %d, want %d", tt.dir, tt.err, got, tt.status)
		}
	}
}
