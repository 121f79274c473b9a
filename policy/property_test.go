package policy

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/robots"
	"pgregory.net/rapid"
)

// hazards are names with every octet that needs care, and names that begin each
// other.
var hazards = []string{
	"a", "ab", "abc", "b", "a.txt", "a.txt.gz", "x", "x.zip", "y.zip", "zip",
	"a#", "#a", "a#b", "#", "a#b#c", "a*", "*a", "a*b", "*", "a*b*c", "a*#", "a#*b",
	"a$", "$", "a$b", "$a", "a$$", " a", "a ", " ", "a b", "  ", "a $", "a$ ", "# ", "* $",
	"%41", "%", "%4", "A", "%41b", "Ab", "a%2Ab", "a%2ab", "%2F", "%24", "%zz", "a%", "%25", "x%41.txt", "xA",
	"é", "%C3%A9", "éa", "\xff", "\xc3", "日本", "robots.txt", "0", "~u", "Allow: ", "a:b", "a?b", "a=b",
	"a\nb", "a\tb", "\x01", "a\rDisallow: /", "a\x00b",
	strings.Repeat("long", 70),
}

var agents = []string{"*", "foo", "foobot", "veronica"}

// drawTree takes all its names from a few, so that they meet often.
func drawTree(t *rapid.T) *Dir {
	few := rapid.SliceOfNDistinct(rapid.SampledFrom(hazards), 3, 12, rapid.ID[string]).Draw(t, "few")
	return drawDir(t, few, "", 0)
}

func drawDir(t *rapid.T, few []string, name string, depth int) *Dir {
	d := &Dir{Name: name}
	names := rapid.SliceOfNDistinct(rapid.SampledFrom(few), 0, min(7, len(few)), rapid.ID[string]).Draw(t, "names")
	slices.Sort(names)
	for _, n := range names {
		if depth < 3 && rapid.IntRange(0, 2).Draw(t, "dir") == 0 {
			d.Dirs = append(d.Dirs, drawDir(t, few, n, depth+1))
		} else {
			d.Files = append(d.Files, n)
		}
	}
	if rapid.IntRange(0, 2).Draw(t, "noted") == 0 {
		d.Notes = []*Annotation{{File: name + "/.robots", Data: drawNote(t, names)}}
		if rapid.IntRange(0, 20).Draw(t, "broken") == 0 {
			d.Notes[0].Err = bytes.ErrTooLarge
		}
	}
	return d
}

func drawNote(t *rapid.T, names []string) []byte {
	var b strings.Builder
	piece := rapid.SampledFrom(append(slices.Clone(names), "/", "/", "*", "*", "$", "a", "b", ".zip", "%41", "A", "%2A", "é", "a/", "/a"))
	for range rapid.IntRange(1, 5).Draw(t, "lines") {
		switch rapid.IntRange(0, 9).Draw(t, "line") {
		case 0, 1:
			b.WriteString("User-agent: " + rapid.SampledFrom(agents).Draw(t, "agent") + "\n")
			continue
		case 2, 3:
			b.WriteString("Allow: ")
		default:
			b.WriteString("Disallow: ")
		}
		var p string
		for range rapid.IntRange(0, 3).Draw(t, "pieces") {
			p += piece.Draw(t, "piece")
		}
		b.WriteString(strings.Map(plainValue, p) + "\n")
	}
	return []byte(b.String())
}

// plainValue leaves out what would not be part of a value.
func plainValue(r rune) rune {
	if r < ' ' || r == '#' {
		return -1
	}
	return r
}

// asked is a resource as the server answers it.
type asked struct {
	path []*Dir
	sel  string
}

func resources(d *Dir) []asked {
	var list []asked
	var walk func(path []*Dir, sel string)
	walk = func(path []*Dir, sel string) {
		d := path[len(path)-1]
		list = append(list, asked{path, sel})
		for _, f := range d.Files {
			if strings.IndexFunc(f, func(r rune) bool { return r < ' ' }) < 0 && sel+f != "/robots.txt" {
				list = append(list, asked{path, sel + f})
			}
		}
		for _, sub := range d.Dirs {
			if strings.IndexFunc(sub.Name, func(r rune) bool { return r < ' ' }) < 0 {
				walk(append(path[:len(path):len(path)], sub), sel+sub.Name+"/")
			}
		}
	}
	walk([]*Dir{d}, "/")
	return list
}

