package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gophd/gophd/policy/internal/proof"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// Annotation is a robots file whose "/" is the directory it lies in.
type Annotation struct {
	// Dir is the canonical selector of the directory, with both slashes: "/",
	// "/~bob/phlog/".
	Dir string

	// File is how reports name it: "~bob/phlog/.robots". One whose last element is
	// robots.txt was written by hand, and is served as it is if it is the root's and
	// there is no other.
	File string

	Data []byte // must not be changed
	Err  error  // why it cannot be read: its directory is denied until it can be
}

// Input holds the sources of a robots.txt.
type Input struct {
	Annotations []Annotation // in any order

	// Programs are selectors, or "/*" and the end of names ("/*.dcgi"), that programs
	// answer. P covers P itself, everything below it, and a "?" with anything after it;
	// a P that ends with a slash ("/now/") is a directory whose menu a program makes, and
	// covers that selector alone. In "/~*/cgi-bin" the star stands for a user's name.
	// They are denied unless an annotation has an Allow for them. If [CheckProgram]
	// refuses one, the whole site is denied and reported ([CodeProgram]).
	Programs []string

	// Readers are the programs that the file is proven for. Nil stands for
	// [readers.All].
	Readers []readers.Reader
}

// CheckProgram returns an error unless p may stand in [Input.Programs]: a selector
// that begins with a slash ("/cgi-bin", "/now/"), "/*" and the end of names ("/*.dcgi"),
// or "/~*/" and a name ("/~*/cgi-bin"). It has no other *, no ?, at most 4096 bytes, and
// no empty, hidden or malformed element (see [selector.Refusal]).
func CheckProgram(p string) error {
	name, ok := strings.CutPrefix(p, "/")
	if end, isEnd := strings.CutPrefix(name, "*"); isEnd {
		name, ok = "x"+end, ok && end != "" && !strings.Contains(end, "/")
	} else if below, isUsers := strings.CutPrefix(name, "~*/"); isUsers {
		name = below
	} else if name = strings.TrimSuffix(name, "/"); p == "/" {
		return nil
	}
	for elem := range strings.SplitSeq(name, "/") {
		reason := selector.Refusal(elem)
		ok = ok && (reason == "" || reason == selector.Program || reason == selector.TooLong)
	}
	if !ok || strings.ContainsAny(name, "*?") || len(p) > selector.MaxRequest {
		return fmt.Errorf(`%.80q is neither a selector ("/cgi-bin", "/~*/cgi-bin") nor "/*" and the end of names ("/*.dcgi")`, p)
	}
	return nil
}

// Compiled is the policy of all annotations, and the robots.txt made of it. It never
// changes and may be used by many goroutines at once.
type Compiled struct {
	notes    []*note // of directories, in the order of their selectors; the first is the root's
	programs []string
	readers  []readers.Reader
	shut     []string // directories that are denied whatever annotations say
	file     []byte
	sources  []source // of each line of the file
	classes  []*class
	verdicts
	reports  []Report
	proof    *proof.Result
	leaks    []Leak
	hash     string // of the meaning
	fileHash string
}

// Compile makes a robots.txt from annotations and proves it. The result depends only on
// in. If prev is not nil, Compile reuses its unchanged parts. It does not modify prev,
// which may be in use concurrently.
func Compile(in Input, prev *Compiled) *Compiled {
	if prev == nil {
		prev = &Compiled{}
	}
	w := work{Compiled: &Compiled{readers: in.Readers}, denied: map[string]*note{}, stale: true}
	if w.readers == nil {
		w.readers = readers.All()
	}
	w.read(in.Annotations, prev)
	for _, p := range in.Programs {
		if err := CheckProgram(p); err != nil {
			w.deny("/", CodeProgram, err.Error())
		} else {
			w.Compiled.programs = append(w.Compiled.programs, p)
		}
	}
	w.programs = programsOf(w.Compiled.programs, w.notes[0])
	w.isHand = len(in.Annotations) == 1 && path.Base(in.Annotations[0].File) == robotsFile && w.notes[0].from != nil && len(in.Programs) == 0
	w.tooLarge()
	last := prev.proof
	for round := 0; ; round++ {
		w.write()
		if w.prove(last, round) {
			w.reports = gather(w.allReports())
			return w.Compiled
		}
		last = w.proof
	}
}

