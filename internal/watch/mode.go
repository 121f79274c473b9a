package watch

// Mode is how changes are found.
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
