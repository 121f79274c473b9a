package robots

import "slices"

// Reader is a model of programs in use: what they make of a robots file that
// lies on a Gopher server. Selectors are compared as bytes, but readers after
// RFC 9309 take them for URI paths, and the empty one for "/".
type Reader struct {
	Name string // short, for tables
	Note string // what the program is or does

	dialect Dialect // how it parses
	style   style   // how it matches
	both    bool    // its own group and the * group bind it together
}

// Readers lists the models: a strict Gopher robot, Veronica-2, RFC 9309, 1994
// (prefixes only), first match (RFC 9309, but the first rule in the file that
// matches decides) and the Gemini robot Kennedy.
func Readers() []Reader {
	rfc := RFC9309.style(Version1)
	firstMatch := rfc
	firstMatch.first = true
	return []Reader{
		{Name: "gopher-strict", Note: "every Disallow line binds every robot",
			dialect: GopherStrict, style: GopherStrict.style(Version1)},
		{Name: "veronica2", Note: "Disallow only; /path/ also covers /path",
			dialect: Veronica2, style: Veronica2.style(Version1)},
		{Name: "rfc9309", Note: "the longest pattern decides",
			dialect: RFC9309, style: rfc},
		{Name: "1994", Note: "prefixes only, records end at blank lines",
			dialect: Standard1994, style: Standard1994.style(Version1)},
		{Name: "first-match", Note: "as RFC 9309, but the first rule that matches decides",
			dialect: RFC9309, style: firstMatch},
		{Name: "gemini", Note: "prefixes only, its own group and the * group together",
			dialect: RFC9309, style: style{trimStar: true}, both: true},
	}
}

// Read takes a robots file for the named robot, and returns what the reader then
// thinks of selectors: true if it may fetch. The function allocates nothing for
// selectors up to 2 KiB and may be called by many goroutines at once.
func (r Reader) Read(data []byte, agent string) func(selector string) bool {
	f := Parse(r.dialect, data)
	x := &index{file: f}
	for _, g := range r.groups(f, agent) {
		first := f.groups[g].record
		for i, rec := range f.members(int(g)) {
			if rec.kind() != KindAgent {
				x.add(r.style, first+uint32(i))
			}
		}
	}
	x.finish()
	if r.style.Escapes {
		return func(selector string) bool {
			selector = pathOf(selector)
			best, _ := x.find(selector)
			return best.allowed() || selector == "/robots.txt"
		}
	}
	return func(selector string) bool {
		best, _ := x.find(selector)
		return best.allowed()
	}
}

// groups chooses the groups that bind the robot.
func (r Reader) groups(f *File, agent string) []uint32 {
	own := f.Agent(agent).groups
	if !r.both {
		return own
	}
	all := append(slices.Clone(own), f.groupsOf("*")...)
	slices.Sort(all)
	return slices.Compact(all)
}
