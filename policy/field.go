package policy

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// siteField is a site-wide field of the root's annotation.
type siteField struct {
	*siteFieldName
	*rule
}

// siteFieldName is a field that may stand in the root's annotation.
type siteFieldName struct {
	name  string // as it is written into the file
	valid func(string) bool
	end   bool // it belongs to no group, and stands at the end of the file
}

var siteFieldNames = []siteFieldName{
	{"Crawl-delay", func(v string) bool { _, err := readers.ParseCrawlDelay(v); return err == nil }, false},
	{"Request-rate", func(v string) bool { _, err := readers.ParseRequestRate(v); return err == nil }, false},
	{"Visit-time", func(v string) bool { _, err := readers.ParseVisitTime(v); return err == nil }, false},
	{"Comment", nil, false},
	{"Content-Signal", nil, false},
	{"Index", func(v string) bool { return strings.EqualFold(v, "allow") || strings.EqualFold(v, "deny") }, false},
	{"Cooldown", func(v string) bool { _, err := strconv.ParseUint(v, 10, 31); return err == nil }, false},
	{"Sitemap", nil, true},
	{"License", func(v string) bool { u, err := url.Parse(v); return err == nil && u.IsAbs() }, true},
}

// field keeps a site-wide field, or reports it: unknown, misplaced, or with a
// value that no robot understands.
func (r *reader) field(l readers.Line) {
	for i := range siteFieldNames {
		f := &siteFieldNames[i]
		switch {
		case !strings.EqualFold(f.name, l.Field):
			continue
		case r.note.top != "":
			r.report(CodeMisplacedField, l.Number, "%s is about the whole site and counts in the root's annotation only", f.name)
		case l.Value == "" || selector.HasControl(l.Value) || f.valid != nil && !f.valid(l.Value):
			r.report(CodeSyntax, l.Number, "not a value for %s: %.60q", f.name, l.Value)
		default:
			r.note.fields = append(r.note.fields, siteField{f, &rule{value: l.Value, file: r.file, line: l.Number}})
			if f.name == "Content-Signal" {
				r.signal(l)
			}
		}
		if !f.end {
			r.ends()
		}
		return
	}
	if field := strings.ToLower(l.Field); field != "allow" && diag.Distance(field, "allow", 3) < 2 {
		r.report(CodeMisspelt, l.Number, "%.60q is near Allow, but opens nothing", l.Field)
		return
	}
	r.report(CodeSyntax, l.Number, "unknown field: %.60q", l.Field)
}

// usageLine is a Content-Usage line.
type usageLine struct {
	rule                  // its value is the dictionary
	said robots.Statement // without what states nothing
}

// usage reads a Content-Usage line: "[path] preferences". Without a path it applies to
// the directory.
func (r *reader) usage(l readers.Line) {
	r.lines, r.bare = 0, 0
	path, list := "/", l.Value
	if strings.HasPrefix(list, "/") {
		path, list, _ = strings.Cut(strings.Replace(list, "\t", " ", 1), " ")
	}
	list = strings.TrimSpace(list)
	said, err := robots.ParseUsage(list)
	if err != nil {
		r.report(CodeSyntax, l.Number, "no preferences: %.60q", l.Value)
		return
	}
	for _, key := range robots.UnknownKeys(list) {
		r.report(CodePreference, l.Number, "%.60q is not a known preference: it is left out", key)
	}
	for _, s := range said {
		if s.Preference == robots.Unstated {
			r.report(CodePreference, l.Number, "the value of %s is neither y nor n, so nothing is stated", s.Key)
		}
		r.superseded(l, robots.CategoryOf, s.Key)
	}
	r.now.prefers = true
	f, ok := r.pattern(l, path)
	said = slices.DeleteFunc(said, func(s robots.Stated) bool { return s.Preference == robots.Unstated })
	if !ok || r.nobody {
		return
	}
	r.note.count++
	r.now.prefs = append(r.now.prefs, &usageLine{rule{form: f, value: list, file: r.file, line: l.Number, of: r.note}, said})
}

// superseded reports a key that the current vocabulary no longer has.
func (r *reader) superseded(l readers.Line, find func(string) (robots.Category, bool), key string) {
	c, known := find(key)
	switch {
	case !known || c.Until == "":
	case c.Instead != "":
		r.report(CodeSuperseded, l.Number, "since %s it is %s instead of %s", c.Until, c.Instead, key)
	default:
		r.report(CodeSuperseded, l.Number, "since %s %s is no preference any more", c.Until, key)
	}
}

