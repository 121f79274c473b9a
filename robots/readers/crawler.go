package readers

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gophd/gophd/diag"
)

// Indexing states whether an IRC network may be indexed.
type Indexing uint8

// The three states. Only IndexAllow is a permission; a crawler that finds
// IndexUnspecified follows its own rules.
const (
	IndexUnspecified Indexing = iota
	IndexAllow
	IndexDeny
)

// String returns unspecified, allow or deny.
func (i Indexing) String() string {
	switch i {
	case IndexAllow:
		return "allow"
	case IndexDeny:
		return "deny"
	}
	return "unspecified"
}

// The cooldown of a token that gives none, and the longest one that is kept
// (292 years); both are whole seconds.
const (
	DefaultCooldown = time.Hour
	MaxCooldown     = math.MaxInt64 / time.Second * time.Second
)

// Crawler is the preference of an IRC network, not of one of its servers, as
// the ISUPPORT token CRAWLER gives it (IRCv3 Crawler Preference). The zero
// Crawler is unspecified.
type Crawler struct {
	Index    Indexing
	Cooldown time.Duration // before the next visit; with IndexDeny: before asking again
}

// String returns the token, or "" if the preference is unspecified: then a network sends
// no token.
func (c Crawler) String() string {
	if c.Index == IndexUnspecified {
		return ""
	}
	return "CRAWLER=index:" + c.Index.String() +
		",cooldown:" + strconv.FormatInt(int64(c.Cooldown/time.Second), 10)
}

// ParseCrawler reads the preference from ISUPPORT tokens in the order they
// came: a later one replaces an earlier one, -CRAWLER takes it back, and one
// without a value is ignored. It never fails: whatever does not parse is
// diagnosed, and never read as a permission.
func ParseCrawler(tokens ...string) (Crawler, []diag.Diagnostic) {
	name, value := lastCrawler(tokens)
	if value == "" {
		return Crawler{Cooldown: DefaultCooldown}, nil
	}
	var d crawlerData
	if name != CrawlerToken {
		d.report("I7-TOKEN-CASE", "the token is written %q: not every crawler knows it so", name)
		d.problems[0].Severity = diag.Notice
	}
	for datum := range strings.SplitSeq(decodeHex(value), ",") {
		d.add(datum)
	}
	return d.result()
}

// CrawlerToken is the name of the token.
const CrawlerToken = "CRAWLER"

// lastCrawler returns the token that applies after all others, or nothing.
func lastCrawler(tokens []string) (name, value string) {
	for _, token := range tokens {
		n, v, _ := strings.Cut(token, "=")
		switch {
		case strings.EqualFold(n, "-"+CrawlerToken):
			name, value = "", ""
		case strings.EqualFold(n, CrawlerToken) && v != "":
			name, value = n, v
		}
	}
	return name, value
}

// decodeHex decodes \xHH, as ISUPPORT values escape a byte; it does not change anything
// else.
func decodeHex(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, `\x`)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		s = after
		c, err := strconv.ParseUint(after[:min(2, len(after))], 16, 8)
		if err != nil || len(after) < 2 {
			b.WriteString(`\x`)
			continue
		}
		b.WriteByte(byte(c))
		s = after[2:]
	}
}

// crawlerData gathers the data of one CRAWLER token. Of several values for one
// key the most restrictive wins.
type crawlerData struct {
	index, cooldown       bool // the key was there
	allow, deny, badIndex bool // the values of index
	longest               time.Duration
	problems              []diag.Diagnostic
}

// add takes one datum, key:value.
func (d *crawlerData) add(datum string) {
	key, value, _ := strings.Cut(datum, ":")
	switch {
	case datum == "":
		d.report("I1-EMPTY-DATUM", "nothing between two commas")
	case strings.EqualFold(key, "index"):
		d.once(&d.index, "index")
		d.addIndex(value)
	case strings.EqualFold(key, "cooldown"):
		d.once(&d.cooldown, "cooldown")
		d.longest = max(d.longest, d.parseCooldown(value))
	}
}

// once notes that a key is there and reports that it was before.
func (d *crawlerData) once(seen *bool, key string) {
	if *seen {
		d.report("I5-DUPLICATE", "%s is there more than once: the most restrictive counts", key)
	}
	*seen = true
}

func (d *crawlerData) addIndex(value string) {
	switch {
	case value == "allow":
		d.allow = true
	case value == "deny":
		d.deny = true
	case strings.EqualFold(value, "deny"):
		d.deny = true
		d.report("I3-INDEX-VALUE",
			"index is %q: taken as deny, which is written in lower case", value)
	default:
		d.badIndex = true
		d.report("I3-INDEX-VALUE", "index is %q: want allow or deny", value)
	}
}

// parseCooldown reads seconds: digits only, and no more than fit.
func (d *crawlerData) parseCooldown(value string) time.Duration {
	if !digits(value) {
		d.report("I6-COOLDOWN-VALUE",
			"cooldown is %q, not a number of seconds: taken as %d", value,
			int(DefaultCooldown.Seconds()))
		return DefaultCooldown
	}
	seconds, err := strconv.ParseInt(value, 10, 64)
	if err != nil || seconds > int64(MaxCooldown/time.Second) {
		d.report("I6-COOLDOWN-RANGE", "cooldown of %s seconds is longer than a lifetime", value)
		return MaxCooldown
	}
	return time.Duration(seconds) * time.Second
}

// result combines the parts of the token. A bad index revokes a permission, but not
// a prohibition.
func (d *crawlerData) result() (Crawler, []diag.Diagnostic) {
	c := Crawler{Cooldown: d.longest}
	if !d.cooldown {
		c.Cooldown = DefaultCooldown
	}
	switch {
	case d.deny:
		c.Index = IndexDeny
	case d.allow && !d.badIndex:
		c.Index = IndexAllow
	case !d.index:
		d.report("I3-INDEX-MISSING", "no index: neither allowed nor denied")
	}
	return c, d.problems
}

// report adds a diagnostic that rests on a requirement.
func (d *crawlerData) report(code, format string, args ...any) {
	d.problems = append(d.problems, diag.Diagnostic{
		Code:     code,
		Severity: diag.Warning,
		Message:  fmt.Sprintf(format, args...),
	})
}
