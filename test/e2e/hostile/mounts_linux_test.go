package hostile

import (
	"context"
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	authors = append(authors, author{name: "mounts, 10 a second", act: mounts, size: 150, mib: 50})
}

// mounts mounts a file system and takes it away again, again and again.
func mounts(ctx context.Context, dir string, size int) error {
	for i := 0; i < size && sleep(ctx, 50*time.Millisecond); i++ {
		if err := unix.Mount("test", dir, "tmpfs", unix.MS_NOSUID, "size=64k"); err != nil {
			return err
		}
		sleep(ctx, 50*time.Millisecond)
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			return err
		}
	}
	return nil
}
