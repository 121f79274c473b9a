package site

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gophd/gophd/internal/treetest"
)

// What the tests of both packages, this one and site_test, share.

var write, must, soon = treetest.Write, treetest.Must, treetest.Until

// Running runs an opened site.
func Running(t testing.TB, s *Site) {
	t.Helper()
	treetest.Run(t, s.Run)
	_, err := s.Snapshot(t.Context())
	must(t, err)
}

// Start opens a site with a Config and runs it until the test ends.
func Start(t testing.TB, dir string, conf Config) *Site {
	t.Helper()
	s, err := Open(dir, conf)
	must(t, err)
	Running(t, s)
	return s
}

// Aged runs a test with a site that nothing watches, ten seconds after its files were written,
// so that none is young. The clock moves when the test sleeps.
func Aged(t *testing.T, dir string, conf Config, f func(*testing.T, *Site)) {
	t.Helper()
	now := time.Now()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(now.Add(10 * time.Second)))
		s, err := Open(dir, conf)
		must(t, err)
		f(t, s)
	})
}

// RobotsHas returns whether robots.txt has a line, now and later.
func RobotsHas(s *Site, line string) func() bool {
	return func() bool { return strings.Contains(string(s.Now().Robots), line+"\n") }
}

// RobotsLacks is the opposite of RobotsHas.
func RobotsLacks(s *Site, line string) func() bool {
	return func() bool { return !RobotsHas(s, line)() }
}

// CanOpen looks a name up.
func CanOpen(s *Site, name string) error {
	f, err := s.View(context.Background()).Lookup(name)
	if err == nil {
		err = f.Close()
	}
	return err
}
