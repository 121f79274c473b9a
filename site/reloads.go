package site

import (
	"time"

	"github.com/gophd/gophd/internal/limit"
	"github.com/gophd/gophd/internal/watch"
)

// A Reload tells how something was read anew.
type Reload struct {
	Start       time.Time
	Took        time.Duration
	Everything  bool // not only what had changed
	Reopened    bool // the root, too: it was exchanged, or Site.Reload has asked
	Directories int  // how many were read; 0 if Everything

	// Err says why the tree could not be opened or read, or why the robots.txt
	// that was made is not proven and so not served. The old one stays.
	Err error
}

// tryAgain is when everything is read again after there were no descriptors, or
// no memory, to read it.
const tryAgain = time.Second

// reload makes a new snapshot and tells of it.
func (s *Site) reload(b watch.Batch) {
	start := time.Now()
	err := s.changed(b)
	if limit.Reached(err) {
		time.AfterFunc(tryAgain, s.Reload)
	}
	if s.conf.Reloaded != nil {
		s.conf.Reloaded(Reload{Start: start, Took: time.Since(start), Everything: b.All, Reopened: b.Root,
			Directories: len(b.Dirs), Err: err})
	}
}
