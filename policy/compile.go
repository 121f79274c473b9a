package policy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/gophd/gophd/policy/internal/proof"
	"github.com/gophd/gophd/robots"
)

// Compiled is the policy of a tree, and the robots.txt made of it. It never
// changes and may be used by many goroutines at once, but only one at a time may
// give it to Compile as what came before.
type Compiled struct {
	in       Input
	nodes    *node
	file     []byte
	sources  []*rule // of each line of the file
	reports  []Report
	proof    *proof.Result[*Dir]
	leaks    []Leak
	hash     string // of the meaning
	fileHash string
	nothing  map[sought]bool // what matches nothing, of large directories
	agents   []string        // a robot of each class; "*" is the first
	readers  []*robots.Rules // what the file says to each, after RFC 9309
	veronica *robots.Rules   // to her it has no Allow; nil if no annotation names her
	shut     []string        // directories that are denied whatever annotations say
}

// Compile makes the robots.txt of a tree and proves it. What prev has made of an
// older tree is taken over where the two share directories; the result is the
// same to the byte without it.
func Compile(in Input, prev *Compiled) *Compiled {
	if prev == nil {
		prev = &Compiled{}
	}
	c := &Compiled{in: in}
	c.in.Programs = slices.DeleteFunc(slices.Clone(in.Programs), func(p string) bool { return CheckProgram(p) != nil })
	c.in.Own = slices.DeleteFunc(slices.Clone(in.Own), func(sel string) bool { return sel == "" })
	w := work{c: c, denied: map[*node]*rule{}, programs: programRules(c.in.Programs)}
	c.grow(prev, w.programs)
	for _, p := range in.Programs {
		if err := CheckProgram(p); err != nil {
			w.deny(c.nodes, CodeProgram, err.Error())
		}
	}
	w.readAll()
	last := prev.proof
	for round := 0; ; round++ {
		w.write()
		found, done := w.prove(last, round)
		if done {
			c.reports = gather(slices.Concat(found, w.reports()))
			return c
		}
		last = c.proof
	}
}

// grow makes the nodes of the tree.
func (c *Compiled) grow(prev *Compiled, programs []*rule) {
	f := finder{before: prev.nothing, nothing: map[sought]bool{}, programs: programs}
	for _, sel := range c.in.Own {
		f.known = append(f.known, escape(sel))
	}
	if !slices.Equal(c.in.Own, prev.in.Own) || !slices.Equal(c.in.Programs, prev.in.Programs) {
		prev = &Compiled{}
	}
	c.nodes, c.nothing = f.grow(c.in.Root, form{}, prev.in.Root, prev.nodes), f.nothing
}

// work is what a compilation knows until it is done.
type work struct {
	c        *Compiled
	denied   map[*node]*rule // top-level directories, and those of leaks, that are denied as a whole
	said     []Report        // about those
	programs []*rule
	stale    bool // groups are, since something was denied
	groups   []*group
	named    map[string]*group // by token
	noBare   bool
	hand     bool         // the file is the hand-written one
	strict   *robots.File // the file; nil: not read yet
}

// programRules denies what programs answer: a selector, what is below it, and
// what follows a question mark. The value of a rule is the program's own pattern.
func programRules(programs []string) []*rule {
	var list []*rule
	for _, p := range programs {
		value := formOf(strings.Split(p, "*"), false, true, true).uri
		for _, end := range []string{"$", "/", "?"} {
			pieces := strings.Split(strings.TrimSuffix(p+end, "$"), "*")
			list = append(list, &rule{form: formOf(pieces, end == "$", true, true), value: value})
		}
	}
	return list
}

// readAll denies the top-level directories that say too much.
func (w *work) readAll() {
	for top, why := range tooLarge(w.c.nodes, namedRobots(w.c.nodes, w.denied)) {
		w.deny(top, CodeTooLarge, why)
	}
	classes := namedRobots(w.c.nodes, w.denied).classes()
	if most := 8 * maxBytes; w.c.nodes.bytes*len(classes) > most { // what would never fit is not written first
		w.coarsen(estimate(w.c.nodes, w.denied, classes), most)
	}
	w.stale = true
}

// deny denies a directory as a whole.
func (w *work) deny(n *node, code, why string) {
	w.said = append(w.said, NewReport(code, firstFile(n), 0, "the directory is denied: "+why))
	w.denied[n], w.stale = denied(firstFile(n), n.at, why), true
}

// firstFile is the annotation of a directory, or the first below it.
func firstFile(n *node) string {
	for ; len(n.dir.Notes) == 0; n = n.subs[0] {
		if len(n.subs) == 0 {
			return ""
		}
	}
	return n.dir.Notes[0].File
}

