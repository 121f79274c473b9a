package policy

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// linesOf returns the lines of the group for everybody that are about a top-level
// directory.
func linesOf(c *Compiled, name string) []string {
	group, _, _ := strings.Cut(string(c.File()), "\n\n")
	var list []string
	for line := range strings.Lines(group) {
		_, pattern, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if strings.HasPrefix(strings.TrimPrefix(pattern, "/"), name+"/") {
			list = append(list, strings.TrimSpace(line))
		}
	}
	return list
}

// TestShare: an author who stays within the share never loses a line, whatever another
// top-level directory says or holds. TEST_GOPHD_ALL=1 asks for random neighbours.
func TestShare(t *testing.T) {
	neighbours := hostile()
	names := slices.Sorted(maps.Keys(neighbours))
	var rules strings.Builder
	for i := range 75 {
		_, _ = fmt.Fprintf(&rules, "Disallow: /%d/\nAllow: /%d/a\nDisallow: /%d$\nDisallow: /%d*x\n", i, i, i, i)
	}
	for i, name := range names {
		share(t, rules.String(), i%2 == 0, neighbours[name], neighbours[names[(i+1)%len(names)]])
	}
	if os.Getenv("TEST_GOPHD_ALL") == "" {
		return
	}
	rapid.Check(t, func(t *rapid.T) {
		var rules strings.Builder
		for i := range rapid.IntRange(1, 300).Draw(t, "rules") {
			_, _ = fmt.Fprintf(&rules, "%s: /%d%s\n", rapid.SampledFrom([]string{"Disallow", "Allow"}).Draw(t, "field"), i, rapid.SampledFrom([]string{"/", "", "$", "*x"}).Draw(t, "end"))
		}
		var list []*Dir
		for _, name := range rapid.SliceOfN(rapid.SampledFrom(names), 1, 3).Draw(t, "neighbours") {
			list = append(list, neighbours[name])
		}
		share(t, rules.String(), rapid.Bool().Draw(t, "glob"), list...)
	})
}

// share compiles a directory with rules, alone and beside neighbours.
func share(t interface{ Fatalf(string, ...any) }, rules string, glob bool, neighbours ...*Dir) {
	root := &Dir{Dirs: []*Dir{{Name: "quiet", Notes: []*Annotation{{File: "quiet/.robots", Data: []byte(rules)}}}}}
	if glob {
		root.Notes = []*Annotation{{File: ".robots", Data: []byte("Disallow: /*.zip$\n")}}
	}
	want := linesOf(Compile(Input{Root: root}, nil), "quiet")
	for i, d := range neighbours {
		named := *d
		named.Name = fmt.Sprintf("~%d%s", i, d.Name)
		root = beside(root, &named)
	}
	c := Compile(Input{Root: root}, nil)
	if got := linesOf(c, "quiet"); len(want) == 0 || !slices.Equal(got, want) {
		t.Fatalf("%.300q, and without neighbours %.300q: %v", got, want, c.Reports()[:min(4, len(c.Reports()))])
	}
	if len(c.File()) > maxBytes {
		t.Fatalf("%d bytes", len(c.File()))
	}
}