// collisions are the resources that an RFC 9309 reader cannot tell from others
// with another policy, each with the directory it lies in.
func collided(c *Compiled, sel string) bool {
	return slices.ContainsFunc(c.Reports(), func(r Report) bool {
		return r.Code == CodeNameCollision && slices.ContainsFunc(r.Victims, func(v string) bool {
			return strings.HasPrefix(sel, v)
		})
	})
}

func reportedLeak(c *Compiled, reader, sel string) bool {
	return slices.ContainsFunc(c.Reports(), func(r Report) bool {
		return slices.Contains(r.Readers, reader) && slices.Contains(r.Leaks, sel)
	})
}

func reportedVictim(c *Compiled, reader, sel string) bool {
	return slices.ContainsFunc(c.Reports(), func(r Report) bool {
		return slices.Contains(r.Readers, reader) && (slices.Contains(r.Victims, sel) || len(r.Victims) == maxVictims)
	})
}

func TestGuarantee(t *testing.T) {
	defer func(n int) { minFinder = n }(minFinder)
	rapid.Check(t, func(t *rapid.T) {
		minFinder = rapid.SampledFrom([]int{1, 16}).Draw(t, "finder")
		root := drawTree(t)
		c := Compile(root, nil)
		if len(c.Unproven()) > 0 {
			t.Fatalf("unproven: %v\n%s", c.Unproven(), c.File())
		}
		if err := misshapen(c.File()); err != nil {
			t.Fatalf("%v:\n%s", err, c.File())
		}
		for _, agent := range named(root) {
			for _, r := range robots.Readers() {
				checkReader(t, c, root, agent, r)
			}
			checkPartName(t, c, root, agent)
		}
	})
}

// checkPartName is for a robot that nobody names, whose name contains a named
// one: a reader of the 1994 standard takes that one's group.
func checkPartName(t *rapid.T, c *Compiled, root *Dir, agent string) {
	i := slices.IndexFunc(robots.Readers(), func(r robots.Reader) bool { return r.Name == "1994" })
	allows := robots.Readers()[i].Read(c.File(), "+"+agent+"+")
	for _, res := range resources(root) {
		if agent == "*" || !naiveDenied(res.path, res.sel, "*") {
			continue
		}
		for _, sel := range spellings(res.sel) {
			_, closed := c.Closed(sel)
			if !closed && !isRobotsSelector(sel) && allows(sel) && !reportedLeak(c, "1994", sel) {
				t.Fatalf("1994 as +%s+: leak %q\n%s\n%v", agent, sel, c.File(), c.Reports())
			}
		}
	}
}

// named lists the robots that the annotations name, and the one that stands for
// all others.
func named(root *Dir) []string {
	list := []string{"*"}
	for _, r := range resources(root) {
		for _, a := range r.path[len(r.path)-1].Notes {
			for _, agent := range agents[1:] {
				if a.Err == nil && strings.Contains(string(a.Data), "User-agent: "+agent+"\n") && !slices.Contains(list, agent) {
					list = append(list, agent)
				}
			}
		}
	}
	return list
}

func checkReader(t *rapid.T, c *Compiled, root *Dir, agent string, r robots.Reader) {
	allows := r.Read(c.File(), agent)
	exact := r.Name == "rfc9309" || r.Name == "first-match"
	for _, res := range resources(root) {
		denied := naiveDenied(res.path, res.sel, agent)
		for _, sel := range spellings(res.sel) {
			if isRobotsSelector(sel) {
				continue
			}
			if canonical, closed := c.Closed(sel); closed {
				if canonical != res.sel {
					t.Fatalf("%q is closed and points to %q, not %q", sel, canonical, res.sel)
				}
				continue
			}
			switch got := allows(sel); {
			case got != denied:
			case got && (exact || !reportedLeak(c, r.Name, sel)):
				t.Fatalf("%s as %s: leak %q\n%s\n%v", r.Name, agent, sel, c.File(), c.Reports())
			case !got && exact && !collided(c, res.sel):
				t.Fatalf("%s as %s: not exact at %q\n%s\n%v", r.Name, agent, sel, c.File(), c.Reports())
			case !got && !reportedVictim(c, r.Name, sel):
				t.Fatalf("%s as %s: over-block %q\n%s\n%v", r.Name, agent, sel, c.File(), c.Reports())
			}
		}
	}
}

