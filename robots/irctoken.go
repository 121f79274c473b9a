package robots

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseISupport reads the preference from lines that a server sent; other
// lines than 005 are passed over. See [ParseCrawler].
func ParseISupport(lines ...string) (Crawler, []Diagnostic) {
	var tokens []string
	for _, line := range lines {
		tokens = append(tokens, ISupportTokens(line)...)
	}
	return ParseCrawler(tokens...)
}

// ParseCrawler reads the preference from ISUPPORT tokens in the order they
// came: a later one replaces an earlier one, -CRAWLER takes it back, and one
// without a value is ignored. It never fails: whatever does not parse is
// diagnosed, and never read as a permission.
func ParseCrawler(tokens ...string) (Crawler, []Diagnostic) {
	name, value := lastCrawler(tokens)
	if value == "" {
		return Crawler{Cooldown: DefaultCooldown}, nil
	}
	var d crawlerData
	if name != crawlerToken {
		d.report("I7", "token-case", "the token is written %q: not every crawler knows it so", name)
		d.problems[0].Severity = Note
	}
	for datum := range strings.SplitSeq(unescape(value), ",") {
		d.add(datum)
	}
	return d.result()
}

// crawlerToken is the name of the token.
const crawlerToken = "CRAWLER"

// lastCrawler gives the token that holds after all others, or nothing.
func lastCrawler(tokens []string) (name, value string) {
	for _, token := range tokens {
		n, v, _ := strings.Cut(token, "=")
		switch {
		case strings.EqualFold(n, "-"+crawlerToken):
			name, value = "", ""
		case strings.EqualFold(n, crawlerToken) && v != "":
			name, value = n, v
		}
	}
	return name, value
}

// unescape decodes \xHH, as ISUPPORT values escape an octet; anything else
// stays as it is.
func unescape(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, `\x`)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		s = after
		octet, err := strconv.ParseUint(after[:min(2, len(after))], 16, 8)
		if err != nil || len(after) < 2 {
			b.WriteString(`\x`)
			continue
		}
		b.WriteByte(byte(octet))
		s = after[2:]
	}
}

// crawlerData gathers the data of one CRAWLER token. Of several values for one
// key the most restrictive wins.
type crawlerData struct {
	index, cooldown       bool // the key was there
	allow, deny, badIndex bool // what was said of index
	longest               time.Duration
	problems              []Diagnostic
}

// add takes one datum, key:value.
func (d *crawlerData) add(datum string) {
	key, value, _ := strings.Cut(datum, ":")
	switch {
	case datum == "":
		d.report("I1", "empty-datum", "nothing between two commas")
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
		d.report("I5", "duplicate", "%s is there more than once: the most restrictive counts", key)
	}
	*seen = true
}

func (d *crawlerData) addIndex(value string) {
	switch value {
	case "allow":
		d.allow = true
	case "deny":
		d.deny = true
	default:
		d.badIndex = true
		d.report("I3", "index-value", "index is %q: want allow or deny", value)
	}
}

// parseCooldown reads seconds: digits only, and no more than fit.
func (d *crawlerData) parseCooldown(value string) time.Duration {
	if !digits(value) {
		d.report("I6", "cooldown-value",
			"cooldown is %q, not a number of seconds: taken as %d", value, int(DefaultCooldown.Seconds()))
		return DefaultCooldown
	}
	seconds, err := strconv.ParseInt(value, 10, 64)
	if err != nil || seconds > int64(MaxCooldown/time.Second) {
		d.report("I6", "cooldown-range", "cooldown of %s seconds is longer than a lifetime", value)
		return MaxCooldown
	}
	return time.Duration(seconds) * time.Second
}

// result weighs what was gathered. A bad index beside a good one takes a
// permission back, but not a prohibition.
func (d *crawlerData) result() (Crawler, []Diagnostic) {
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
		d.report("I3", "index-missing", "no index: neither allowed nor denied")
	}
	return c, d.problems
}

// report adds a diagnostic that rests on a requirement.
func (d *crawlerData) report(id, code, format string, args ...any) {
	d.problems = append(d.problems, Diagnostic{ID: id, Code: code, Message: fmt.Sprintf(format, args...)})
}