// work holds the state of one compilation.
type work struct {
	*Compiled
	programs []program
	denied   map[string]*note // directories that are denied as a whole, by selector
	stale    bool             // the compositions must be made again
	said     []Report         // about the denied directories
	isHand   bool             // the only annotation is the root's robots.txt
	cut      cuts             // made to the file
	all      []*composition   // one per class; the first is for everybody
	named    map[string]*composition
	found    []Report // by the proof
}

// read reads the annotations, directory by directory.
func (w *work) read(annotations []Annotation, prev *Compiled) {
	list := slices.Clone(annotations)
	slices.SortFunc(list, func(a, b Annotation) int {
		if c := strings.Compare(a.Dir, b.Dir); c != 0 {
			return c
		}
		return strings.Compare(a.File, b.File)
	})
	before := prev.notes
	if len(list) == 0 || list[0].Dir != "/" {
		w.notes = append(w.notes, &note{sel: "/"})
	}
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Dir == list[0].Dir {
			n++
		}
		for len(before) > 0 && before[0].sel < list[0].Dir {
			before = before[1:]
		}
		var old *note
		if len(before) > 0 && before[0].sel == list[0].Dir {
			old = before[0]
		}
		w.notes = append(w.notes, readNote(list[:n:n], old))
		list = list[n:]
	}
}

// tooLarge denies the top-level directories that have more rules than they may.
func (w *work) tooLarge() {
	rules := map[string]int{}
	for _, n := range w.notes {
		rules[n.top] += n.count
	}
	for _, n := range w.notes {
		if sum := rules[n.top]; n.top != "" && sum > maxTopRules {
			w.deny(topOf(n.sel), CodeTooLarge, fmt.Sprintf("its annotations have %d rules; the bound is %d", sum, maxTopRules))
			rules[n.top] = 0
		}
	}
}

// topOf returns the selector of the top-level directory that a directory lies in.
func topOf(sel string) string {
	name, _, _ := strings.Cut(sel[1:], "/")
	if name == "" {
		return "/"
	}
	return "/" + name + "/"
}

// deny denies a directory as a whole.
func (w *work) deny(sel, code, why string) {
	file := ""
	if i, _ := slices.BinarySearchFunc(w.notes, sel, func(n *note, sel string) int { return strings.Compare(n.sel, sel) }); i < len(w.notes) {
		for _, n := range w.notes[i:] {
			if len(n.from) > 0 && strings.HasPrefix(n.sel, sel) {
				file = n.from[0].File
				break
			}
		}
	}
	n := &note{sel: sel, at: directory(sel)}
	n.top, _, _ = strings.Cut(strings.TrimPrefix(n.at.uri, "/"), "/")
	n.shut = n.denied(file, why)
	w.denied[sel], w.stale = n, true
	w.said = append(w.said, NewReport(code, file, 0, "the directory is denied: "+why))
}

// live returns the notes of the directories that are read, and of the directories that
// are denied as a whole.
func (w *work) live() (list []*note) {
	all := slices.Clone(w.notes)
	for _, sel := range slices.Sorted(maps.Keys(w.denied)) {
		i, found := slices.BinarySearchFunc(all, sel, func(n *note, sel string) int { return strings.Compare(n.sel, sel) })
		if found {
			all[i] = w.denied[sel]
		} else {
			all = slices.Insert(all, i, w.denied[sel])
		}
	}
	below := "" // a directory that is denied
	for _, n := range all {
		if below != "" && strings.HasPrefix(n.sel, below) {
			continue
		}
		if below = ""; n.shut != nil {
			below = n.sel
		}
		list = append(list, n)
	}
	return list
}

// compose makes the compositions.
func (w *work) compose() {
	live := w.live()
	classes := classesOf(live)
	if b := estimate(live, classes); b.total > 8*maxBytes && w.coarsen(b, 8*maxBytes) { // what would never fit is not written first
		live = w.live()
		classes = classesOf(live)
	}
	w.stale, w.classes, w.all, w.named, w.shut = false, classes, nil, map[string]*composition{}, nil
	programs := w.programs
	if live[0].shut != nil {
		programs = nil
	}
	for _, class := range classes {
		c := compose(class, live, programs)
		w.all = append(w.all, c)
		for _, name := range class.names {
			w.named[strings.ToLower(name)] = c
		}
	}
	strikePairs(w.all)
	for _, c := range w.all {
		c.twins()
	}
	for _, n := range live {
		if w.denied[n.sel] != nil {
			w.shut = append(w.shut, n.sel)
		}
	}
}