// TestCoarsened: who takes more than there is is denied as a whole and named, at
// their own annotation; the others keep what they have.
func TestCoarsened(t *testing.T) {
	var heavy strings.Builder
	for i := range 900 {
		_, _ = fmt.Fprintf(&heavy, "Disallow: /%03d%s\n", i, strings.Repeat("x", 300))
	}
	root := hostOf(20, 1, "", private)
	root = beside(root, &Dir{Name: "mallory", Notes: []*Annotation{{File: "mallory/.robots", Data: []byte(heavy.String())}}})
	c := Compile(Input{Root: root}, nil)
	if !c.Denied("mallory/any", false) || c.Denied("~user00003/a.txt", false) || !c.Denied("~user00003/private/x", false) {
		t.Errorf("the wrong ones are denied:\n%.500s", c.File())
	}
	r := c.Reports()[0]
	var takes, room, share int
	_, err := fmt.Sscanf(r.Message, "the directory is denied: its lines and groups take %d bytes of %d; its share is %d", &takes, &room, &share)
	const tops = 21
	if r.Code != CodeCoarsened || r.File != "mallory/.robots" || err != nil || room != maxBytes || share*tops > room || share*tops < room-1000 || takes != 900*2*(323+322) {
		t.Errorf("the first report is %+v", r)
	}
	// Whether somebody's line asks for the group for Veronica does not matter.
	c = Compile(Input{Root: beside(root, &Dir{Name: "a", Notes: []*Annotation{{File: "a/.robots", Data: []byte("Disallow: /*.zip$\n")}}})}, nil)
	if r := c.Reports()[0]; r.File != "mallory/.robots" || !strings.Contains(r.Message, fmt.Sprintf(" take %d bytes ", takes)) {
		t.Errorf("beside a line for Veronica: %v, not %d bytes", r, takes)
	}
	// Alone it may borrow what nobody else uses, if that is enough.
	half := strings.Join(strings.SplitAfter(heavy.String(), "\n")[:700], "")
	root = beside(hostOf(20, 1, "", private), &Dir{Name: "mallory", Notes: []*Annotation{{File: "mallory/.robots", Data: []byte(half)}}})
	if c := Compile(Input{Root: root}, nil); c.Denied("mallory/any", false) || len(linesOf(c, "mallory")) != 1400 {
		t.Errorf("what is lent is not used: %d lines", len(linesOf(c, "mallory")))
	}
	// Of two that borrow, the larger goes, if that is enough.
	part := strings.Join(strings.SplitAfter(heavy.String(), "\n")[:500], "")
	root = beside(root, &Dir{Name: "eve", Notes: []*Annotation{{File: "eve/.robots", Data: []byte(part)}}})
	if c := Compile(Input{Root: root}, nil); !c.Denied("mallory/any", false) || c.Denied("eve/any", false) || len(linesOf(c, "eve")) != 1000 {
		t.Errorf("of two that borrow:\n%.300s", c.File())
	}
}

// TestNamesCount: a group counts against those who name the robot.
func TestNamesCount(t *testing.T) {
	root := hostOf(3000, 1, "", private)
	for i := range 40 {
		d := &Dir{Name: fmt.Sprintf("mallory%02d", i)}
		d.Notes = []*Annotation{{File: d.Name + "/.robots", Data: []byte(manyRobots(5, 5*i))}}
		root = beside(root, d)
	}
	c := Compile(Input{Root: root}, nil)
	for u := range 3000 {
		if name := fmt.Sprintf("~user%05d", u); len(linesOf(c, name)) != 2 || c.Denied(name+"/a.txt", false) {
			t.Fatalf("%s pays for others", name)
		}
	}
	if !slices.ContainsFunc(c.Reports(), func(r Report) bool { return r.Code == CodeCoarsened && strings.HasPrefix(r.File, "mallory") }) {
		t.Error("nobody is named as the cause")
	}
}

