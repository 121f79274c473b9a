package site

import "testing"

// What lies on another file system than the root is not kept: it may be a
// network's, which tells nothing of changes.
func TestOtherFileSystemsAreNotVouchedFor(t *testing.T) {
	s, err := Open("/", Config{})
	must(t, err)
	for name, loose := range map[string]bool{"etc/passwd": false, "proc/version": true} {
		l := s.Look()
		l.dirs = map[string]struct{}{"etc": {}, "proc": {}} // as if watched
		f, err := l.Open(name)
		must(t, err)
		_ = f.Close()
		if l.loose != loose {
			t.Errorf("%s: loose is %v", name, l.loose)
		}
		if a := l.root.instant(name, 1<<20); a != nil && loose {
			t.Errorf("%s was read where it was accepted", name)
		}
	}
}
