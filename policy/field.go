package policy

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// siteField is a site-wide field of the root's annotation.
type siteField struct {
	*siteFieldName
	*rule
}

// siteFieldName is a field that is valid in the root's annotation.
type siteFieldName struct {
	name  string // the spelling in the file
	valid func(string) bool
	end   bool // it belongs to no group, and is written at the end of the file
}

var siteFieldNames = []siteFieldName{
	{"Crawl-delay", func(v string) bool {
		_, err := readers.ParseCrawlDelay(v)
		return err == nil
	}, false},
	{"Request-rate", func(v string) bool {
		_, err := readers.ParseRequestRate(v)
		return err == nil
	}, false},
	{"Visit-time", func(v string) bool {
		_, err := readers.ParseVisitTime(v)
		return err == nil
	}, false},
	{"Comment", nil, false},
	{"Content-Signal", nil, false},
	{"Index", func(v string) bool {
		return strings.EqualFold(v, "allow") || strings.EqualFold(v, "deny")
	}, false},
	{"Cooldown", func(v string) bool {
		_, err := strconv.ParseUint(v, 10, 31)
		return err == nil
	}, false},
	{"Sitemap", nil, true},
	{"Agentmap", nil, true},
	{"Schemamap", nil, true},
	{"License", func(v string) bool {
		u, err := url.Parse(v)
		return err == nil && u.IsAbs()
	}, true},
}

// field keeps a site-wide field whose value robots understand.
func (r *reader) field(l readers.Line) {
	for i := range siteFieldNames {
		f := &siteFieldNames[i]
		switch {
		case !strings.EqualFold(f.name, l.Field):
			continue
		case r.note.top != "":
			r.report(CodeMisplacedField, l.Number,
				"%s is about the whole site and counts in the root's annotation only", f.name)
		case l.Value == "" || selector.HasControl(l.Value) ||
			strings.ContainsFunc(l.Value, endsLine) || f.valid != nil && !f.valid(l.Value):
			// The line is reported elsewhere.
		default:
			r.note.fields = append(r.note.fields, siteField{f, &rule{
				value: l.Value,
				file:  r.file,
				line:  l.Number,
			}})
		}
		return
	}
	if readers.KnownField(l.Field) {
		r.report(CodeMisplacedField, l.Number, "%s is not written into a robots.txt", l.Field)
	}
}

// SiteFields are the site-wide fields of the root's annotation, for caps.txt, web
// pages and the CRAWLER token of an IRC network. If a field is repeated, the first one counts.
type SiteFields struct {
	CrawlDelay string // seconds, decimals allowed; "" if absent
	Index      string // "allow", "deny", or "" if absent
	Cooldown   int    // seconds until a robot may look again; 0 if absent
	License    string // the URL of the license (RSL 1.0), "" if absent
}

// Crawler returns the preference in Index and Cooldown, as an IRC network states it.
func (s SiteFields) Crawler() readers.Crawler {
	c := readers.Crawler{Cooldown: readers.DefaultCooldown}
	switch s.Index {
	case "allow":
		c.Index = readers.IndexAllow
	case "deny":
		c.Index = readers.IndexDeny
	}
	if s.Cooldown > 0 {
		c.Cooldown = time.Duration(s.Cooldown) * time.Second
	}
	return c
}

func siteFields(fields []siteField) (s SiteFields) {
	for _, f := range slices.Backward(fields) {
		switch f.name {
		case "Crawl-delay":
			s.CrawlDelay = f.value
		case "Index":
			s.Index = strings.ToLower(f.value)
		case "Cooldown":
			s.Cooldown, _ = strconv.Atoi(f.value)
		case "License":
			s.License = f.value
		}
	}
	return s
}

// Preferences about use are taken key by key: for a name, the value of each key is that
// of the longest path that states the key. A line of the file states all keys that apply at
// its path, so a reader that takes the longest path alone gets the policy.

// usageLine is a Content-Usage line. Its pattern is a literal path.
type usageLine struct {
	rule                   // its value is the dictionary
	said readers.Statement // without what states nothing
}

// usage reads a Content-Usage line: "[path] preferences". Without a path it applies to
// the directory.
func (r *reader) usage(l readers.Line) {
	r.open = false
	if r.everybody != nil {
		return // those for everybody count for robots with rules of their own, too
	}
	path, list := "/", trimSpaces(l.Value)
	onlyNo := list != l.Value // where blanks outside ASCII surround the value, only n counts
	if strings.HasPrefix(list, "/") {
		path, list, _ = strings.Cut(strings.Replace(list, "\t", " ", 1), " ")
	}
	list = strings.Trim(list, " \t")
	said, err := readers.ParseUsage(list)
	if err != nil {
		return
	}

	// A path is literal.
	if i := strings.IndexAny(path, "*$"); i >= 0 {
		onlyNo, path = true, path[:i]
	}
	r.now.prefers = true
	f, ok := r.pattern(path)
	said = slices.DeleteFunc(said, func(s readers.Stated) bool {
		return s.Preference == readers.Unstated || onlyNo && s.Preference != readers.No
	})
	if !ok || r.nobody {
		return
	}
	r.note.count++
	r.now.prefs = append(r.now.prefs, &usageLine{rule{
		form:  f,
		value: list,
		file:  r.file,
		line:  l.Number,
		of:    r.note,
	}, said})
}

