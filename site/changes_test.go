package site_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gophd/gophd/site"
)

// aged runs a test with a site that nothing watches, ten seconds after its files were written,
// so that none is young. The clock moves when the test sleeps.
func aged(t *testing.T, dir string, conf site.Config, f func(*testing.T, *site.Site)) {
	t.Helper()
	now := time.Now()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(now.Add(10 * time.Second)))
		s, err := site.Open(dir, conf)
		must(t, err)
		f(t, s)
	})
}
