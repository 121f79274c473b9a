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
)

// Annotation is a robots file whose "/" is the directory that contains it.
type Annotation struct {
	// Dir is the canonical selector of the directory, with both slashes: "/",
	// "/~bob/phlog/".
	Dir string

	// File is its name in reports: "~bob/phlog/.robots". If the last element is
	// robots.txt, it was written by hand, and is served unchanged if it is the root's and
	// the only annotation.
	File string

	Data []byte // must not be changed
	Err  error  // why it cannot be read: its directory is denied until it can be

	// Set by BothTrees.
	strict    bool     // no Allow counts
	everybody []string // whom its lines for everybody are for; nil: everybody
}

// An Alias is another selector of a file or directory that has one of its own: a symbolic
// link, or a mount of a directory that the tree has as well. Both selectors are canonical:
// "/blog/" and "/phlog/", or "/latest.txt" and "/phlog/2026-01-03.txt". Annotations below the
// target are given once, under the target.
//
// An alias is denied to robots to whom a rule may deny something at or below its target.
// They then read it under the target alone.
type Alias struct {
	Selector string
	Target   string
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

	// Flags are the names of Programs in reports, in place of "-fastcgi P".
	Flags map[string]string

	// Sitemaps are URLs that the file names at its end. With them no file is served byte
	// for byte.
	Sitemaps []string

	// Aliases are other selectors of what the tree has under selectors of its own.
	Aliases []Alias

	// Readers are the programs that the file is proven for; if nil, [readers.All].
	Readers []readers.Reader
}

// Compiled is the policy of all annotations, and the robots.txt made of it. It never
// changes and may be used by many goroutines at once.
type Compiled struct {
	notes    []*note // of directories, in the order of their selectors; the first is the root's
	programs []string
	readers  []readers.Reader
	shut     []string // directories that are denied whatever annotations say; "/~": all homes
	joined   []string // top-level directories that are joined
	file     []byte
	sources  []source // of each line of the file
	classes  []*class

	names         names
	veronica      func() *readers.Matcher // the policy for veronica; nil: no annotation names that robot
	rulesVeronica []*rule

	verdicts
	reports  []Report
	proof    *proof.Result
	leaks    []Leak
	hash     string // of the meaning
	fileHash string
}

// Compile makes a robots.txt from annotations and proves it. The result depends only on
// in.
func Compile(in Input) *Compiled {
	w := work{
		Compiled: &Compiled{readers: in.Readers},
		in:       in,
		left:     map[string]bool{},
	}
	if w.readers == nil {
		w.readers = readers.All()
	}
	for {
		w.read()
		w.tooLarge()
		w.measure()
		w.fit()
		if w.prove() {
			w.reports = gather(w.allReports(), w.readers)
			return w.Compiled
		}
	}
}

// work is the state of one compilation.
type work struct {
	*Compiled
	in        Input
	programs  []program
	aliases   []alias
	sitemaps  []siteField
	denied    map[string]*note // directories that are denied as a whole, by selector
	said      []Report         // about the denied directories
	isHand    bool             // the only annotation is the root's robots.txt
	isAliased bool             // an alias is denied
	all       []*composition   // one per class; the first is for everybody
	found     []Report         // by the proof

	lines func() map[string]string // flags of programs, by the patterns that deny them

	// What the proof has rejected; kept when the annotations are read again.
	left  map[string]bool // directories whose annotations are left out
	cured []denial        // directories that are denied

	// If the file is too large.
	cut       bool           // the group for weak readers omits what the * group has
	joinable  []string       // top-level directories that name robots, the dearest first
	joins     int            // how many of them are joined
	borrowers []borrower     // the dearest first, without those that are denied
	finals    map[string]int // by top-level directory, bytes of the root's Finals below Allows
}

// alias is an alias with the rule that denies it.
type alias struct {
	uri    string // of the link
	target string // what robots read, as a pattern
	rule   *rule  // denies the link
}

// read reads the annotations, directory by directory.
func (w *work) read() {
	w.notes = nil
	w.Compiled.programs = nil
	w.said = nil
	w.found = nil
	w.names = names{of: map[string]int32{}}
	w.denied = map[string]*note{}
	w.joinable = nil
	w.joins = 0
	w.joined = nil
	w.borrowers = nil
	list := slices.SortedStableFunc(slices.Values(w.in.Annotations), func(a, b Annotation) int {
		return cmp.Or(strings.Compare(a.Dir, b.Dir), strings.Compare(a.File, b.File))
	})
	list = slices.DeleteFunc(list, func(a Annotation) bool { return w.left[a.Dir] })
	clean := map[string]bool{}
	if len(list) == 0 || list[0].Dir != "/" {
		w.notes = append(w.notes, &note{sel: "/"})
	}
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].Dir == list[0].Dir {
			n++
		}
		w.notes = append(w.notes, readNote(list[:n:n], &w.names, clean))
		list = list[n:]
	}
	root := w.notes[0]

	for _, p := range w.in.Programs {
		if err := CheckProgram(p); err != nil {
			w.deny("/", CodeProgram, err.Error())
		} else {
			w.Compiled.programs = append(w.Compiled.programs, p)
		}
	}
	w.programs = programsOf(w.Compiled.programs, w.in.Flags, root)
	w.aliases = aliasesOf(w.in.Aliases, root)
	w.sitemaps = nil
	for _, url := range w.in.Sitemaps {
		w.sitemaps = append(w.sitemaps,
			siteField{&siteFieldName{"Sitemap", nil, true}, &rule{value: url}})
	}
	w.isHand = len(w.in.Annotations) == 1 && path.Base(w.in.Annotations[0].File) == robotsFile &&
		root.from != nil && len(w.in.Programs)+len(w.in.Sitemaps) == 0
	for _, d := range w.cured {
		w.deny(d.sel, CodeUnnamedLeak, d.why)
	}
}