// use is a Content-Usage line of the file.
type use struct {
	*usageLine                       // the first that is about the path
	states     map[string]*usageLine // by key: which line states it
	values     map[string]readers.Preference
	over       []changed
}

// changed is a y that changes an n of another annotation.
type changed struct {
	key     string
	yes, no *usageLine
}

// statement returns the line's preferences, sorted by key.
func (u *use) statement() (s readers.Statement) {
	for _, key := range slices.Sorted(maps.Keys(u.values)) {
		s = append(s, readers.Stated{Key: key, Preference: u.values[key]})
	}
	return s
}

// stated is a line that may count for a robot.
type stated struct {
	*usageLine
	own bool // it names the robot
}

// usesOf returns the lines for a class of robots, in the order of the file.
func usesOf(c *class, notes []*note) (list []*use) {
	var lines []stated
	for _, n := range notes {
		if c.joined && n.joined {
			for _, u := range n.refusals() {
				lines = append(lines, stated{u, true})
			}
			continue
		}
		for _, g := range n.general {
			for _, u := range g.prefs {
				lines = append(lines, stated{u, false})
			}
		}
		if c.robot != everybody {
			for _, g := range n.groupsOf(c.robot) {
				for _, u := range g.prefs {
					lines = append(lines, stated{u, true})
				}
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b stated) int { return strings.Compare(a.uri, b.uri) })

	// The prefixes of a path precede it.
	var above []stated
	for len(lines) > 0 {
		n := 1
		for n < len(lines) && lines[n].uri == lines[0].uri {
			n++
		}
		above = slices.DeleteFunc(above, func(s stated) bool {
			return !strings.HasPrefix(lines[0].uri, s.uri)
		})
		above = append(above, lines[:n]...)
		if u := useOf(above, lines[0].usageLine); len(u.values) > 0 {
			list = append(list, u)
		}
		lines = lines[n:]
	}
	slices.SortFunc(list, func(a, b *use) int {
		return compareLines(line{uri: a.uri}, line{uri: b.uri})
	})
	return list
}

// useOf returns the line at a path, of the lines that apply there, shortest path first: for
// each key the last value that counts. A value for everybody does not count if the same
// annotation states the key by name, and a y does not if an annotation above has an n by name.
func useOf(lines []stated, at *usageLine) *use {
	type named struct {
		by  *note
		key string
	}
	states := map[named]bool{}
	refuses := map[string][]*note{} // by key
	for _, s := range lines {
		if !s.own {
			continue
		}
		for _, said := range s.said {
			states[named{s.of, said.Key}] = true
			if by := refuses[said.Key]; said.Preference == readers.No &&
				!slices.Contains(by, s.of) {
				refuses[said.Key] = append(by, s.of)
			}
		}
	}

	u := &use{
		usageLine: at,
		states:    map[string]*usageLine{},
		values:    map[string]readers.Preference{},
	}
	longest := map[string]int{}
	for _, s := range lines {
		for _, said := range s.said {
			key := said.Key
			isAbove := func(n *note) bool { return strings.HasPrefix(s.of.sel, n.sel) }
			if !s.own && (states[named{s.of, key}] ||
				said.Preference == readers.Yes && slices.ContainsFunc(refuses[key], isAbove)) {
				continue
			}
			if len(s.uri) > longest[key] || said.Preference > u.values[key] {
				longest[key] = len(s.uri)
				u.values[key] = said.Preference
				u.states[key] = s.usageLine
			}
		}
	}

	// Note what changes what another annotation refuses.
	for _, key := range slices.Sorted(maps.Keys(u.values)) {
		yes := u.states[key]
		if u.values[key] != readers.Yes || yes.uri != at.uri {
			continue
		}
		for _, s := range lines {
			if s.of != yes.of && s.said.Of(key) == readers.No {
				u.over = append(u.over, changed{key, yes, s.usageLine})
			}
		}
	}
	return u
}

// refusals returns the lines of a joined directory's annotation: each n, of all groups
// but those for veronica alone.
func (n *note) refusals() (list []*usageLine) {
	for _, g := range n.joinable {
		for _, u := range g.prefs {
			if said := slices.DeleteFunc(slices.Clone(u.said), func(s readers.Stated) bool {
				return s.Preference != readers.No
			}); len(said) > 0 {
				list = append(list, &usageLine{u.rule, said})
			}
		}
	}
	return list
}
