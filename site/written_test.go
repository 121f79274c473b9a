package site_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/site"
)

// A writer opens a file, which empties it, and writes later: a site that reads in
// between serves what it read until it is told of the write.
func TestReadBeforeWrite(t *testing.T) {
	for _, conf := range []site.Config{{Watch: site.WatchEvents},
		{Watch: site.WatchPoll, Poll: 20 * time.Millisecond}} {
		t.Run(conf.Watch.String(), func(t *testing.T) {
			dir := t.TempDir()
			note := "d/.robots"
			write(t, dir, map[string]string{"d/x": "x", note: "Disallow: /old/\n"})
			s, err := site.Open(dir, conf)
			must(t, err)
			running(t, s)
			for i := range 10 {
				f, err := os.Create(filepath.Join(dir, note))
				must(t, err)
				soon(t, "the empty file is read", func() bool {
					return !strings.Contains(string(s.Now().Robots), "/d/")
				})
				_, err = fmt.Fprintf(f, "Disallow: /%d/\n", i)
				must(t, errors.Join(err, f.Close()))
				soon(t, "the whole file is read", func() bool {
					return strings.Contains(string(s.Now().Robots), fmt.Sprintf("/d/%d/\n", i))
				})
			}
		})
	}
}
