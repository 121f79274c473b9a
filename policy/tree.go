package policy

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/selector"
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

	// Programs are selectors, or "/*" and the end of names ("/*.dcgi"), that
	// programs answer: P itself, what lies below it, and what follows a "?".
	// They are denied unless an annotation of the root has an Allow that speaks of
	// them by name: its pattern begins with P ("/cgi-bin/news$"), or holds the
	// extension at the end of a name ("/list.dcgi$"). If [CheckProgram] refuses one,
	// the whole site is denied and reported ([CodeProgram]).
	Programs []string

	// Own are selectors that the server answers by itself, such as "/caps.txt";
	// what has no leading slash is a name in every directory ("feed.xml"). They
	// are known as files are. An empty one is ignored.
	Own []string
}

// CheckProgram returns an error unless p may stand in [Input.Programs]: a selector
// that begins with a slash and does not end with one ("/cgi-bin"), or "/*" and the
// end of names ("/*.dcgi"). It has no other *, no ?, at most 4096 bytes, and no empty,
// hidden or malformed element (see [selector.Refusal]).
func CheckProgram(p string) error {
	name, ok := strings.CutPrefix(p, "/")
	if end, isEnd := strings.CutPrefix(name, "*"); isEnd {
		name, ok = "x"+end, ok && end != "" && !strings.Contains(end, "/")
	}
	for elem := range strings.SplitSeq(name, "/") {
		reason := selector.Refusal(elem)
		ok = ok && (reason == "" || reason == selector.Program || reason == selector.TooLong)
	}
	if !ok || strings.ContainsAny(name, "*?") || len(p) > selector.MaxRequest {
		return fmt.Errorf(`%.80q is neither a selector ("/cgi-bin") nor "/*" and the end of names ("/*.dcgi")`, p)
	}
	return nil
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

// sub returns the directory of that name in d, nil if there is none.
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
	slash := strings.LastIndexByte(name, '/') + 1
	in, file := d.find(name[:slash]), name[slash:]
	if in == nil {
		return false
	}
	_, ok := slices.BinarySearch(in.Files, file)
	return ok
}

// find returns the directory of a path, nil if there is none.
func (d *Dir) find(name string) *Dir {
	for name != "." && name != "" && d != nil {
		first, rest, _ := strings.Cut(name, "/")
		d, name = d.sub(first), rest
	}
	return d
}

// node is a directory with an annotation in it or below it. The compiler walks
// nodes, never the whole tree: what it costs is what the annotations say.
type node struct {
	dir     *Dir
	at      form  // its selector, without a slash at the end; empty for the root
	note    *note // nil: no annotation lies here; the root has one that says nothing then
	subs    []*node
	size             // of what is said here and below
	missing []Report // of rules here that match nothing that exists now
}

// grow makes the nodes of a directory; nil if there are none. Those of an
// unchanged subtree are taken over from the older tree: oldDir is the directory
// of the same path in it, and old its node.
func (f *finder) grow(d *Dir, at form, oldDir *Dir, old *node) *node {
	if len(at.raw)+1 > maxSelector { // nobody can ask for it
		return nil
	}
	n := &node{dir: d, at: at}
	switch {
	case len(d.Notes) == 0 && at.uri != "":
	case old != nil && old.note != nil && slices.Equal(old.dir.Notes, d.Notes):
		n.note = old.note
	default:
		n.note = readNote(d.Notes, at, at.uri == "")
	}
	if n.note != nil {
		n.size, n.missing = n.note.size, f.unmatched(n)
	}
	if oldDir == nil {
		oldDir = &Dir{}
	}
	if old == nil {
		old = &node{}
	}
	i, j := 0, 0 // in the older tree
	for _, sub := range d.Dirs {
		if !speakable(sub.Name) || len(sub.Notes)+len(sub.Dirs) == 0 {
			continue
		}
		was, s := next(oldDir.Dirs, &i, sub.Name), next(old.subs, &j, sub.Name)
		if was != sub {
			s = f.grow(sub, at.below(sub.Name), was, s)
		}
		if s != nil {
			n.subs = append(n.subs, s)
			n.add(s.size)
		}
	}
	if n.note == nil && len(n.subs) == 0 {
		return nil
	}
	return n
}

func (d *Dir) name() string  { return d.Name }
func (n *node) name() string { return n.dir.Name }

// next returns the element of that name in a list that is in order: nil if there is
// none. It begins at i, which it moves on.
func next[T interface {
	comparable
	name() string
}](list []T, i *int, name string) (found T) {
	for ; *i < len(list) && list[*i].name() <= name; *i++ {
		if list[*i].name() == name {
			found = list[*i]
		}
	}
	return found
}

// each calls fn for a node and all below, in the order of their selectors, but
// for what lies below a directory that is denied as a whole.
func (n *node) each(denied map[*node]*rule, fn func(*node)) {
	fn(n)
	if n.shut(denied) != nil {
		return
	}
	for _, sub := range n.subs {
		sub.each(denied, fn)
	}
}

// shut returns the rule by which a directory is denied as a whole, nil if it is not.
func (n *node) shut(denied map[*node]*rule) *rule {
	if r := denied[n]; r != nil || n.note == nil {
		return r
	}
	return n.note.shut
}

// selectorOf is the canonical selector of a node's directory.
func selectorOf(n *node) string { return n.at.raw + "/" }