// TestTightBudget has no room for what is to be said: too much may be barred, and
// is reported, but nothing leaks.
func TestTightBudget(t *testing.T) {
	defer func(n int) { maxOctets = n }(maxOctets)
	rapid.Check(t, func(t *rapid.T) {
		root := drawTree(t)
		maxOctets = rapid.IntRange(60, 600).Draw(t, "octets")
		c := Compile(root, nil)
		if len(c.Unproven()) > 0 {
			t.Fatalf("unproven: %v\n%s", c.Unproven(), c.File())
		}
		if len(c.File()) > maxOctets && !bytes.HasPrefix(c.File(), DenyAll()) && !bytes.HasSuffix(c.File(), []byte("/.robots\n")) {
			t.Fatalf("%d octets:\n%s", len(c.File()), c.File())
		}
		for _, agent := range named(root) {
			for _, r := range robots.Readers() {
				checkLoose(t, c, root, agent, r)
			}
		}
	})
}

// checkLoose is checkReader for a file that bars too much.
func checkLoose(t *rapid.T, c *Compiled, root *Dir, agent string, r robots.Reader) {
	allows := r.Read(c.File(), agent)
	for _, res := range resources(root) {
		denied := naiveDenied(res.path, res.sel, agent)
		for _, sel := range spellings(res.sel) {
			if _, closed := c.Closed(sel); closed || isRobotsSelector(sel) {
				continue
			}
			switch got := allows(sel); {
			case got && denied && !reportedLeak(c, r.Name, sel):
				t.Fatalf("%s as %s: leak %q\n%s\n%v", r.Name, agent, sel, c.File(), c.Reports())
			case !got && !denied && !reportedVictim(c, r.Name, sel):
				t.Fatalf("%s as %s: over-block %q\n%s\n%v", r.Name, agent, sel, c.File(), c.Reports())
			}
		}
	}
}

// TestPrev changes a tree here and there: what is taken over from before must
// not be seen in the result.
func TestPrev(t *testing.T) {
	defer func(memo, octets int) { minMemo, maxOctets = memo, octets }(minMemo, maxOctets)
	minMemo = 1
	rapid.Check(t, func(t *rapid.T) {
		maxOctets = rapid.SampledFrom([]int{500 << 10, 80, 200, 400}).Draw(t, "octets")
		root := drawTree(t)
		var c *Compiled
		for range rapid.IntRange(2, 4).Draw(t, "changes") {
			c = Compile(root, c)
			fresh := Compile(root, nil)
			if !bytes.Equal(c.File(), fresh.File()) {
				t.Fatalf("with prev:\n%s\nwithout:\n%s", c.File(), fresh.File())
			}
			if !reflect.DeepEqual(c.Reports(), fresh.Reports()) || !reflect.DeepEqual(c.Proof(), fresh.Proof()) {
				t.Fatalf("with prev:\n%v\n%v\nwithout:\n%v\n%v", c.Proof(), c.Reports(), fresh.Proof(), fresh.Reports())
			}
			root = drawChange(t, root)
		}
	})
}

// drawChange makes a directory of the tree anew and shares the others.
func drawChange(t *rapid.T, d *Dir) *Dir {
	if n := len(d.Dirs); n > 0 && rapid.IntRange(0, 2).Draw(t, "below") > 0 {
		i := rapid.IntRange(0, n-1).Draw(t, "i")
		copied := *d
		copied.Dirs = slices.Clone(d.Dirs)
		copied.Dirs[i] = drawChange(t, d.Dirs[i])
		return &copied
	}
	next := drawDir(t, hazards, d.Name, 2)
	next.Dirs = d.Dirs
	next.Files = slices.DeleteFunc(next.Files, func(name string) bool { _, ok := searchDir(d, name); return ok })
	return next
}
