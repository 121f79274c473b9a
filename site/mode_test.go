package site

import "testing"

func TestWatchNames(t *testing.T) {
	for name, want := range map[string]Watch{"inotify": WatchEvents, "poll": WatchPoll,
		"off": WatchOff} {
		w := Watch(-1)
		if err := w.UnmarshalText([]byte(name)); err != nil || w != want || w.String() != name {
			t.Errorf("%s: %v, %v", name, w, err)
		}
	}
	if err := new(Watch).UnmarshalText([]byte("fanotify")); err == nil {
		t.Error("fanotify is taken for a way to watch")
	}
}
