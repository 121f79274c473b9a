package site

import "fmt"

// Watch says how changes are noticed.
type Watch int

// The ways.
const (
	WatchEvents Watch = iota // the kernel tells of them (inotify), and where it refuses the tree is compared
	WatchPoll                // the tree is compared at intervals
	WatchOff                 // not at all: everything is read at the start, and at each Reload
)

var watchNames = [...]string{WatchEvents: "inotify", WatchPoll: "poll", WatchOff: "off"}

// String returns the name of w as UnmarshalText takes it.
func (w Watch) String() string {
	if w < 0 || int(w) >= len(watchNames) {
		return fmt.Sprintf("Watch(%d)", int(w))
	}
	return watchNames[w]
}

// MarshalText returns the name of w, for flag.TextVar.
func (w Watch) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText sets w by its name: inotify, poll or off.
func (w *Watch) UnmarshalText(text []byte) error {
	for i, name := range watchNames {
		if string(text) == name {
			*w = Watch(i)
			return nil
		}
	}
	return fmt.Errorf("watch mode %q: want inotify, poll or off", text)
}
