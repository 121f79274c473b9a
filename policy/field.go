package policy

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gophd/gophd/robots"
)

// siteField is a field that is about the whole site.
type siteField struct {
	name  string // as it is written into the file
	value string
	file  string
	line  int
}

// siteFieldNames are the fields that may stand in the root's annotation, as they
// are written, and what their values must be like.
var siteFieldNames = []struct {
	name  string
	valid func(string) bool
}{
	{"Crawl-delay", func(v string) bool { _, err := robots.ParseCrawlDelay(v); return err == nil }},
	{"Request-rate", func(v string) bool { _, err := robots.ParseRequestRate(v); return err == nil }},
	{"Visit-time", func(v string) bool { _, err := robots.ParseVisitTime(v); return err == nil }},
	{"Comment", nil},
	{"Sitemap", nil},
	{"Index", func(v string) bool { return strings.EqualFold(v, "allow") || strings.EqualFold(v, "deny") }},
	{"Cooldown", func(v string) bool { _, err := strconv.ParseUint(v, 10, 31); return err == nil }},
}

// field keeps a site-wide field, or reports it: unknown, misplaced, or with a
// value that no robot understands.
func (n *note) field(a *Annotation, l robots.Line, root bool) {
	for _, f := range siteFieldNames {
		switch {
		case !strings.EqualFold(f.name, l.Field):
			continue
		case !root:
			n.report(a, CodeMisplacedField, l.Number, f.name+" is about the whole site and counts in the root's annotation only")
		case l.Value == "" || !printable(l.Value) || f.valid != nil && !f.valid(l.Value):
			n.report(a, CodeSyntax, l.Number, fmt.Sprintf("not a value for %s: %.60q", f.name, l.Value))
		default:
			n.fields = append(n.fields, siteField{f.name, l.Value, a.File, l.Number})
		}
		return
	}
	n.report(a, CodeSyntax, l.Number, fmt.Sprintf("unknown field: %.60q", l.Field))
}

// printable reports whether a value may be written out: no control octet.
func printable(v string) bool {
	return strings.IndexFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f }) < 0
}

// SiteFields are what the root's annotation says about the whole site, for
// caps.txt and the CRAWLER token of an IRC network.
type SiteFields struct {
	CrawlDelay   string   // seconds, decimals allowed; "" if not said
	RequestRates []string // as in an Extended Standard, 2.0 (C8)
	VisitTimes   []string // UT, HHMM-HHMM (C7)
	Comments     []string // for the authors of robots (C9)
	Sitemaps     []string // URLs
	Index        string   // "allow", "deny", or "" if not said
	Cooldown     int      // seconds until a robot may look again; 0 if not said
}

// Crawler gives the preference that Index and Cooldown ask for, as an IRC network
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

// siteFields collects the values; of those that can stand once only, the first
// counts.
func siteFields(fields []siteField) SiteFields {
	var s SiteFields
	for _, f := range fields {
		switch f.name {
		case "Crawl-delay":
			s.CrawlDelay = first(s.CrawlDelay, f.value)
		case "Request-rate":
			s.RequestRates = append(s.RequestRates, f.value)
		case "Visit-time":
			s.VisitTimes = append(s.VisitTimes, f.value)
		case "Comment":
			s.Comments = append(s.Comments, f.value)
		case "Sitemap":
			s.Sitemaps = append(s.Sitemaps, f.value)
		case "Index":
			s.Index = first(s.Index, strings.ToLower(f.value))
		case "Cooldown":
			if s.Cooldown == 0 {
				s.Cooldown, _ = strconv.Atoi(f.value)
			}
		}
	}
	return s
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