// aliasesOf returns the aliases, with the rules that deny them.
func aliasesOf(list []Alias, root *note) (aliases []alias) {
	for _, a := range list {
		isFile := !strings.HasSuffix(a.Selector, "/")
		target := escape(a.Target)
		if isFile {
			target += "$"
		}
		r := &rule{
			form:  formOf([]string{a.Selector}, isFile, true),
			file:  strings.Trim(a.Selector, "/"),
			of:    root,
			whole: true,
			links: a.Target,
		}
		r.value = fmt.Sprintf("robots read %s at %s", a.Selector, a.Target)
		aliases = append(aliases, alias{escape(a.Selector), target, r})
	}
	return aliases
}

// compose makes the compositions.
func (w *work) compose(live []*note, classes []*class) {
	w.classes = classes
	w.all = nil
	w.shut = nil
	w.veronica, w.rulesVeronica = nil, nil
	programs, aliases := w.programs, w.aliases
	if live[0].shut != nil {
		programs, aliases = nil, nil
	}
	var joined []*rule
	if w.joins > 0 {
		joined = joinedRules(live, programs)
	}
	w.isAliased = false
	for _, class := range classes {
		c := compose(class, live, programs, joined)
		if c.aliases(aliases) {
			w.isAliased = true
		}
		c.twins()
		class.struck = c.struck
		w.all = append(w.all, c)
		if class.token == veronica {
			w.veronica, w.rulesVeronica = sync.OnceValue(c.matcher), c.rules
		}
	}
	for _, n := range live {
		if n.shut != nil {
			w.shut = append(w.shut, n.sel)
		}
	}
}

// write writes the file from the compositions.
func (w *work) write() []section {
	list := sectionsOf(w.all, w.cut)
	out := write(list, slices.Concat(w.notes[0].fields, w.sitemaps))
	w.file, w.sources = out.buf.Bytes(), out.sources
	return list
}

// finish completes the result for the file.
func (w *work) finish() {
	w.hash = hashOf(meaning(w.file))
	if w.hand() {
		w.file = w.notes[0].from[0].Data
		w.sources = handSources(w.notes[0].from[0])
	}
	w.fileHash = hashOf(w.file)
	w.verdicts = w.judge()
}

// hand reports whether the root's robots.txt is the only source. If so, it is served
// byte for byte.
func (w *work) hand() bool {
	return w.isHand && w.notes[0].shut == nil && w.denied["/"] == nil && !w.isAliased
}

// handSources attributes each rule and field of a robots.txt that is served unchanged
// to itself.
func handSources(a Annotation) (list []source) {
	for l := range robots.Parse(robots.RFC9309, a.Data).Lines() {
		var s source
		switch l.Kind {
		case readers.KindAllow, readers.KindDisallow, readers.KindUsage, readers.KindField:
			s.rule = &rule{
				file:  a.File,
				line:  l.Number,
				allow: l.Kind == readers.KindAllow,
				value: l.Value,
			}
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

// BothTrees joins the annotations of two trees that are served under the same selectors, one
// to clients of Gopher, the other to clients of Gemini. If they differ, a robot is denied what
// either tree denies to it, and no Allow counts, which is reported ([CodeOverruled]).
func BothTrees(gopher, gemini []Annotation) []Annotation {
	same := func(a, b Annotation) bool {
		return a.Dir == b.Dir && path.Base(a.File) == path.Base(b.File) &&
			bytes.Equal(a.Data, b.Data) && a.Err == nil && b.Err == nil
	}
	switch {
	case len(gemini) == 0 || slices.EqualFunc(gopher, gemini, same):
		return gopher
	case len(gopher) == 0:
		return gemini
	}
	list := slices.Concat(gopher, gemini)
	for i := range list {
		list[i].strict = true
	}

	// In a directory, rules for a robot replace those for everybody. Those of the other tree
	// go on counting for it: they are given once more, for such robots alone.
	named := [2]map[string][]string{robotsByDir(gopher), robotsByDir(gemini)}
	for i, tree := range [][]Annotation{gopher, gemini} {
		for _, a := range tree {
			own, others := named[i][a.Dir], named[1-i][a.Dir]
			a.strict = true
			a.everybody = slices.DeleteFunc(slices.Clone(others), func(robot string) bool {
				return slices.ContainsFunc(own, func(name string) bool {
					return strings.EqualFold(name, robot)
				})
			})
			if len(a.everybody) > 0 {
				list = append(list, a)
			}
		}
	}
	return list
}

// robotsByDir returns the robots for which annotations have rules of their own, by directory.
func robotsByDir(list []Annotation) map[string][]string {
	robots := map[string][]string{}
	for _, a := range list {
		all := names{of: map[string]int32{}}
		n := readNote([]Annotation{a}, &all, map[string]bool{string(a.Data): true}) // without lint
		for _, robot := range n.named {
			if slices.ContainsFunc(n.sets[robot.set].groups, func(g *group) bool {
				return g.says
			}) {
				robots[a.Dir] = append(robots[a.Dir], all.robots[robot.robot].written[0])
			}
		}
	}
	return robots
}
