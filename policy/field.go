package policy

import (
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
	{"Agentmap", nil, true},
	{"Schemamap", nil, true},
	{"License", func(v string) bool { u, err := url.Parse(v); return err == nil && u.IsAbs() }, true},
}

// field keeps a site-wide field whose value robots understand.
func (r *reader) field(l readers.Line) {
	for i := range siteFieldNames {
		f := &siteFieldNames[i]
		switch {
		case !strings.EqualFold(f.name, l.Field):
			continue
		case r.note.top != "":
			r.report(CodeMisplacedField, l.Number, "%s is about the whole site and counts in the root's annotation only", f.name)
		case l.Value == "" || selector.HasControl(l.Value) || strings.ContainsFunc(l.Value, endsLine) || f.valid != nil && !f.valid(l.Value):
			// The report about the line says so.
		default:
			r.note.fields = append(r.note.fields, siteField{f, &rule{value: l.Value, file: r.file, line: l.Number}})
		}
		return
	}
	if readers.KnownField(l.Field) {
		r.report(CodeMisplacedField, l.Number, "%s is not written into a robots.txt", l.Field)
	}
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
