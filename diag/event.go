package diag

// Names of events in the log by which programs recognize them. They do not change.
const (
	EventRequest   = "request"
	EventProblem   = "problem in the content tree"
	EventServing   = "serving"
	EventScanned   = "scanned"
	EventReloaded  = "reloaded"
	EventReading   = "reading the tree"
	EventIndexed   = "search index built"
	EventIndexing  = "building the search index"
	EventSandboxed = "sandbox"
)
