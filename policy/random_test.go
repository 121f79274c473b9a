package policy

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/policy/internal/proof"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/test/sites"
)

var (
	drawn = flag.Uint64("sites", 60, "how many random sites are tried")
	first = flag.Uint64("first", 0, "the number of the first of them")
)

// input is a site for the compiler.
func input(s sites.Site) Input {
	homes, rest := s.Homes()
	in := Input{Programs: s.Programs, Annotations: annotations(rest)}
	for _, home := range homes {
		in.Annotations = append(in.Annotations,
			BothTrees(annotations(home.Gopher), annotations(home.Gemini))...)
	}
	return in
}

func annotations(notes []sites.Note) (list []Annotation) {
	for _, n := range notes {
		list = append(list, Annotation{Dir: n.Dir, File: n.File, Data: n.Data, Err: n.Err})
	}
	return list
}

// siteMeaning is what the proof takes a site to mean. Of homes with two trees each is taken
// alone, without its Allows: what either denies is denied.
type siteMeaning struct {
	trees    []proof.Policies // one, or that with the trees of Gopher and that with those of Gemini
	patterns []string
}

func policiesOf(s sites.Site) (m siteMeaning) {
	homes, rest := s.Homes()
	gopher := proof.Input{Programs: s.Programs, Notes: proofNotes(rest, false)}
	gemini, loose := gopher, gopher
	for _, home := range homes {
		gopher.Notes = slices.Concat(gopher.Notes, proofNotes(home.Gopher, true))
		gemini.Notes = slices.Concat(gemini.Notes, proofNotes(home.Gemini, true))
		loose.Notes = slices.Concat(loose.Notes, proofNotes(home.Gopher, false),
			proofNotes(home.Gemini, false))
	}
	m.trees = append(m.trees, proof.Read(gopher))
	if len(homes) > 0 {
		m.trees = append(m.trees, proof.Read(gemini))
	}
	m.patterns = proof.Read(loose).Patterns()
	return m
}

func proofNotes(notes []sites.Note, strict bool) (list []proof.Note) {
	for _, n := range notes {
		list = append(list, proof.Note{Dir: n.Dir, File: n.File, Data: n.Data, Err: n.Err,
			Strict: strict})
	}
	return list
}