// TestBounds: past a bound the directory is denied, and nothing else.
func TestBounds(t *testing.T) {
	many := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			_, _ = fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, test := range map[string]struct {
		dir    *Dir
		denied bool
	}{
		"1,000 rules":          {chain("m", 1, func(int) string { return many(1000, "Disallow: /%d\n") }), false},
		"1,001 rules":          {chain("m", 1, func(int) string { return many(1001, "Disallow: /%d\n") }), true},
		"500 KiB":              {chain("m", 1, func(int) string { return strings.Repeat("#", maxAnnotation) }), false},
		"500 KiB and a byte":   {chain("m", 1, func(int) string { return strings.Repeat("#", maxAnnotation+1) }), true},
		"257 names":            {chain("m", 1, func(int) string { return many(257, "User-agent: b%d\n") + "Disallow: /x\n" }), true},
		"64 names of its own":  {chain("m", 1, func(int) string { return many(64, "User-agent: b%d\n") + "Disallow: /x\n" }), false},
		"65 names of its own":  {chain("m", 1, func(int) string { return many(65, "User-agent: b%d\n") + "Disallow: /x\n" }), true},
		"8 ways":               {chain("m", 1, func(int) string { return many(8, "User-agent: b%[1]d\nDisallow: /%[1]d\n") }), false},
		"9 ways":               {chain("m", 1, func(int) string { return many(9, "User-agent: b%[1]d\nDisallow: /%[1]d\n") }), true},
		"64 Final lines":       {chain("m", 1, func(int) string { return many(64, "Final: /%d\n") }), false},
		"65 Final lines":       {chain("m", 1, func(int) string { return many(65, "Final: /%d\n") }), true},
		"64 Final lines below": {chain("m", 4, func(int) string { return many(16, "Final: /%d\n") }), false},
		"65 Final lines below": {chain("m", 5, func(int) string { return many(13, "Final: /%d\n") }), true},
		"10,000 rules":         {chain("m", 10, func(int) string { return many(1000, "Disallow: /%d\n") }), false},
		"10,001 rules":         {chain("m", 11, func(int) string { return many(1000, "Disallow: /%d\n") }), true},
	} {
		c := Compile(Input{Root: beside(hostOf(2, 1, "", private), test.dir)}, nil)
		if c.Denied("m/any", false) != test.denied || c.Denied("~user00001/a.txt", false) || !c.Denied("~user00001/private/", true) {
			t.Errorf("%s: denied %v\n%.300s", name, c.Denied("m/any", false), c.File())
		}
		if !test.denied {
			continue
		}
		if r := c.Reports()[0]; r.Code != CodeTooLarge || !strings.HasPrefix(r.File, "m/") {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestNamesOfTheRoot: the root may name 256 robots, and not one more.
func TestNamesOfTheRoot(t *testing.T) {
	for n, denied := range map[int]bool{maxNames: false, maxNames + 1: true} {
		var b strings.Builder
		for i := range n {
			_, _ = fmt.Fprintf(&b, "User-agent: b%d\n", i)
		}
		c := compileOf(map[string]string{".robots": b.String() + "Disallow: /x\n"}, "a")
		if c.Denied("a", false) != denied || c.Explain("b255", "x", false).Allowed {
			t.Errorf("%d names: denied %v\n%.300s", n, !denied, c.File())
		}
	}
}

// TestSiteRules: if all together say too much, those who say most are denied.
func TestSiteRules(t *testing.T) {
	root := &node{dir: &Dir{}}
	for range maxSiteRules / maxTopRules {
		root.subs = append(root.subs, &node{dir: &Dir{}, size: size{rules: maxTopRules}})
	}
	if why := tooLarge(root, robotsOf{}); len(why) > 0 {
		t.Errorf("%d rules: %v", maxSiteRules, why)
	}
	least := &node{dir: &Dir{}, size: size{rules: 1}}
	root.subs = append([]*node{least}, root.subs...)
	if why := tooLarge(root, robotsOf{}); len(why) != 1 || why[least] != "" {
		t.Errorf("one more: %v", why)
	}
	root.subs[1].rules++ // it is denied, and so the others are not too many
	if why := tooLarge(root, robotsOf{}); len(why) != 1 || why[root.subs[1]] == "" {
		t.Errorf("one with too many: %v", why)
	}
	root.subs[2].rules++
	root.subs[3].finals, root.subs[4].finals = maxTopFinals+1, maxTopFinals+1
	for i, top := range root.subs {
		if why := tooLarge(root, robotsOf{}); len(why) != 4 || (why[top] != "") != (1 <= i && i <= 4) {
			t.Errorf("several with too many: %v", why)
		}
	}
}

// TestBorrowers: the largest goes first, and no more than must; what denies a directory
// takes room, too; who takes no more than the share stays.
func TestBorrowers(t *testing.T) {
	may := map[string]*node{"a": {}, "bb": {}, "c": {}, "d": {}}
	share := (maxBytes - 1000) / 4
	b := bill{}
	b.add(part{by: map[string]int{"": 1000, "a": share + 500, "bb": share + 900, "c": share, "d": share + 1}, total: 1000 + 4*share + 1401})
	left := b.total - (share + 900) + 2*len("bb") + 2*len("Disallow: //\n")
	then := left - (share + 500) + 2*len("a") + 2*len("Disallow: //\n")
	for room, want := range map[int]string{b.total: "", b.total - 1: "bb", left: "bb", left - 1: "a bb", then: "a bb", then - 1: "a bb d", 0: "a bb d"} {
		if got := strings.Join(slices.Sorted(maps.Keys(b.borrowers(may, 4, room))), " "); got != want {
			t.Errorf("%d of %d bytes: %q go, not %q", room, b.total, got, want)
		}
	}
	// A group that several pay for goes with the last of them.
	b = bill{}
	b.add(part{by: map[string]int{"a": 100, "bb": 100}, total: 2*maxBytes + 200, whose: []string{"a", "bb"}})
	b.add(part{by: map[string]int{"a": 100, "bb": 100}, total: 200})
	if c := b.charges(); c["a"] != maxBytes+200 || c["bb"] != maxBytes+200 {
		t.Errorf("charged %v", c)
	}
	for room, want := range map[int]int{b.total: 0, 2 * maxBytes: 2, 300: 2} {
		if got := b.borrowers(may, 2, room); len(got) != want {
			t.Errorf("%d of %d bytes: %v", room, b.total, got)
		}
	}
	// A group that is gone takes nothing more, and the next are counted all the same.
	b = bill{}
	b.add(part{total: 2 * maxBytes, whose: []string{"a"}})
	b.add(part{by: map[string]int{"bb": maxBytes, "c": maxBytes - 1}, total: 2*maxBytes - 1})
	if got := b.borrowers(may, 3, maxBytes+100); len(got) != 2 || got["c"] != "" {
		t.Errorf("of three groups: %v", got)
	}
}

// TestNoBare: where not even the denials fit, the lines without a leading slash go
// first, and the server closes those spellings.
func TestNoBare(t *testing.T) {
	c := Compile(Input{Root: hostOf(12_000, 1, "", func(string) string { return "Disallow: /a-directory-of-mine/\n" })}, nil)
	if len(c.File()) > maxBytes || c.Denied("about.txt", false) || strings.Contains(string(c.File()), "\nDisallow: ~user") {
		t.Errorf("%d bytes\n%.300s", len(c.File()), c.File())
	}
	if c.Reports()[0].Code != CodeCoarsened && c.Reports()[0].Code != CodeNoBare {
		t.Errorf("the first report is %+v", c.Reports()[0])
	}
	for _, sel := range []string{"~user00005/a-directory-of-mine/x", "~user00005/a-directory-of-mine/"} {
		if canonical, closed := c.Closed(sel); !closed || canonical != "/"+strings.TrimSuffix(sel, "/") && canonical != "/"+sel {
			t.Errorf("%s is answered: %q, %v", sel, canonical, closed)
		}
	}
}

// TestDeniedNamesNobody: a directory that says too much makes no groups.
func TestDeniedNamesNobody(t *testing.T) {
	notes := map[string]string{"b/.robots": "User-agent: bar\nDisallow: /x\n"}
	for i := range 11 {
		notes[fmt.Sprintf("m/%d/.robots", i)] = "User-agent: foo\n" + strings.Repeat("Disallow: /x\n", 1000)
	}
	notes["n/.robots"] = "User-agent: foo\n" + strings.Repeat("Final: /x\n", 65)
	c := compileOf(notes)
	if file := string(c.File()); !c.Denied("m/y", false) || !c.Denied("n/y", false) || strings.Contains(file, "foo") || !strings.Contains(file, "User-agent: bar\n") {
		t.Errorf("got:\n%.2000s", file)
	}
}

// TestRootTakesHalf: what the root's own lines take is not there for others, but for half
// of the room.
func TestRootTakesHalf(t *testing.T) {
	rules := func(n, size int) string {
		var b strings.Builder
		for i := range n {
			_, _ = fmt.Fprintf(&b, "Disallow: /%03d%s\n", i, strings.Repeat("x", size-3))
		}
		return b.String()
	}
	for size, takes := range map[int]int{50: 4*500*(len("Disallow: ")+50+1) + 2*500, 300: maxBytes / 2} {
		root := treeOf(map[string]string{".robots": rules(500, size), "a/.robots": "Disallow: /x\n", "mallory/.robots": rules(900, 300)}, "a/x")
		c := Compile(Input{Root: root}, nil)
		r := c.Reports()[0]
		var charged, room, share int
		_, err := fmt.Sscanf(r.Message, "the directory is denied: its lines and groups take %d bytes of %d; its share is %d", &charged, &room, &share)
		if err != nil || r.File != "mallory/.robots" || share != (maxBytes-takes)/2 {
			t.Errorf("%d bytes each: %v, not %d", size, r, (maxBytes-takes)/2)
		}
	}
}

// TestGroupsTakeWhatTheyHold: a group for a few robots takes memory for what is said to
// them, not for what is said to others.
func TestGroupsTakeWhatTheyHold(t *testing.T) {
	files := map[string]string{}
	for u := range 20 {
		files[fmt.Sprintf("u%02d/.robots", u)] = fmt.Sprintf("User-agent: bot%d\n", u) + strings.Repeat("Disallow: /a\n", 500)
	}
	c := &Compiled{in: Input{Root: treeOf(files)}}
	w := work{c: c, denied: map[*node]*rule{}}
	c.grow(&Compiled{}, nil)
	w.compose()
	for _, g := range w.groups[1:] {
		if cap(g.entries) > 1000 {
			t.Errorf("%s: room for %d entries", g.token(), cap(g.entries))
		}
	}
}

// TestNamesTakeRoom: who names many robots pays for the lines that name them.
func TestNamesTakeRoom(t *testing.T) {
	files := map[string]string{"ann/.robots": "Disallow: /private/\n"}
	for u := range 130 {
		var b strings.Builder
		for i := range maxTopNames {
			_, _ = fmt.Fprintf(&b, "User-agent: r%03d-%02d-%050d\n", u, i, 0)
		}
		files[fmt.Sprintf("u%03d/.robots", u)] = b.String() + "Disallow: /a\n"
	}
	c := &Compiled{in: Input{Root: treeOf(files)}}
	w := work{c: c, denied: map[*node]*rule{}}
	c.grow(&Compiled{}, nil)
	w.readAll()
	w.write()
	if len(c.File()) > maxBytes || !strings.Contains(string(c.File()), "\nDisallow: /ann/private/\n") {
		t.Errorf("%d bytes:\n%.1000s", len(c.File()), c.File())
	}
	w.deny(c.nodes, CodeTooLarge, "for a test")
	if w.write(); string(c.File()) != header+"\n"+string(DenyAll()) {
		t.Errorf("all is denied to all, in %d bytes:\n%.1000s", len(c.File()), c.File())
	}
}

// TestNobodyTakesTooMuch: where all has room, nothing is denied.
// TestNobodyTakesTooMuch: where all has room, nothing is denied.
func TestNobodyTakesTooMuch(t *testing.T) {
	c := compileOf(map[string]string{"d/.robots": "Disallow: /x\n"}, "d/x")
	w := work{c: c, denied: map[*node]*rule{}}
	if w.coarsen(bill{total: 1000}, 1000) || len(w.denied)+len(w.said) > 0 {
		t.Errorf("denied: %v", w.said)
	}
}

// TestEstimated: what would never fit is denied before it is written, for about what it
// would take in one group; whatever else is denied.
func TestEstimated(t *testing.T) {
	top, written := strings.Repeat("m", 250), 0
	notes := map[string]string{"a/.robots": strings.Repeat("Final: /x\n", maxTopFinals+1), "b/.robots": "Disallow: /x\n"}
	for i := range 10 {
		dir := fmt.Sprintf("%s/%d/", top, i)
		for j := range 500 {
			disallow, usage := fmt.Sprintf("Disallow: /%04d\n", j), fmt.Sprintf("Content-Usage: /%04d train-ai=n\n", j)
			notes[dir+".robots"] += disallow + usage
			written += 2*(len(disallow)+len(dir)) + len(usage) + len(dir) // rules without a leading slash, too
		}
	}
	c := compileOf(notes)
	takes := 0
	for _, r := range c.Reports() {
		if _, err := fmt.Sscanf(r.Message, "the directory is denied: its lines and groups take %d bytes", &takes); err == nil && r.File != top+"/0/.robots" {
			t.Errorf("%v", r)
		}
	}
	if takes < written*19/20 || takes > written*21/20 || c.Denied("b/a", false) || !c.Denied(top+"/a", false) || !c.Denied("a/a", false) {
		t.Errorf("about %d bytes of %d\n%.500s", takes, written, c.File())
	}
}

// TestPreferencesTakeRoom: who states many preferences pays for their lines as they are
// written.
func TestPreferencesTakeRoom(t *testing.T) {
	var b strings.Builder
	for i := range 990 {
		_, _ = fmt.Fprintf(&b, "Content-Usage: /%03d train-ai=n\n", i)
	}
	top := strings.Repeat("m", 600)
	c := compileOf(map[string]string{"a/.robots": "Disallow: /x\n", top + "/.robots": b.String()}, "a/x")
	r := c.Reports()[0]
	var takes int
	_, err := fmt.Sscanf(r.Message, "the directory is denied: its lines and groups take %d bytes", &takes)
	if want := b.Len() + 990*len("/"+top); err != nil || r.File != top+"/.robots" || takes != want {
		t.Errorf("%v, not %d", r, want)
	}
}

// TestNamesTakeAGroup: who alone names a robot pays for the whole group as it is written.
func TestNamesTakeAGroup(t *testing.T) {
	want, text := len("\nUser-agent: foo\n"), "User-agent: foo\n"
	for i := range 900 {
		line := fmt.Sprintf("Disallow: /%03d%s\n", i, strings.Repeat("x", 290))
		text += line
		want += 2*(len(line)+len("mallory/")) - len("/")
	}
	r := compileOf(map[string]string{"a/.robots": "", "mallory/.robots": text}, "a/x").Reports()[0]
	takes := 0
	_, err := fmt.Sscanf(r.Message, "the directory is denied: its lines and groups take %d bytes", &takes)
	if err != nil || takes != want {
		t.Errorf("%v, not %d", r, want)
	}
}

// TestExactlyFull: a file of 500 KiB is written as it is, and one that has a byte more
// without lines that lack a leading slash.
func TestExactlyFull(t *testing.T) {
	var b strings.Builder
	for i := range 900 {
		_, _ = fmt.Fprintf(&b, "Disallow: /%03d%s\n", i, strings.Repeat("x", 250))
	}
	size := len(compileOf(map[string]string{".robots": b.String() + "Comment: x\n"}).File())
	for n, full := range map[int]bool{maxBytes: true, maxBytes + 1: false} {
		c := compileOf(map[string]string{".robots": b.String() + "Comment: " + strings.Repeat("x", n-size+1) + "\n"}, "a")
		if got := len(c.File()); (got == n) != full || c.Denied("a", false) || (c.Reports()[0].Code == CodeNoBare) == full {
			t.Errorf("%d bytes: %d, %v", n, got, c.Reports()[0])
		}
	}
}

// TestProgramsTakeTooMuch: where what programs answer takes all the room, all is denied;
// that is no annotation's doing.
func TestProgramsTakeTooMuch(t *testing.T) {
	in := Input{Root: &Dir{Files: []string{"a"}}}
	for i := range 300 {
		in.Programs = append(in.Programs, fmt.Sprintf("/%d%s", i, strings.Repeat("x", 400)))
	}
	c := Compile(in, nil)
	all := slices.ContainsFunc(c.Reports(), func(r Report) bool { return r.Code == CodeTooLarge && r.File == "" })
	if !all || !c.Denied("a", false) || len(c.Unproven()) > 0 || len(c.File()) > maxBytes {
		t.Errorf("%v\n%d bytes: %.500s", c.Reports(), len(c.File()), c.File())
	}
}

// TestDeniedOnce: a directory whose denial alone takes more than a share is not denied
// again.
func TestDeniedOnce(t *testing.T) {
	root := &Dir{}
	for i := range 1400 {
		name := fmt.Sprintf("%04d%s", i, strings.Repeat("x", 200))
		root.Dirs = append(root.Dirs, &Dir{Name: name, Notes: []*Annotation{{File: name, Data: []byte("Disallow: /a\nDisallow: /b\nDisallow: /*c\n")}}})
	}
	c := Compile(Input{Root: root}, nil)
	told := map[string]int{}
	for _, r := range c.Reports() {
		if r.Code == CodeCoarsened {
			told[r.File]++
		}
	}
	if len(c.File()) > maxBytes || len(told) == 0 || slices.Max(slices.Collect(maps.Values(told))) > 1 || !c.Denied(root.Dirs[7].Name+"/a", false) || c.Denied("x", false) {
		t.Errorf("%d directories are denied, in %d bytes:\n%.600s", len(told), len(c.File()), c.File())
	}
}