// coarsen denies the directories that take more than their share, until the bill fits
// into room. If that is not enough, it denies the whole site. It reports whether it
// denied anything.
func (w *work) coarsen(b bill, room int) bool {
	if b.total <= room || w.denied["/"] != nil {
		return false
	}
	may, sels := map[string]bool{}, map[string]string{}
	for _, n := range w.notes[1:] {
		sels[n.top] = topOf(n.sel)
		may[n.top] = may[n.top] || w.denied[topOf(n.sel)] == nil
	}
	why, enough := b.borrowers(may, len(sels), room, true)
	if !enough {
		why, enough = b.borrowers(may, len(sels), room, false)
	}
	if !enough {
		w.deny("/", CodeTooLarge, fmt.Sprintf("the robots.txt of the site would have %d bytes; robots must read %d. %s", b.total, maxBytes, b.fitting(len(sels))))
		return true
	}
	for _, top := range slices.Sorted(maps.Keys(why)) {
		w.deny(sels[top], CodeCoarsened, why[top])
	}
	return len(why) > 0
}

// write makes the file. If it is too large, write first leaves out lines (see cuts),
// and then denies borrowers.
func (w *work) write() {
	for {
		if w.stale {
			w.compose()
		}
		var list []section
		var out *writer
		for _, w.cut = range []cuts{{}, {bare: true}, {bare: true, weak: true}} {
			list = sectionsOf(w.all, w.cut)
			if out = write(list, w.notes[0].fields); out.buf.Len() <= maxBytes {
				break
			}
		}
		over := out.buf.Len() - maxBytes
		if b := billOf(list); over <= 0 || !w.coarsen(b, b.total-over) {
			w.file, w.sources = out.buf.Bytes(), out.sources
			break
		}
	}
	w.hash = hashOf(meaning(w.file))
	if w.hand() {
		w.file = w.notes[0].from[0].Data
		w.sources = handSources(w.notes[0].from[0])
	}
	w.fileHash = hashOf(w.file)
	w.verdicts = w.judge(w.file)
}

// hand reports whether the root's robots.txt is the only source. If so, it is served
// byte for byte.
func (w *work) hand() bool { return w.isHand && w.notes[0].shut == nil && w.denied["/"] == nil }

// handSources attributes each rule and field of a robots.txt that is served unchanged
// to itself.
func handSources(a Annotation) (list []source) {
	for l := range robots.Parse(robots.RFC9309, a.Data).Lines() {
		var s source
		switch l.Kind {
		case readers.KindAllow, readers.KindDisallow, readers.KindUsage, readers.KindField:
			s.rule = &rule{file: a.File, line: l.Number, allow: l.Kind == readers.KindAllow, value: l.Value}
		}
		list = append(list, s)
	}
	return list
}

// File returns the robots.txt. It must not be changed.
func (c *Compiled) File() []byte { return c.file }

// Reports returns the reports about the annotations and the file, the worst first. The
// slice must not be changed.
func (c *Compiled) Reports() []Report { return c.reports }

// Fields returns the site-wide fields of the root's annotation.
func (c *Compiled) Fields() SiteFields { return siteFields(c.notes[0].fields) }

// Hash is the SHA-256 of the policy's meaning, in hexadecimal. The order and the
// spelling of the annotations do not affect it.
func (c *Compiled) Hash() string { return c.hash }

// FileHash is the SHA-256 of the file, in hexadecimal.
func (c *Compiled) FileHash() string { return c.fileHash }

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// meaning returns a compiled file with the names of robots in lower case. Everything
// else in it has only one spelling.
func meaning(file []byte) []byte {
	var b []byte
	for line := range bytes.Lines(file) {
		if bytes.HasPrefix(line, []byte("User-agent: ")) {
			line = bytes.ToLower(line)
		}
		b = append(b, line...)
	}
	return b
}

// Programs returns the [Input.Programs] that the file is made with.
func (c *Compiled) Programs() []string { return c.programs }