// Robots lists the robots that annotations name.
func (m siteMeaning) Robots() (list []string) {
	for _, tree := range m.trees {
		list = append(list, tree.Robots()...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Patterns lists the patterns of all rules, those of Allows that do not count among them.
func (m siteMeaning) Patterns() []string { return m.patterns }

// For returns what each tree says to a robot.
func (m siteMeaning) For(robot string) (list saying) {
	for _, tree := range m.trees {
		list = append(list, tree.For(robot))
	}
	return list
}

type saying []proof.Policy

// Decide returns the first of the rules that decide.
func (p saying) Decide(sel string) proof.Verdict { return p.Deciding(sel)[0] }

// Deciding returns the rules that decide about a selector: the longest of those that deny, or
// else what the first tree says.
func (p saying) Deciding(sel string) (list []proof.Verdict) {
	longest := -1
	for _, policy := range p {
		v := policy.Decide(sel)
		length := len(v.Pattern)
		if v.File != "" && v.Line == 0 {
			length = math.MaxInt // a directory that is denied as a whole
		}
		if v.Allowed || length < longest {
			continue
		}
		if length > longest {
			longest, list = length, nil
		}
		list = append(list, v)
	}
	if list == nil {
		list = append(list, p[0].Decide(sel))
	}
	return list
}

// asks returns the name by which a reader asks as a robot that annotations name, "*"
// being none of them. A robot that is a row of the table reads as that row does, and
// readers without groups ask as nobody.
func asks(robots []string, r readers.Reader, robot string) (agent string, ok bool) {
	isRow := func(r readers.Reader) bool { return r.Agent == robot }
	switch {
	case r.Agent != "" && robot == "*":
		return r.Agent, !slices.Contains(robots, r.Agent)
	case r.Agent != "":
		return robot, robot == r.Agent
	case robot == "*":
		return "zz", true
	}
	return robot, r.Groups && !slices.ContainsFunc(readers.All(), isRow)
}

// spellings are what a reader may ask for a canonical selector.
func spellings(r readers.Reader, sel string) []string {
	list := []string{sel, r.Asks(sel[1:])}
	if dir, ok := strings.CutSuffix(sel, "/"); ok && dir != "" {
		list = append(list, dir, r.Asks(dir[1:]))
	}
	if sel == "/" {
		list = list[:1]
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// place is a rule of the policy.
type place struct {
	file, pattern string
	line          int
}

// namedIn returns the rows that by the proof do not keep a rule, if a report names them at
// its line, at the Allow's that opens it, or at a program's flag.
func namedIn(c *Compiled) map[place][]string {
	named := map[place][]string{}
	for _, f := range c.proof.Findings {
		isReport := func(r Report) bool {
			at := r.File == f.File && r.Line == f.Line ||
				r.File == f.ByFile && r.Line == f.ByLine || f.File == "" && r.Line == 0
			return at && r.Code == f.Code && slices.Contains(r.Readers, f.Reader)
		}
		if f.Leak && slices.ContainsFunc(c.Reports(), isReport) {
			at := place{f.File, f.Pattern, f.Line}
			named[at] = append(named[at], f.Reader)
		}
	}
	return named
}

// broken returns how a compiled site breaks the first two laws.
func broken(s sites.Site, rows []readers.Reader, c *Compiled) (list []string) {
	policies := policiesOf(s)
	names := policies.Robots()
	for _, leak := range c.Unproven() {
		list = append(list, leak.String())
	}
	named, rules := map[string]bool{}, namedIn(c)
	for _, r := range c.Reports() {
		if r.Code == CodeUnnamedLeak {
			list = append(list, r.String())
		}
		for _, reader := range r.Readers {
			named[reader] = true
		}
	}

	sels := sites.Selectors(policies.Patterns())
	for _, reader := range rows {
		reading := reader.Read(c.File())
		for _, robot := range append(names, "*") {
			agent, ok := asks(names, reader, robot)
			if !ok {
				continue
			}
			p := policies.For(robot)
			for _, sel := range sels {
				if decodes(reader) && escapes.MatchString(sel) {
					continue // it takes such names for others: the disk is asked for them
				}
				want := p.Decide(sel)
				isNamed := slices.ContainsFunc(p.Deciding(sel), func(v proof.Verdict) bool {
					return slices.Contains(rules[place{v.File, v.Pattern, v.Line}], reader.Name)
				})
				if escapes.MatchString(sel) { // no rule can say what it makes of such a name
					isNamed = named[reader.Name]
				}
				for _, spelling := range spellings(reader, sel) {
					got := reading.Allowed(agent, spelling)
					exact := reader.Name == "rfc9309" ||
						reader.Name == "google" && !named[reader.Name]
					switch {
					case got == want.Allowed, got && c.Closed(sel, spelling), got &&
						!exact && isNamed:
					case got:
						list = append(list, fmt.Sprintf("leak: %s called %s into %q: %+v",
							reader.Name, agent, spelling, want))
					case exact && spelling == sel:
						list = append(list, fmt.Sprintf("over-block: %s called %s out of %q: %+v",
							reader.Name, agent, spelling, want))
					}
				}
			}
		}
	}
	return append(list, preferred(policies, c.File())...)
}

// decodes reports whether a reader takes a selector for a URI that may hold escapes.
func decodes(r readers.Reader) bool {
	return slices.ContainsFunc(r.Forms, func(f readers.Form) bool {
		return f == readers.Normal || f == readers.Quoted || f == readers.Requoted ||
			f == readers.Decoded
	})
}

// preferred returns where a file states other preferences than the annotations.
func preferred(policies siteMeaning, data []byte) (list []string) {
	file := robots.Parse(robots.RFC9309, data)
	for _, robot := range append(policies.Robots(), "zz") {
		if robot == veronica {
			continue
		}
		p := policies.For(robot)
		for _, sel := range sites.Selectors(policies.Patterns()) {
			uri := readers.URI.Of(sel)
			want, got := p[0].Prefers(sel), map[string]string{}
			if !p.Decide(sel).Allowed || !file.Allowed(robot, uri) {
				continue
			}
			for _, said := range file.Usage(robot, uri) {
				if said.Preference != readers.Unstated {
					got[said.Key] = said.Preference.String()
				}
			}
			for key, value := range p[len(p)-1].Prefers(sel) {
				if _, ok := want[key]; ok && len(p) > 1 {
					delete(want, key) // the longer path of two trees counts
					delete(got, key)
					continue
				}
				want[key] = value
			}
			if !maps.Equal(want, got) {
				list = append(list, fmt.Sprintf("%s: preferences of %q: %v, want %v", robot,
					sel, got, want))
			}
		}
	}
	return list
}

var escapes = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// decode takes escapes for their bytes.
func decode(s string) string {
	return escapes.ReplaceAllStringFunc(s, func(e string) string {
		raw, _ := url.PathUnescape(e)
		return raw
	})
}

// invented returns a piece of a rule in the file that no author wrote. Only where two
// rules meet, a piece may be a part of both.
func invented(s sites.Site, file []byte) string {
	said := "/.robots " + strings.Join(s.Programs, "? ") + "?"
	for _, n := range slices.Concat(s.Notes, s.Gemini) {
		said += n.Dir + " " + string(n.Data) + decode(string(n.Data))
	}
	for line := range strings.Lines(string(file)) {
		_, value, _ := strings.Cut(strings.TrimSpace(line), "llow: ")
		for _, piece := range strings.FieldsFunc(value, func(r rune) bool {
			return strings.ContainsRune("/*$", r)
		}) {
			raw := strings.TrimSuffix(decode(piece), "?")
			if strings.Contains(said, raw) || strings.Contains(said, decode(raw)) ||
				strings.Contains(said, piece) {
				continue
			}
			isJoint := func(text string) (joint bool) {
				for at := 1; at < len(text); at++ {
					joint = joint || strings.Contains(said, text[:at]) &&
						strings.Contains(said, text[at:])
				}
				return joint
			}
			if !isJoint(raw) && !isJoint(piece) { // "%a" and "ab" join to what looks like an escape
				return piece
			}
		}
	}
	return ""
}

// TestLaws: what is compiled is exact, closed and silent.
func TestLaws(t *testing.T) {
	t.Parallel()
	for _, c := range sites.Cases {
		check(t, c.Name, c.Site, Compile(input(c.Site)))
	}
	for seed := *first; seed < *first+*drawn; seed++ {
		s := sites.Draw(rand.New(rand.NewPCG(seed, 5)))
		check(t, fmt.Sprint("seed ", seed), s, Compile(input(s)))
	}
}

func check(t *testing.T, name string, s sites.Site, c *Compiled) {
	t.Helper()
	list := broken(s, readers.All(), c)
	if piece := invented(s, c.File()); piece != "" {
		list = append(list, fmt.Sprintf("no author wrote %q", piece))
	}
	if len(list) > 0 {
		t.Errorf("%s: %s\n%s== file\n%s== reports %v", name, list[0], s, c.File(), c.Reports())
	}
}

// found returns the leaks that the proof finds in a file, as "reader file:line". It is
// refused if nothing explains one, or if it denies a reader of RFC 9309 more.
func found(s sites.Site, file string) (all []string, refused bool) {
	in := proof.Input{Programs: s.Programs, File: []byte(file), Notes: proofNotes(s.Notes, false)}
	for _, f := range proof.Check(in).Findings {
		refused = refused || f.Leak && f.Code == "" || !f.Leak && f.Reader == "rfc9309"
		if f.Leak {
			all = append(all, fmt.Sprintf("%s %s:%d", f.Reader, f.File, f.Line))
		}
	}
	return all, refused
}

// leaks returns the leaks that asking for names finds, with a name.
func leaks(s sites.Site, file string) map[string]string {
	list := map[string]string{}
	policies := policiesOf(s)
	parsed := readers.Open([]byte(file))
	names := policies.Robots()
	sels := sites.Selectors(policies.Patterns())
	for _, reader := range readers.All() {
		for _, robot := range append(names, "*") {
			agent, ok := asks(names, reader, robot)
			if !ok {
				continue
			}
			p, m := policies.For(robot), reader.Matcher(reader.Rules(parsed, agent))
			for _, sel := range sels {
				if decodes(reader) && escapes.MatchString(sel) {
					continue
				}
				if v := p.Decide(sel); !v.Allowed && m.Allowed(sel) {
					list[fmt.Sprintf("%s %s:%d", reader.Name, v.File, v.Line)] = sel
				}
			}
		}
	}
	return list
}

// TestFaults spoils compiled files as faults of a compiler would. The proof finds each
// leak that asking for names finds, and refuses each fault on some site.
func TestFaults(t *testing.T) {
	right := func(s sites.Site) string { return string(Compile(input(s)).File()) }
	for _, fault := range sites.Faults {
		refused := 0
		for seed := *first; refused < 3 && seed < *first+200; seed++ {
			rnd := rand.New(rand.NewPCG(seed, 9))
			s := sites.Draw(rnd)
			s.Gemini = nil // the proof's own test has sites with two trees
			file := fault.Spoil(rnd, s, right)
			if file == right(s) {
				continue
			}
			all, no := found(s, file)
			if no {
				refused++
			}
			for leak, sel := range leaks(s, file) {
				if !slices.Contains(all, leak) {
					t.Errorf("%s, seed %d: %s %q, but found is %q\n%s== file\n%s", fault.Name, seed,
						leak, sel, all, s, file)
				}
			}
		}
		if refused == 0 {
			t.Errorf("%s: no file is refused", fault.Name)
		}
	}
}

// outsider is a row that somebody else may add: it knows no *, and takes the first line
// that matches.
var outsider = readers.Reader{Name: "outsider", Note: "a row of a test", Dialect: readers.RFC9309,
	Groups: true, Allow: true, Dollar: true,
	Choice: readers.FirstMatch, Forms: []readers.Form{readers.Raw}, Bare: true}

// TestOutsidersRow: a reader that is added by one entry counts everywhere. Its limits
// are reported with file and line, and close nothing.
func TestOutsidersRow(t *testing.T) {
	in := inputOf(map[string]string{".robots": "Disallow: /*.zip$\nDisallow: /%23a\nDisallow: /b/\nAllow: /b/c\n"})
	before := Compile(in)
	in.Readers = append(readers.All(), outsider)
	c := Compile(in)
	if !slices.Equal(before.File(), c.File()) {
		t.Errorf("the file depends on the reader:\n%s", c.File())
	}
	if rows := c.Proof(); rows[len(rows)-2].Name != "outsider" || rows[len(rows)-2].Leaks == 0 {
		t.Errorf("not proven: %+v", rows)
	}
	answers := c.Explain("*", "x.zip", false).Readers
	if last := answers[len(answers)-1]; last != (ReaderAnswer{"outsider", true}) {
		t.Errorf("it is explained as %+v", last)
	}
	named := map[string]bool{}
	for _, r := range c.Reports() {
		if slices.Contains(r.Readers, "outsider") {
			named[fmt.Sprintf("%s:%d %s", r.File, r.Line, r.Code)] = true
		}
		if r.Code == CodeUnnamedLeak {
			t.Error(r)
		}
	}
	if !named[".robots:1 GLOB"] || !named[".robots:2 NAME"] {
		t.Errorf("reported is %v", named)
	}
	in.Readers = []readers.Reader{outsider}
	if list := Compile(in).Proof(); len(list) != 2 || list[0].Name != "outsider" {
		t.Errorf("asked alone: %+v", list)
	}
}

// TestOutsidersLines: a row that obeys lines of other groups, or in another order, is
// named where it is let in.
func TestOutsidersLines(t *testing.T) {
	row := outsider
	row.Forms, row.Escapes = []readers.Form{readers.URI}, readers.Letter
	ordered, longest := row, row
	ordered.Star, longest.Choice = true, readers.LongestPattern
	ends := row
	ends.EndStar = true
	parts, open := longest, longest
	parts.Names, open.Star, open.Dollar = readers.Part, true, false
	quotes, runs := open, open
	quotes.Escapes, quotes.Forms = readers.Quote, []readers.Form{readers.Quoted}
	below, alone := quotes, open
	below.Below, below.Choice = true, readers.LongestMatch
	alone.Groups, alone.Dollar, alone.Escapes, alone.Forms = false, true, readers.Google,
		[]readers.Form{readers.High}
	runs.Escapes, runs.Forms, runs.Dollar = readers.Requote, []readers.Form{readers.Requoted}, true
	for _, test := range []struct {
		row               readers.Reader
		notes, shut, want string
	}{
		{ordered, "Allow: /*b\nDisallow: /a/b/\n", "", "READER"},
		{ordered, "Disallow: /a/b/\nAllow: /a/\n", "", ""},
		{ends, "Disallow: /a/b\nAllow: /*\n", "", "READER"},
		{ends, "Disallow: /a/b\nAllow: /\n", "", ""},
		{parts, "User-agent: foobot\nDisallow: /a\nUser-agent: foo\nAllow: /ab\n", "", "PART-NAME"},
		{parts, "User-agent: bar\nDisallow: /a\nUser-agent: foo\nAllow: /ab\n", "", ""},
		{open, "Disallow: /*/*$\nAllow: /*9\n", "", "ANCHOR"},
		{open, "Disallow: /*/*$\nAllow: /9\n", "", ""},
		{longest, "Allow: /d/$\n", "d/", "GLOB"},
		{longest, "Allow: /d\n", "d/", ""},
		{quotes, "Disallow: /d/*\nAllow: /d/\n", "", "GLOB"},
		{runs, "Allow: /d/$\n", "d/", "GLOB"},
		{below, "Disallow: /pub?\nAllow: /pub/\n", "", "MATCHED-LENGTH"},
		{alone, "Disallow: /a$*$\n", "", ""},
	} {
		in := inputOf(map[string]string{".robots": test.notes})
		if test.shut != "" {
			in.Annotations = append(in.Annotations,
				Annotation{Dir: "/" + test.shut, File: test.shut + ".robots",
					Err: fs.ErrPermission})
		}
		in.Readers = append(readers.All(), test.row)
		codes := ""
		for _, r := range Compile(in).Reports() {
			if r.Code == CodeUnnamedLeak {
				t.Errorf("%q: %v", test.notes, r)
			}
			if len(r.Leaks) > 0 && slices.Contains(r.Readers, "outsider") && r.Code != CodeName &&
				!strings.Contains(codes, r.Code) {
				codes += r.Code
			}
		}
		if codes != test.want {
			t.Errorf("%q: %q, not %q", test.notes, codes, test.want)
		}
	}
}

// drawnRow is a row of the table with one or two other abilities.
func drawnRow(rnd *rand.Rand) readers.Reader {
	r := readers.All()[rnd.IntN(len(readers.All()))]
	r.Name = "drawn"
	for range 1 + rnd.IntN(2) {
		for _, flag := range []*bool{&r.Groups, &r.First, &r.Everybody, &r.Loose, &r.Blank,
			&r.Allow, &r.Star, &r.EndStar, &r.Below, &r.Bare, &r.Index, &r.Dollar,
			&r.Regexp, &r.Words} {
			*flag = *flag != (rnd.IntN(12) == 0)
		}
		other := readers.All()[rnd.IntN(len(readers.All()))]
		switch rnd.IntN(16) {
		case 0:
			r.Names = readers.Names(rnd.IntN(6))
		case 1:
			r.Choice = readers.Choice(rnd.IntN(3))
		case 2:
			r.Ties = readers.Ties(rnd.IntN(3))
		case 3:
			r.Forms, r.Escapes, r.Typed = other.Forms, other.Escapes, other.Typed
		}
	}
	if r.Agent == veronica {
		r.Dollar = false // her group has lines for readers without, and for names as they are
		r.Forms, r.Escapes = []readers.Form{readers.Raw}, readers.AsWritten
	}
	return r
}

// TestDrawnRows: whatever a row can, it is let in nowhere that no report names. What the
// compiler cannot say to a row that nobody has may close a directory, with an error that
// names this row alone; nobody is let in further by that.
func TestDrawnRows(t *testing.T) {
	t.Parallel()
	for seed := *first; seed < *first+*drawn; seed++ {
		rnd := rand.New(rand.NewPCG(seed, 50))
		s := sites.Draw(rnd)
		in := input(s)
		row := drawnRow(rnd)
		in.Readers = append(readers.All(), row)
		c := Compile(in)
		list := broken(s, in.Readers, c)
		if closed := closedFor(c, row.Name); closed != "" { // the proof has judged it with what is closed
			t.Logf("seed %d: %s", seed, closed)
			list = nil
			for _, leak := range c.Unproven() {
				list = append(list, leak.String())
			}
		}
		if len(list) > 0 {
			t.Errorf("seed %d %+v: %s\n%s== file\n%s== reports %v", seed, row, list[0], s,
				c.File(), c.Reports())
		}
	}
}

// closedFor returns the error that a directory is closed on account of one reader, "" if
// there is none, or one of other readers, too.
func closedFor(c *Compiled, reader string) (closed string) {
	for _, r := range c.Reports() {
		switch {
		case r.Code != CodeUnnamedLeak:
		case !strings.Contains(r.Message, ": "+reader+" lets "):
			return ""
		default:
			closed = r.String()
		}
	}
	return closed
}

// FuzzAnnotations compiles two annotations of any bytes, one below the other. Compiler
// and proof take them alike: no site is closed, and no law is broken.
func FuzzAnnotations(f *testing.F) {
	for _, c := range sites.Cases {
		if len(c.Notes) > 1 && len(c.Programs) < 2 {
			f.Add(c.Notes[0].Data, c.Notes[1].Data, strings.Join(c.Programs, ""))
		}
	}
	for _, text := range []string{"Content-Usage: search=y\u00a0", "Disallow: /drafts/**",
		"User-agent: " + strings.Repeat("n", 65) + "\nDisallow: /\n",
		"User-agent: foo\nFinal:\nUser-agent: bar\nDisallow: /a\n",
		"Disallow: $\nUser-agent: veronica\nDisallow:\n",
		"User-agent: gopher-strict\nDisallow: /a\n", "Disallow: /\n", "Allow: /\u00a0",
		"Disallow: /x\u2028User-agent: zz\n", "Allow: /a\n"} {
		f.Add([]byte(text), []byte("Allow: /a\nDisallow: /\n"), "")
		f.Add([]byte("Disallow: /\n"), []byte(text), "/*.cgi")
	}
	f.Fuzz(func(t *testing.T, above, below []byte, program string) {
		if len(above)+len(below) > 2000 {
			return
		}
		s := sites.Site{Notes: []sites.Note{{Dir: "/", File: ".robots", Data: above},
			{Dir: "/d/", File: "d/.robots", Data: below}}}
		if CheckProgram(program) == nil {
			s.Programs = []string{program}
		}
		for _, r := range Compile(input(s)).Reports() {
			if r.Code == CodeUnnamedLeak {
				t.Errorf("%v\n%q\n%q\n%q\n%s", r, above, below, program, Compile(input(s)).File())
			}
		}
	})
}

// TestExplainAgrees: for every robot and selector the explanation is what the policy and the
// served file say, and names a line that says so.
func TestExplainAgrees(t *testing.T) {
	for seed := *first; seed < *first+*drawn/4; seed++ {
		s := sites.Draw(rand.New(rand.NewPCG(seed, 10)))
		c := Compile(input(s))
		file := robots.Parse(robots.RFC9309, c.File())
		policies := policiesOf(s)
		for _, robot := range append(policies.Robots(), "*") {
			p := policies.For(robot)
			for _, sel := range sites.Selectors(policies.Patterns()) {
				if sel == "/robots.txt" {
					continue
				}
				e := c.Explain(robot, sel[1:], strings.HasSuffix(sel, "/"))
				want := p.Decide(sel)
				switch {
				case e.Selector != sel:
				case e.Allowed != want.Allowed ||
					robot != veronica && e.Allowed != file.Allowed(robot, readers.URI.Of(sel)):
					t.Errorf("seed %d: %s %q: %+v, not %+v\n%s\n%s", seed, robot, sel, e,
						want, s, c.File())
				case (e.By != nil) != (want.Pattern != "") ||
					e.By != nil && e.By.Allow != e.Allowed,
					strings.HasSuffix(e.Text, " "+want.Pattern) && want.Line > 0 &&
						!slices.ContainsFunc(p.Deciding(sel), func(v proof.Verdict) bool {
							return e.By.File == v.File && e.By.Line == v.Line
						}):
					t.Errorf("seed %d: %s %q is decided by %+v, not by %+v\n%s\n%s", seed, robot,
						sel, e.By, want, s, c.File())
				}
			}
		}
	}
}
