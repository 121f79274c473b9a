// Package proof shows that each reader of a robots.txt keeps the policy of the annotations.
//
// It reads the bytes of the annotations itself, works out the policy, and shares nothing
// with the compiler but package readers. It compares patterns, not samples of names:
//
//	annotations ─ note.go: rules ─ policy.go: what counts for a robot ─┐
//	robots.txt ─ view.go: what a reader obeys, and why that suffices ──┼─ finding.go
//	             form.go: a pattern in the form of a reader ───────────┘
package proof

import (
	"cmp"
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"github.com/gophd/gophd/robots/readers"
)

// Input is a file with its sources.
type Input struct {
	Notes    []Note
	Programs []string         // as the compiler takes them
	Shut     []string         // directories that are denied as a whole; "/~": all that begin so
	Joined   []string         // top-level directories that are joined
	File     []byte           // the robots.txt
	Readers  []readers.Reader // nil: readers.All()
}

// Finding is a rule of the policy that a reader violates.
type Finding struct {
	Leak     bool     // denied, but taken as allowed; else an over-block
	Code     string   // what the reader lacks; "": nothing explains it
	Reader   string   // the name of a row, or [Preferences]
	Robot    string   // "*" for all that nobody names; of several the first; two with a "+"
	File     string   // the annotation whose rule is not kept; "": a program's, or none
	Line     int      // in it; 0: the annotation as a whole
	Dir      string   // of the annotation
	Pattern  string   // of the rule, in URI form
	ByFile   string   // the annotation of the Allow that lets the reader in; "": there is none
	ByLine   int      // in it
	ByDir    string   // of it
	Written  int      // line of the robots.txt that lets in or denies; 0: one is missing
	Examples []string // a few selectors
}

// Row counts the findings about one reader.
type Row struct {
	Name       string `json:"name"`        // of the reader
	Rules      int    `json:"rules"`       // compared, for all robots together
	Leaks      int    `json:"leaks"`       // denied, but taken as allowed
	OverBlocks int    `json:"over_blocks"` // allowed, but taken as denied
}

// Preferences is the name of the row and of the findings about Content-Usage. In a leak
// the file permits more than the annotations; in an over-block it states something else.
const Preferences = "preferences"

// Result is the result of a proof.
type Result struct {
	Findings []Finding // by file, line, code, reader and robot
	Rows     []Row     // one for each reader, then Preferences
}

const (
	veronica = "veronica"
	nobody   = "gopher-strict" // a robot that does not exist; its group is for weak readers
)

// virtual are the robots of Gemini that one program may be several of.
var virtual = []string{"archiver", "indexer", "researcher", "webproxy"}

// checker is the state of one proof.
type checker struct {
	Input
	*Result
	list     []*annotation
	programs []*rule
	file     *readers.Parsed
	groups   []fileGroup
	inFile   map[string]bool     // robots that the file names
	allows   map[int]string      // the Allows of the file, by line
	named    map[string][]*group // of the annotations, by the robots that they name
	tops     map[string]bool     // the joined directories
	joined   map[string]bool     // robots that these name
	shared   *policy             // what joined directories state
	meetings map[[2]*rule]*meeting
	memory   memory
	seed     maphash.Seed
	seen     map[uint64]bool // findings, by their hashes
	token    string          // no part of the file
}

// fileGroup is a group of the robots.txt.
type fileGroup struct {
	names  []string // in lower case
	usages []usage
}

// newChecker prepares a proof.
func newChecker(in Input) *checker {
	if in.Readers == nil {
		in.Readers = readers.All()
	}
	c := &checker{
		Input:    in,
		Result:   &Result{},
		file:     readers.Open(in.File),
		programs: programLines(in.Programs),
		inFile:   map[string]bool{},
		allows:   map[int]string{},
		named:    map[string][]*group{},
		tops:     map[string]bool{},
		joined:   map[string]bool{},
		meetings: map[[2]*rule]*meeting{},
		seed:     maphash.MakeSeed(),
		seen:     map[uint64]bool{},
		token:    "zqj",
	}
	for strings.Contains(string(in.File), c.token) {
		c.token += "j"
	}
	for _, dir := range in.Joined {
		c.tops[dir] = true
	}
	for _, r := range in.Readers {
		c.Rows = append(c.Rows, Row{Name: r.Name})
	}
	c.Rows = append(c.Rows, Row{Name: Preferences})
	return c
}