// coarsen denies the directories that take more than their share, until the bill
// is small enough. It reports whether there were any.
func (w *work) coarsen(b bill, room int) bool {
	if b.total <= room {
		return false
	}
	may := map[string]*node{}
	for _, top := range w.c.nodes.subs {
		if top.shut(w.denied) == nil {
			may[top.at.top()] = top
		}
	}
	why := b.borrowers(may, len(w.c.nodes.subs), room)
	for _, owner := range slices.Sorted(maps.Keys(why)) {
		w.deny(may[owner], CodeCoarsened, why[owner])
	}
	return len(why) > 0
}

// write makes the file. If it is too large, borrowers are denied, then all bare
// lines left out, and at last everything denied.
func (w *work) write() {
	c := w.c
	w.hand = w.isHandWritten()
	for {
		if w.stale {
			w.compose()
		}
		list := sections(w.groups, w.noBare)
		out := write(list, c.nodes.note.fields)
		if out.buf.Len() <= maxBytes || w.denied[c.nodes] != nil {
			c.file, c.sources = out.buf.Bytes(), out.sources
			break
		}
		b := billOf(list, w.groups[0], w.noBare)
		over := b.total - (out.buf.Len() - maxBytes)
		switch {
		case w.coarsen(b, over):
		case !w.noBare:
			w.noBare = true
			w.said = append(w.said, NewReport(CodeNoBare, "", 0, "the robots.txt is too large for lines without a leading slash"))
		default:
			w.deny(c.nodes, CodeTooLarge, "the robots.txt of the site would have more than 500 KiB")
		}
	}
	c.hash = hashOf(meaning(c.file))
	if w.hand {
		c.file = c.nodes.dir.Notes[0].Data
		c.sources = handSources(c.file)
	}
	c.fileHash = hashOf(c.file)
	c.agents, c.shut, w.strict = nil, nil, nil
	for _, g := range w.groups {
		c.agents = append(c.agents, g.token())
	}
	for n := range w.denied {
		c.shut = append(c.shut, selectorOf(n))
	}
	slices.Sort(c.shut)
	c.read()
}

// compose makes the groups.
func (w *work) compose() {
	w.groups, w.named, w.stale = nil, map[string]*group{}, false
	for _, class := range namedRobots(w.c.nodes, w.denied).classes() {
		g := compose(class, w.c.nodes, w.denied, w.programs)
		g.simplify()
		w.groups = append(w.groups, g)
		for _, name := range g.names {
			w.named[strings.ToLower(name)] = g
		}
	}
}

// isHandWritten reports whether the robots.txt in the root is all that is said: then it
// is served byte for byte.
func (w *work) isHandWritten() bool {
	n := w.c.nodes
	return n.shut(w.denied) == nil && len(n.subs) == 0 && len(n.dir.Notes) == 1 &&
		n.dir.Notes[0].File == robotsFile && len(w.programs) == 0
}

// handSources says of a robots.txt that is served as it is that each rule and
// field comes from itself.
func handSources(file []byte) []*rule {
	var list []*rule
	for l := range robots.Parse(robots.RFC9309, file).Lines() {
		var r *rule
		switch l.Kind {
		case robots.KindAllow, robots.KindDisallow, robots.KindUsage, robots.KindField:
			r = &rule{file: robotsFile, line: l.Number, allow: l.Kind == robots.KindAllow, value: l.Value}
		}
		list = append(list, r)
	}
	return list
}

// reports are all that is to be said.
func (w *work) reports() []Report {
	list := slices.Clone(w.said)
	w.c.nodes.each(nil, func(n *node) {
		if n.note != nil {
			list = append(append(list, n.note.reports...), n.missing...)
		}
	})
	if !w.hand {
		for _, g := range w.groups {
			if g == w.groups[0] || g.token() == veronica {
				list = append(list, g.notices()...)
			}
			list = append(list, w.opened(g)...)
		}
	}
	return list
}

// File returns the robots.txt. It must not be changed.
func (c *Compiled) File() []byte { return c.file }

// Reports returns what is to be said about the annotations and the file, the worst
// first. It must not be changed.
func (c *Compiled) Reports() []Report { return c.reports }

// Fields returns what the root's annotation says about the whole site.
func (c *Compiled) Fields() SiteFields { return siteFields(c.nodes.note.fields) }

// Hash is the SHA-256 of what the policy means, in hexadecimal: in which order and in
// which spelling annotations say it does not matter.
func (c *Compiled) Hash() string { return c.hash }

// FileHash is the SHA-256 of the file, in hexadecimal.
func (c *Compiled) FileHash() string { return c.fileHash }

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// meaning is a file that was compiled, with what is left of its authors' spelling taken
// away: in names of robots upper and lower case are one. All else has one spelling.
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
