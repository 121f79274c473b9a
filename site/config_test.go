package site_test

import (
	"strings"
	"testing"

	"github.com/gophd/gophd/site"
)

func TestWatchNames(t *testing.T) {
	for name, want := range map[string]site.Watch{"inotify": site.WatchEvents, "poll": site.WatchPoll,
		"off": site.WatchOff} {
		w := site.Watch(-1)
		if err := w.UnmarshalText([]byte(name)); err != nil || w != want || w.String() != name {
			t.Errorf("%s: %v, %v", name, w, err)
		}
	}
	if err := new(site.Watch).UnmarshalText([]byte("fanotify")); err == nil {
		t.Error("fanotify is taken for a way to watch")
	}
}

// What cannot be mounted, matches no home or is answered by no program is an error, not a
// policy that denies everything.
func TestMistakes(t *testing.T) {
	dir := t.TempDir()
	var rows []site.Config
	for name, to := range map[string]string{"": dir, ".": dir, "../x": dir, ".git": dir, "a/b": dir,
		"ok": dir + "/missing", "cgi-bin": dir} {
		rows = append(rows, site.Config{Mounts: map[string]string{name: to}})
	}
	for _, bad := range []string{"home/*/public_gopher", "/home/public_gopher", "/home/a*/x",
		"/home/*/*/x", "/home/*x/y", "/h?me/*/x"} {
		rows = append(rows, site.Config{Users: bad})
	}
	for _, bad := range []string{"", "/*", "/cgi//", "/~*/", "/~*/a*", "cgi"} {
		rows = append(rows, site.Config{Programs: []string{"/cgi", bad}})
	}
	for _, conf := range rows {
		want := "mounting at"
		if conf.Users != "" {
			want = "want a path with one element that is *"
		} else if conf.Programs != nil {
			want = "neither a selector"
		}
		if _, err := site.Open(dir, conf); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", conf, err)
		}
	}
	for _, good := range []string{"/home/*/public_gopher", "/home/*", "/srv/users/*/a/b"} {
		must(t, site.CheckUsers(good))
	}
}