// Check compares in.File with the annotations.
func Check(in Input) *Result {
	c := newChecker(in)
	c.readNotes()
	c.readFile()
	names := c.robots()
	everybody := c.policyOf("*")
	c.readAlone()

	// Check each reader for everybody, for one of each set of robots that are treated
	// alike, and for a robot whose name begins with the name of such a robot.
	c.ask("*", everybody)
	c.compareUsage("*", everybody)
	policies := map[string]*policy{}
	for _, name := range names {
		p := c.policyOf(name)
		policies[name] = p
		c.ask(name, p)
		c.compareUsage(name, p)
	}
	for _, name := range append(names, veronica, nobody) {
		if !c.inFile[name] {
			continue
		}
		longer := name + "x"
		for c.isNamed(longer) {
			longer += "x"
		}
		c.ask(longer, everybody)
	}

	// One program may be two of the virtual agents, and obey the groups of both.
	if policies[virtual[0]] != nil {
		for i, x := range virtual {
			for _, y := range virtual[:i] {
				c.askBoth(y, x, policies[x], policies[y])
				c.askBoth(y, x, policies[y], policies[x])
			}
		}
	}

	slices.SortStableFunc(c.Findings, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line),
			strings.Compare(a.Code, b.Code),
			strings.Compare(a.Reader, b.Reader), strings.Compare(a.Robot, b.Robot),
			strings.Compare(a.Pattern, b.Pattern), cmp.Compare(a.Written, b.Written))
	})
	return c.Result
}

// readNotes reads the annotations outside of denied directories, from the root down.
func (c *checker) readNotes() {
	notes := slices.Clone(c.Notes)
	slices.SortStableFunc(notes, func(a, b Note) int {
		return cmp.Or(strings.Compare(a.Dir, b.Dir), strings.Compare(a.File, b.File))
	})

	// A directory is denied at its own annotation, if it has one.
	shut := map[string]string{}
	for _, dir := range c.Shut {
		shut[dir] = ""
	}
	for _, n := range notes {
		if file, denied := shut[n.Dir]; n.Err != nil || denied && file == "" {
			shut[n.Dir] = n.File
		}
	}
	for dir, file := range shut {
		if !isBelow(dir, shut) {
			c.list = append(c.list, &annotation{
				dir:    dir,
				file:   file,
				denied: true,
			})
		}
	}

	number := 0
	byDir := map[string]*annotation{}
	for _, n := range notes {
		if _, denied := shut[n.Dir]; denied || isBelow(n.Dir, shut) {
			continue
		}
		a := byDir[n.Dir]
		if a == nil {
			a = &annotation{
				dir:    n.Dir,
				file:   n.File,
				joined: c.tops[topOf(n.Dir)],
			}
			byDir[n.Dir] = a
			c.list = append(c.list, a)
		}
		for _, g := range readNote(n) {
			number++
			g.number, g.of = number, a
			a.groups = append(a.groups, g)
			slices.Sort(g.names)
			g.names = slices.Compact(g.names)
			if g.all {
				a.all = append(a.all, g)
			}
			for _, name := range g.names {
				if g.counts() {
					c.named[name] = append(c.named[name], g)
					c.joined[name] = c.joined[name] || a.joined && name != veronica
				}
			}
		}
	}
	slices.SortFunc(c.list, func(a, b *annotation) int { return strings.Compare(a.dir, b.dir) })
}

// isBelow reports whether a directory is below one of some others.
func isBelow(dir string, dirs map[string]string) bool {
	for i := range len(dir) - 1 {
		_, in := dirs[dir[:i+1]]
		if in && (dir[i] == '/' || dir[:i+1] == "/~") {
			return true
		}
	}
	return false
}

// topOf returns the top-level directory of a directory.
func topOf(dir string) string {
	name, _, _ := strings.Cut(dir[1:], "/")
	return "/" + name + "/"
}

