package exit

import (
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
