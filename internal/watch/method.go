package watch

// Method is how changes are found.
type Method int

// The modes.
const (
	// Inotify listens to the kernel, and polls where it refuses.
	Inotify Method = iota
	// PollOnly compares at intervals.
	PollOnly
	// Off finds nothing: there is one Batch at the start, and one at each
	// Reread.
	Off
)