// readFile finds the groups of the robots.txt.
func (c *checker) readFile() {
	open := false
	for l := range linesOf(c.File) {
		switch l.Kind {
		case readers.KindAgent:
			if !open {
				c.groups = append(c.groups, fileGroup{})
			}
			open = true
			now := &c.groups[len(c.groups)-1]
			name := strings.ToLower(readers.ProductToken(l.Value))
			now.names = append(now.names, name)
			c.inFile[name] = true
		case readers.KindAllow:
			c.allows[l.Number] = l.Value
			open = false
		case readers.KindDisallow:
			open = false
		case readers.KindUsage:
			open = false
			if n := len(c.groups); n > 0 {
				c.groups[n-1].addUsage(l)
			}
		}
	}
}

// robots returns one robot of each set that annotations and file treat alike.
func (c *checker) robots() (names []string) {
	// Count by which groups a robot is named. What joined directories state is for all
	// robots that they name.
	ways := map[string]uint64{}
	for name, groups := range c.named {
		for _, g := range groups {
			if !g.of.joined || !c.joined[name] {
				ways[name] = mixed(ways[name], g.number)
			}
		}
	}
	for name, joined := range c.joined {
		if joined {
			ways[name] = mixed(ways[name], -1)
		}
	}
	for i, g := range c.groups {
		for _, name := range g.names {
			if name != "" && name != "*" &&
				(c.named[name] != nil || name != nobody && !c.isRow(name)) {
				ways[name] = mixed(ways[name], -2-i)
			}
		}
	}
	if slices.ContainsFunc(virtual, func(name string) bool { return ways[name] != 0 }) {
		for _, name := range virtual {
			ways[name] += 0
		}
	}

	seen := map[uint64]bool{}
	for _, name := range slices.Sorted(maps.Keys(ways)) {
		alone := slices.Contains(virtual, name) || c.isRow(name) || containsOther(name, ways)
		if alone || !seen[ways[name]] {
			names = append(names, name)
		}
		if !alone {
			seen[ways[name]] = true
		}
	}
	return names
}

// mixed adds a number to a hash (FNV-1a, a word at a time).
func mixed(sum uint64, n int) uint64 {
	return (cmp.Or(sum, 14695981039346656037) ^ uint64(n)) * 1099511628211
}

// containsOther reports whether a part of a name is the name of a robot that is treated
// otherwise.
func containsOther(name string, ways map[string]uint64) bool {
	if len(name) > 100 {
		for other, way := range ways {
			if way != ways[name] && strings.Contains(name, other) {
				return true
			}
		}
		return false
	}

	for from := range len(name) {
		for to := from + 1; to <= len(name); to++ {
			if way, ok := ways[name[from:to]]; ok && way != ways[name] {
				return true
			}
		}
	}
	return false
}

// isRow reports whether a robot is a row of the table.
func (c *checker) isRow(robot string) bool {
	return slices.ContainsFunc(c.Readers, func(r readers.Reader) bool { return r.Agent == robot })
}

// isNamed reports whether a robot is named, as "*" is, and pairs and virtual agents are.
func (c *checker) isNamed(robot string) bool {
	return robot == "*" || c.named[robot] != nil || c.inFile[robot] ||
		slices.Contains(virtual, robot) || strings.Contains(robot, "+")
}

// ask compares what the readers of a robot obey with its policy.
func (c *checker) ask(robot string, p *policy) {
	named := c.isNamed(robot)
	for i, r := range c.Readers {
		asked := false
		switch {
		case r.Agent != "":
			asked = r.Agent == robot || robot == "*" && c.named[r.Agent] == nil
		case !r.Groups:
			asked = robot == "*"
		case named:
			asked = !c.isRow(robot)
		default:
			asked = r.Lacks(readers.NeedsNames) != 0
		}
		if asked {
			c.compare(i, robot, newView(p, r, r.Rules(c.file, robot), &c.memory))
		}
	}
}

// askBoth is ask for a robot that is of two kinds, and obeys the groups of both.
func (c *checker) askBoth(x, y string, p, other *policy) {
	for i, r := range c.Readers {
		if r.Agent != "" || r.First || !r.Groups {
			continue
		}
		var rules []readers.Rule
		for _, robot := range []string{x, y} {
			if c.inFile[robot] {
				rules = append(rules, r.Rules(c.file, robot)...)
			}
		}
		if !c.inFile[x] && !c.inFile[y] {
			rules = r.Rules(c.file, "*")
		}
		v := newView(p, r, rules, &c.memory)
		v.others = []*policy{other}
		c.compare(i, x+"+"+y, v)
	}
}
