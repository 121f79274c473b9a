package policy

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/gophd/gophd/robots"
)

// siteField is a field that is about the whole site, as the root's annotation says it.
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
	{"Crawl-delay", func(v string) bool { _, err := robots.ParseCrawlDelay(v); return err == nil }, false},
	{"Request-rate", func(v string) bool { _, err := robots.ParseRequestRate(v); return err == nil }, false},
	{"Visit-time", func(v string) bool { _, err := robots.ParseVisitTime(v); return err == nil }, false},
	{"Comment", nil, false},
	{"Content-Signal", nil, false},
	{"Index", func(v string) bool { return strings.EqualFold(v, "allow") || strings.EqualFold(v, "deny") }, false},
	{"Cooldown", func(v string) bool { _, err := strconv.ParseUint(v, 10, 31); return err == nil }, false},
	{"Sitemap", nil, true},
	{"License", func(v string) bool { u, err := url.Parse(v); return err == nil && u.IsAbs() }, true},
}

// field keeps a site-wide field, or reports it: unknown, misplaced, or with a
// value that no robot understands.
func (r *reader) field(l robots.Line) {
	for i := range siteFieldNames {
		f := &siteFieldNames[i]
		switch {
		case !strings.EqualFold(f.name, l.Field):
			continue
		case !r.root:
			r.report(CodeMisplacedField, l.Number, "%s is about the whole site and counts in the root's annotation only", f.name)
		case l.Value == "" || strings.ContainsFunc(l.Value, isControl) || f.valid != nil && !f.valid(l.Value):
			r.report(CodeSyntax, l.Number, "not a value for %s: %.60q", f.name, l.Value)
		default:
			r.note.fields = append(r.note.fields, siteField{f, &rule{value: l.Value, file: r.file, line: l.Number}})
			if f.name == "Content-Signal" {
				r.signal(l)
			}
		}
		if !f.end {
			r.bare = append(r.bare, l.Number)
		}
		return
	}
	if near(strings.ToLower(l.Field), "allow") {
		r.report(CodeMisspelt, l.Number, "%.60q is near Allow, but opens nothing", l.Field)
		return
	}
	r.report(CodeSyntax, l.Number, "unknown field: %.60q", l.Field)
}

// usage takes a Content-Usage line: "[path] preferences". Without a path it is
// about the directory. Keys that are not known are reported and left out.
func (r *reader) usage(l robots.Line) {
	r.lines, r.bare = 0, nil
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
		r.report(CodePreference, l.Number, "%.60q is not a known preference, so it is left out", key)
	}
	for _, s := range said {
		if s.Preference == robots.Unstated {
			r.report(CodePreference, l.Number, "the value of %s is neither y nor n, so nothing is stated", s.Key)
		}
	}
	if len(said) == 0 {
		return
	}
	r.note.rules++
	for _, s := range r.sets {
		s.prefers = true
	}
	for _, f := range r.patterns(l, path, true) {
		for _, s := range r.sets {
			s.prefs = append(s.prefs, &rule{form: f, usage: restrict(list, list), value: list, file: r.file, line: l.Number, owner: r.at.top()})
		}
	}
}

// signal takes the value of a Content-Signal line apart, to tell of what is not known.
func (r *reader) signal(l robots.Line) {
	for item := range strings.SplitSeq(l.Value, ",") {
		key, value, _ := strings.Cut(strings.ToLower(item), "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch c, known := robots.CategoryOfSignal(key); {
		case !known:
			r.report(CodePreference, l.Number, "%.60q is not a known preference; it is written as it is", key)
		case !c.IsValue(value):
			r.report(CodePreference, l.Number, "the value of %s is not known; it is written as it is", key)
		}
	}
}

// restrict puts two dictionaries of preferences, both of which can be read, together in
// one spelling. Where they say different things of a key, the one that permits less is
// taken.
func restrict(a, b string) string {
	said, _ := robots.ParseUsage(a)
	more, _ := robots.ParseUsage(b)
	first, _ := httpsfv.UnmarshalDictionary([]string{a})
	second, _ := httpsfv.UnmarshalDictionary([]string{b})
	both := httpsfv.NewDictionary()
	for _, s := range said.Combine(more) { // sorted by key
		member, ok := first.Get(s.Key)
		if !ok || more.Of(s.Key) > said.Of(s.Key) {
			member, _ = second.Get(s.Key)
		}
		both.Add(s.Key, member)
	}
	text, _ := httpsfv.Marshal(both)
	return text
}

// SiteFields are what the root's annotation says about the whole site, for
// caps.txt and the CRAWLER token of an IRC network. Of a field that stands there more
// than once, the first counts.
type SiteFields struct {
	CrawlDelay string // seconds, decimals allowed; "" if not said
	Index      string // "allow", "deny", or "" if not said
	Cooldown   int    // seconds until a robot may look again; 0 if not said
}

// Crawler returns the preference that Index and Cooldown ask for, as an IRC network
// states it.
func (s SiteFields) Crawler() robots.Crawler {
	c := robots.Crawler{Cooldown: robots.DefaultCooldown}
	switch s.Index {
	case "allow":
		c.Index = robots.IndexAllow
	case "deny":
		c.Index = robots.IndexDeny
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
		}
	}
	return s
}
