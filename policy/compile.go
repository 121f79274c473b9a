package policy

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

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

	// Aliases are other selectors of what the tree has under selectors of its own.
	Aliases []Alias

	// Sitemaps are URLs that the file names at its end. With them no file is served byte
	// for byte.
	Sitemaps []string

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
	w.aliases = in.Aliases
	w.isHand = len(in.Annotations) == 1 && path.Base(in.Annotations[0].File) == robotsFile && w.notes[0].from != nil && len(in.Programs)+len(in.Sitemaps) == 0
	for _, url := range in.Sitemaps {
		w.sitemaps = append(w.sitemaps, siteField{&siteFieldName{"Sitemap", nil, true}, &rule{value: url}})
	}
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
	aliases  []Alias
	sitemaps []siteField
	denied   map[string]*note // directories that are denied as a whole, by selector
	stale    bool             // the compositions must be made again
	said     []Report         // about the denied directories
	isHand   bool             // the only annotation is the root's robots.txt
	cut      cuts             // made to the file
	strict   func() *robots.File
	all      []*composition // one per class; the first is for everybody
	named    map[string]*composition
	found    []Report // by the proof
}

// read reads the annotations, directory by directory.
func (w *work) read(annotations []Annotation, prev *Compiled) {
	order := func(a, b Annotation) int {
		return cmp.Or(strings.Compare(a.Dir, b.Dir), strings.Compare(a.File, b.File))
	}
	list := annotations
	if !slices.IsSortedFunc(list, order) {
		list = slices.Clone(annotations)
		slices.SortFunc(list, order)
	}
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

// compose makes the compositions.
func (w *work) compose() {
	live := w.live()
	classes := classesOf(live)
	all := estimate(live, classes)
	if w.coarsen(all, 8*maxBytes) || w.coarsen(bill{all.parts[:1], all.parts[0].total}, maxBytes*5/4) { // what would never fit is not written first
		live = w.live()
		classes = classesOf(live)
	}
	if w.denyAliases(live) {
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
		if n.shut != nil {
			w.shut = append(w.shut, n.sel)
		}
	}
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
			if out = write(list, slices.Concat(w.notes[0].fields, w.sitemaps)); out.buf.Len() <= maxBytes {
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
	w.strict = sync.OnceValue(func() *robots.File { return robots.Parse(readers.GopherStrict, w.file) })
	w.fileHash = hashOf(w.file)
	w.verdicts = w.judge(w.file)
}

// hand reports whether the root's robots.txt is the only source. If so, it is served
// byte for byte.
func (w *work) hand() bool { return w.isHand && w.notes[0].shut == nil && len(w.denied) == 0 }

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
	b := make([]byte, 0, len(file))
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
