package site

import "testing"

// What lies on another file system than the root is not kept: it may be a
// network's, which tells nothing of changes.
func TestOtherFileSystemsAreNotVouchedFor(t *testing.T) {
	s, err := Open("/", Config{})
	must(t, err)
	for name, loose := range map[string]bool{"etc/passwd": false, "proc/version": true} {
		v := s.View(t.Context())
		f, err := v.open(name)
		must(t, err)
		_ = f.Close()
		if v.loose != loose {
			t.Errorf("%s: loose is %v", name, v.loose)
		}
		if _, ok := v.root.Main.Cached(name, 1<<20); ok && loose {
			t.Errorf("%s was read where it was accepted", name)
		}
	}
}
