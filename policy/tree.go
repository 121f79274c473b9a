package policy

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Dir is a directory of the tree that the server answers for. It never changes
// after it was made: a change makes new ones on the way to the root and shares
// the rest.
type Dir struct {
	Name  string        // the last element; "" for the root
	Files []string      // names of served files, sorted by bytes
	Dirs  []*Dir        // sorted by Name
	Notes []*Annotation // what is said about it: .robots, and robots.txt at the top of a tree
}

// Annotation is a robots file whose "/" is the directory it lies in.
type Annotation struct {
	File string // as reports name it: "phlog/.robots"
	Data []byte // must not be changed
	Err  error  // it cannot be read: the directory is denied until it can be
}

// Input is what a robots.txt is made for.
type Input struct {
	Root *Dir

	// Programs are selectors, or patterns of them such as "/*.dcgi", that
	// programs answer: P itself, what lies below it, and what follows a "?".
	// They are denied unless an annotation of the root has an Allow that speaks of
	// them by name: its pattern begins with P ("/cgi-bin/news$"), or holds the
	// extension at the end of a name ("/list.dcgi$").
	Programs []string

	// Own are selectors that the server answers by itself, such as "/caps.txt";
	// what has no leading slash is a name in every directory ("feed.xml"). They
	// are known as files are.
	Own []string
}

// robotsFile is the name in the root that is always allowed (RFC 9309, 2.2.2)
// and answered, and so takes no part in the policy.
const robotsFile = "robots.txt"

// speakable reports whether a name can be asked for: a request line has no room
// for control bytes, a path none for a slash in a name, and names are UTF-8.
func speakable(name string) bool {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c == 0x7f || c == '/' {
			return false
		}
	}
	return name != "" && name != "." && name != ".." && utf8.ValidString(name)
}

// sub gives the directory of that name in d, nil if there is none.
func (d *Dir) sub(name string) *Dir {
	if i, ok := slices.BinarySearchFunc(d.Dirs, name, func(d *Dir, name string) int { return strings.Compare(d.Name, name) }); ok {
		return d.Dirs[i]
	}
	return nil
}

// Has reports whether there is a resource below d: a directory or a file. The
// name is a path, "." for d itself.
func (d *Dir) Has(name string, dir bool) bool {
	if dir {
		return d.find(name) != nil
	}
	above, file := ".", name
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		above, file = name[:i], name[i+1:]
	}
	in := d.find(above)
	if in == nil {
		return false
	}
	_, ok := slices.BinarySearch(in.Files, file)
	return ok
}

// find gives the directory of a path, nil if there is none.
func (d *Dir) find(name string) *Dir {
	for name != "." && name != "" && d != nil {
		first, rest, _ := strings.Cut(name, "/")
		d, name = d.sub(first), rest
	}
	return d
}
