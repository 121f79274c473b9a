package policy

import "strings"

// Dir is a directory of the tree that the server answers for. It never changes
// after it was made: a change makes new ones on the way to the root and shares
// the rest.
type Dir struct {
	Name  string        // the last element; "" for the root
	Files []string      // names of served files, sorted by octets
	Dirs  []*Dir        // sorted by Name
	Notes []*Annotation // what is said about it; the root may have robots.txt and .robots
}

// Annotation is a robots file whose "/" is the directory it lies in.
type Annotation struct {
	File string // as reports name it: "phlog/.robots"; "robots.txt" is the root's hand-written one
	Data []byte
	Err  error // it cannot be read: the directory is denied until it can be
}

// maxAnnotation is how many octets an annotation may have. What is longer would
// be cut somewhere, and the part that is lost may be the one that denies.
const maxAnnotation = 500 << 10

// robotsFile is the name in the root that is always allowed (R5) and answered,
// and so takes no part in the policy.
const robotsFile = "robots.txt"

// speakable reports whether a name can be asked for: a request line has no room
// for control octets, and a path none for a slash in a name.
func speakable(name string) bool {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c == 0x7f || c == '/' {
			return false
		}
	}
	return name != "" && name != "." && name != ".."
}

// spellings gives the selectors that are answered with a resource, the canonical
// one first: sel is "/p" for a file, "/d/" for a directory, "/" for the root.
func spellings(sel string) []string {
	switch {
	case sel == "/":
		return []string{"/", ""}
	case strings.HasSuffix(sel, "/"):
		return []string{sel, sel[:len(sel)-1], sel[1:], sel[1 : len(sel)-1]}
	}
	return []string{sel, sel[1:]}
}

// isRobotsSelector reports whether a selector is answered with the robots.txt,
// whatever else has that name.
func isRobotsSelector(sel string) bool { return sel == robotsFile || sel == "/"+robotsFile }

// skipped reports whether a file is left out: the robots file of the root, and
// names nobody can ask for.
func skipped(dir, name string) bool {
	return dir == "/" && name == robotsFile || !speakable(name)
}
