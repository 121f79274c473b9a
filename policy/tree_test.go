package policy

import "testing"

// TestLooked: of what is not known when enough names have been compared, it is taken
// that it matches something.
func TestLooked(t *testing.T) {
	r := &rule{form: form{uri: "/*z"}}
	for name, d := range map[string]*Dir{
		"files":       {Files: []string{"a", "b"}},
		"directories": {Dirs: []*Dir{{Name: "a"}, {Name: "b"}}},
	} {
		for looked, want := range map[int]bool{0: false, maxLooked - 2: false, maxLooked - 1: true} {
			f := finder{looked: looked, nothing: map[sought]bool{}}
			if got := f.any(d, "/", "", r); got != want {
				t.Errorf("%s, after %d: %v", name, looked, got)
			}
		}
	}
	d := &Dir{Files: []string{"drafts"}}
	for looked, want := range map[int]string{0: "drafts", maxLooked + 1: ""} {
		f := finder{looked: looked}
		if got := f.nearest(d, "draft", &node{dir: d}, ""); got != want || want == "" && f.looked > looked {
			t.Errorf("after %d the nearest name is %q", looked, got)
		}
	}
}

func TestNear(t *testing.T) {
	if near("disallow", "disallow") || !near("disalow", "disallow") || near("dislow", "disallow") {
		t.Error("what is near Disallow")
	}
}