// find returns the node of a canonical selector.
func (n *node) find(sel string) *node {
	for sel = strings.Trim(sel, "/"); sel != ""; {
		var name string
		name, sel, _ = strings.Cut(sel, "/")
		i, ok := slices.BinarySearchFunc(n.subs, name, func(n *node, name string) int { return strings.Compare(n.dir.Name, name) })
		if !ok {
			return nil
		}
		n = n.subs[i]
	}
	return n
}

// maxLooked bounds the names that are compared to find out which rules match
// nothing, and which names are near theirs: rules of which it is not known by then are
// taken to match something.
const maxLooked = 1 << 20

// finder looks for names that rules match.
type finder struct {
	known    []string // selectors that are no files, or the ends of such, in URI form
	programs []*rule  // what programs answer is denied
	looked   int

	// Where nothing was found before, nothing is now: directories do not change.
	before, nothing map[sought]bool
}

// sought is a rule that was looked for in and below a directory.
type sought struct {
	by  *rule
	dir *Dir
}

// minSought is how many names there must be below a directory for it to be
// remembered that none matches, maxSought how often that is.
const (
	minSought = 256
	maxSought = 1 << 16
)

// unmatched reports the rules of an annotation that match nothing that exists now.
func (f *finder) unmatched(n *node) (list []Report) {
	for i, r := range n.note.lines {
		if i > 0 && r.line == n.note.lines[i-1].line && r.file == n.note.lines[i-1].file {
			continue // the name that an escape decodes to is enough
		}
		if missing, near := f.missing(r, n); missing {
			list = append(list, noMatch(r, near))
		}
	}
	return list
}

func noMatch(r *rule, near string) Report {
	message := fmt.Sprintf("%q matches nothing", r.field()+r.value)
	if near != "" {
		message += "; the nearest name is " + near
	}
	report := NewReport(CodeNoMatch, r.file, r.line, message)
	report.Selector = r.uri
	if near == "" {
		report.Severity = diag.Notice
	}
	return report
}

// missing reports whether a rule matches nothing, and which name is near.
func (f *finder) missing(r *rule, n *node) (missing bool, near string) {
	if slices.ContainsFunc(f.known, func(sel string) bool {
		return matches(r.uri, sel) || sel[0] != '/' && strings.HasSuffix(strings.TrimSuffix(r.uri, "$"), sel)
	}) || slices.ContainsFunc(f.programs, func(p *rule) bool { return r.names(p.value) }) {
		return false, ""
	}
	d, at := n.dir, n.at.uri+"/"
	rest, ok := unescape(strings.TrimPrefix(headOf(r.uri), at))
	if !ok {
		return false, ""
	}
	for {
		name, more, deeper := strings.Cut(rest, "/")
		if !deeper {
			break
		}
		sub := d.sub(name)
		if sub == nil {
			return true, f.nearest(d, name, n, at)
		}
		d, at, rest = sub, at+escape(name)+"/", more
	}
	if f.any(d, at, rest, r) {
		return false, ""
	}
	if rest != "" && isLiteral(strings.TrimSuffix(r.uri, "$")) {
		near = f.nearest(d, rest, n, at)
	}
	return true, near
}

// any reports whether a rule matches a directory, or something in or below it
// whose name begins with head.
func (f *finder) any(d *Dir, at, head string, r *rule) bool {
	start, pattern := f.looked, r.uri
	if head == "" && matches(pattern, at) {
		return true
	}
	if head == "" && f.before[sought{r, d}] {
		f.nothing[sought{r, d}] = true
		return false
	}
	from, _ := slices.BinarySearch(d.Files, head)
	for _, name := range d.Files[from:] {
		if !strings.HasPrefix(name, head) {
			break
		}
		if f.looked++; f.looked > maxLooked || matches(pattern, at+escape(name)) {
			return true
		}
	}
	from, _ = slices.BinarySearchFunc(d.Dirs, head, func(d *Dir, name string) int { return strings.Compare(d.Name, name) })
	for _, sub := range d.Dirs[from:] {
		if !strings.HasPrefix(sub.Name, head) {
			break
		}
		if f.looked++; f.looked > maxLooked || f.any(sub, at+escape(sub.Name)+"/", "", r) {
			return true
		}
	}
	if head == "" && f.looked-start >= minSought && len(f.nothing) < maxSought {
		f.nothing[sought{r, d}] = true
	}
	return false
}

// nearest returns the name in a directory that is most like another, as it would
// be written in the annotation; "" if none is, or too many were compared already.
func (f *finder) nearest(d *Dir, name string, n *node, at string) string {
	if f.looked > maxLooked {
		return ""
	}
	best, least := "", 3
	try := func(other, end string) {
		f.looked++
		if distance := diag.Distance(strings.ToLower(name), strings.ToLower(other), least); distance < least {
			best, least = strings.TrimPrefix(at, n.at.uri)+other+end, distance
		}
	}
	for _, sub := range d.Dirs {
		try(sub.Name, "/")
	}
	for _, file := range d.Files {
		try(file, "")
	}
	if len(name) < 3 && least > 0 {
		return ""
	}
	return best
}

// near reports whether a word is a misspelling of another.
func near(word, of string) bool { return word != of && diag.Distance(word, of, 3) < 2 }
