package daemon

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
)

// Check does what a start does, up to the first reading of the tree, and serves
// nobody: the log, to stderr, tells what a start would tell. An address that is
// in use is no error, since gophd may be running.
func Check(ctx context.Context, conf *Settings, stderr io.Writer) error {
	d := newDaemon(conf, stderr)
	defer d.close()
	d.checking = true
	if err := d.open(ctx); err != nil {
		return err
	}
	announce(d.log, d.conf.root, d.srv, d.listeners)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var reading errgroup.Group
	go d.tellProgress(ctx)
	for _, s := range d.sites() {
		reading.Go(func() error { return s.Run(ctx) })
		if _, err := s.Snapshot(ctx); err != nil {
			return err
		}
	}
	stop()
	return reading.Wait()
}

// Doubt is why somebody may not have meant a directory to be the root, and what
// to do then; "" if there is no reason.
func Doubt(root string) (doubt, hint string) {
	real, err := resolved(root)
	if err != nil {
		return "", ""
	}
	home, err := os.UserHomeDir()
	if err == nil {
		home, err = resolved(home)
	}
	list, _ := os.ReadDir(real)
	switch {
	case real == "/":
		return "all of this machine is the root: whatever gophd may read is served", "gophd init hole makes a directory for what is to be seen"
	case err == nil && real == home:
		return "a home is the root: whatever lies in it is served, but for names that begin with a dot", "gophd init hole makes a directory for what is to be seen"
	case len(list) == 0:
		return "the root is empty", "gophd init " + root + " makes an example there"
	}
	return "", ""
}

func resolved(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// tellProgress tells people how far the first reading of the trees is, and then the
// search index, as long as that takes: every two seconds.
func (d *daemon) tellProgress(ctx context.Context) {
	if !d.logs.ForPeople() {
		return
	}
	dirs := []string{d.conf.root}
	for _, h := range d.conf.hosts {
		dirs = append(dirs, h.dir)
	}
	for {
		select {
		case <-time.After(2 * time.Second):
		case <-ctx.Done():
			return
		}
		working := false
		for i, s := range d.sites() {
			if s.Now() == nil {
				working = true
				d.log.Info("reading the tree", "root", dirs[i], "directories", s.Scanned())
			}
		}
		if search := d.conf.search; search != nil && !working && !d.checking {
			done, all, complete := search.Progress()
			if working = !complete; working && all > 0 {
				d.log.Info("building the search index", "directories", done, "of", all)
			}
		}
		if !working {
			return
		}
	}
}
