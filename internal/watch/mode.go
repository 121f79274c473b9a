package watch

import "fmt"

// Mode says how changes are found.
type Mode int

// The modes.
const (
	// Inotify listens to the kernel, and polls where it refuses.
	Inotify Mode = iota
	// PollOnly compares at intervals.
	PollOnly
	// Off finds nothing: there is one Batch at the start, and one at each
	// Reread.
	Off
)

var modeNames = [...]string{Inotify: "inotify", PollOnly: "poll", Off: "off"}

// String returns the name of m as UnmarshalText takes it.
func (m Mode) String() string {
	if m < 0 || int(m) >= len(modeNames) {
		return fmt.Sprintf("Mode(%d)", int(m))
	}
	return modeNames[m]
}

// MarshalText returns the name of m, for flag.TextVar.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText sets m by its name: inotify, poll or off.
func (m *Mode) UnmarshalText(text []byte) error {
	for i, name := range modeNames {
		if string(text) == name {
			*m = Mode(i)
			return nil
		}
	}
	return fmt.Errorf("watch mode %q: want inotify, poll or off", text)
}