// signal reports unknown keys and values of a Content-Signal line, written unchanged.
func (r *reader) signal(l readers.Line) {
	for item := range strings.SplitSeq(l.Value, ",") {
		key, value, _ := strings.Cut(item, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if c, known := robots.CategoryOfSignal(key); !known {
			r.report(CodePreference, l.Number, "%.60q is not a known signal; it is written as it is", key)
		} else if !c.IsValue(value) {
			r.report(CodePreference, l.Number, "%.60q is not a value of %s; it is written as it is", value, key)
		}
		r.superseded(l, robots.CategoryOfSignal, key)
	}
}

// use is a Content-Usage line of the file. It states all preferences that hold at its
// path, so the longest matching line alone gives the policy.
type use struct {
	*usageLine                       // the first that is about the path
	states     map[string]*usageLine // by key: which line states it
	values     map[string]robots.Preference
	own        bool         // it names the robot
	above      []*usageLine // of directories above, by name: what a line for everybody must not change
	widened    *usageLine   // it has an n of this line, which is about some of its names
}

// usesOf returns a robot's preferences: each directory's for it, or else for everybody.
func usesOf(token string, notes []*note) (list []*use) {
	type level struct {
		sel   string
		named []*usageLine
	}
	above := []level{}
	for _, n := range notes {
		for len(above) > 0 && !strings.HasPrefix(n.sel, above[len(above)-1].sel) {
			above = above[:len(above)-1]
		}
		groups, own := n.groupsOf(token, func(s *group) bool { return s.prefers })
		at := level{sel: n.sel}
		if len(above) > 0 {
			at.named = above[len(above)-1].named
		}
		over := at.named
		for _, g := range groups {
			for _, p := range g.prefs {
				u := &use{usageLine: p, states: map[string]*usageLine{}, values: map[string]robots.Preference{}, own: own}
				if !own {
					u.above = over
				} else {
					at.named = append(at.named[:len(at.named):len(at.named)], p)
				}
				for _, s := range p.said {
					u.states[s.Key], u.values[s.Key] = p, s.Preference
				}
				list = append(list, u)
			}
		}
		above = append(above, at)
	}
	return inherit(list)
}

// leftOut reports whether a line's key does not count where another pattern matches,
// because a directory above states the key for the robot by name.
func (u *use) leftOut(key, where string) bool {
	return slices.ContainsFunc(u.above, func(p *usageLine) bool { return p.said.Of(key) != robots.Unstated && covers(p.uri, where) })
}

// inherit adds the preferences that lines inherit. A line of the root and any other may
// affect each other; other lines affect only their own top-level directory. Lines about
// one path inherit the same.
func inherit(list []*use) []*use {
	tops := map[string][]*use{}
	for _, u := range list {
		tops[u.of.top] = append(tops[u.of.top], u)
	}
	var made []*use
	for _, u := range list {
		near := slices.Concat(tops[""], tops[u.of.top])
		if u.of.top == "" {
			near = list
		}
		made = append(made, u.inherit(near))
	}
	slices.SortStableFunc(made, func(a, b *use) int { return compareLines(line{text: a.uri}, line{text: b.uri}) })
	made = slices.CompactFunc(made, func(a, b *use) bool { return a.uri == b.uri })
	return slices.DeleteFunc(made, func(u *use) bool { return len(u.values) == 0 })
}

// inherit returns a line with all preferences at its path. The longest line that covers
// it counts; but n wins if a line that decides some of its names states n.
func (u *use) inherit(from []*use) *use {
	made := &use{usageLine: u.usageLine, states: map[string]*usageLine{}, values: map[string]robots.Preference{}}
	longest := map[string]int{}
	for _, o := range from {
		if len(o.uri) > len(u.uri) || !covers(o.uri, u.uri) {
			continue
		}
		for key, value := range o.values {
			if o.leftOut(key, u.uri) || len(o.uri) < longest[key] || len(o.uri) == longest[key] && value <= made.values[key] {
				continue
			}
			longest[key], made.values[key], made.states[key] = len(o.uri), value, o.states[key]
		}
	}
	widen := func(o *usageLine, named bool) {
		for _, s := range o.said {
			if s.Preference == robots.No && made.values[s.Key] != robots.No && (named || len(o.uri) >= longest[s.Key]) {
				made.values[s.Key], made.states[s.Key], made.widened = robots.No, o, o
			}
		}
	}
	for _, o := range from {
		if len(o.uri) > len(u.uri) || !mayMeet(o.uri, u.uri) {
			continue
		}
		if !covers(o.uri, u.uri) {
			widen(o.usageLine, false)
			continue
		}
		for _, p := range o.above {
			if len(p.uri) <= len(u.uri) && mayMeet(p.uri, u.uri) && !covers(p.uri, u.uri) {
				widen(p, true)
			}
		}
	}
	return made
}

// statement returns the line's preferences, sorted by key.
func (u *use) statement() (s robots.Statement) {
	for _, key := range slices.Sorted(maps.Keys(u.values)) {
		s = append(s, robots.Stated{Key: key, Preference: u.values[key]})
	}
	return s
}

// SiteFields holds the site-wide fields of the root's annotation, for caps.txt, web
// pages and the CRAWLER token of an IRC network. If a field is repeated, the first one counts.
type SiteFields struct {
	CrawlDelay string // seconds, decimals allowed; "" if not said
	Index      string // "allow", "deny", or "" if not said
	Cooldown   int    // seconds until a robot may look again; 0 if not said
	License    string // the URL of the license (RSL 1.0), "" if not said
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
