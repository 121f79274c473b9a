package lint

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// lines checks each line alone.
func (l *linter) lines() {
	last, blank := readers.KindBlank, false // of the last line with an effect; whether a blank line follows it
	for line := range l.source {
		read, odd := taken(line)
		if l.dir != "" {
			line = read
		}
		l.bytes(line)
		if odd {
			l.oddBlank(line)
		}
		if line.Forgiven {
			l.forgiven(line)
		}
		switch line.Kind {
		case readers.KindBlank, readers.KindComment:
			blank = blank || line.Kind == readers.KindBlank
			continue
		case readers.KindMalformed:
			l.malformed(line)
		case readers.KindAgent:
			l.agent(line)
			if blank && last == readers.KindAgent {
				l.apart[line.Number] = true
			}
		case readers.KindAllow, readers.KindDisallow:
			l.rule(line)
		case readers.KindField:
			if l.dir != "" && isFinal(line) {
				if line.Value == "" {
					continue
				}
				line.Kind = readers.KindDisallow
				l.rule(line)
				break
			}
			l.field(line)
			if l.dialect == readers.Extended && last != readers.KindAgent &&
				strings.EqualFold(line.Field, "robot-version") {
				l.Warn(line.Number, "C3-PLACE",
					"Robot-version counts only directly after User-agent")
			}
		}
		last, blank = line.Kind, false
	}
}

// bytes reports bytes that do not belong in a text file.
func (l *linter) bytes(line readers.Line) {
	text := strings.TrimRight(line.Text, "\r\n")
	if line.Number == 1 && strings.HasPrefix(text, "\ufeff") {
		text = text[len("\ufeff"):]
		l.Notice(1, "R10-BYTES", "begins with a byte order mark, which not all readers skip")
	}
	if line.Number == 1 && l.file.UTF16() {
		l.Warn(1, "R10-BYTES", "the file is in UTF-16, which few robots can read: write it in UTF-8")
	}
	switch {
	case strings.IndexByte(text, 0) >= 0:
		l.Warn(line.Number, "R2-BYTES", "a NUL byte: what follows in the line is not read")
	case strings.ContainsAny(text, "\r\u0085\u2028\u2029"):
		l.Warn(line.Number, "G3-BYTES",
			"a CR, or a line end of Unicode, inside the line: some readers take it for a line end")
	case strings.ContainsFunc(text, func(r rune) bool {
		return r != '\t' && selector.IsControl(r)
	}):
		l.Warn(line.Number, "R10-BYTES", "a control byte")
	case !utf8.ValidString(text):
		l.Notice(line.Number, "R10-BYTES", "not UTF-8")
	}
}

func (l *linter) malformed(line readers.Line) {
	text := strings.TrimSpace(line.Text)
	word, rest, _ := strings.Cut(text, " ")
	if known := closest(word); known != "" {
		l.Error(line.Number, "R2-NO-COLON", "no colon: write %q",
			strings.TrimSpace(known+": "+strings.TrimSpace(rest)))
		return
	}
	l.Warn(line.Number, "R2-NO-COLON", "not a field and a value: the line is ignored")
}

// forgiven reports a field that counts although it is misspelt or has no colon.
func (l *linter) forgiven(line readers.Line) {
	want := "User-agent"
	if line.Kind == readers.KindDisallow {
		want = "Disallow"
	}
	if _, _, colon := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line.Text),
		line.Field), ":"); !colon {
		l.Error(line.Number, "R2-NO-COLON", "no colon: Google and gophd read %q, others nothing",
			want+": "+line.Value)
		return
	}
	l.Error(line.Number, "R2-MISSPELT-FIELD", "Google and gophd read %q as %s, others do not",
		line.Field, want)
}

// field checks a line that is neither User-agent nor a rule.
func (l *linter) field(line readers.Line) {
	if readers.KnownField(line.Field) {
		l.value(line)
		return
	}
	if known := closest(line.Field); known != "" {
		l.Error(line.Number, "R2-MISSPELT-FIELD", "unknown field %q: did you mean %s?",
			line.Field, known)
		return
	}
	l.Warn(line.Number, "R9-UNKNOWN-FIELD",
		"unknown field %q: no robot known to gophd on %s reads it", line.Field,
		readers.FieldsChecked)
}

// value checks the values of fields that take only some.
func (l *linter) value(line readers.Line) {
	var err error
	code := "VALUE"
	switch strings.ToLower(line.Field) {
	case "visit-time":
		_, err = readers.ParseVisitTime(line.Value)
		code = "C7-VALUE"
	case "request-rate":
		_, err = readers.ParseRequestRate(line.Value)
		code = "C8-VALUE"
	case "content-signal":
		l.signal(line)
	case "license":
		if u, err := url.Parse(line.Value); err != nil || !u.IsAbs() { // RSL 1.0
			l.Warn(line.Number, "LICENSE", "%q is no absolute URL", line.Value)
		}
	case "sitemap":
		l.sitemap(line)
	case "crawl-delay":
		var delay time.Duration
		if delay, err = readers.ParseCrawlDelay(line.Value); err == nil && delay >= 24*time.Hour {
			l.Warn(line.Number, "VALUE",
				"a delay of %.0f hours between two requests: write seconds; most robots take no such delay", delay.Hours())
		}
	case "robot-version":
		if _, ok := readers.ParseVersion(line.Value); !ok {
			l.Warn(line.Number, "C3-VALUE", "version %q: taken as 1.0", line.Value)
		}
	case "index":
		if line.Value != "allow" && line.Value != "deny" {
			l.Warn(line.Number, "I3-VALUE", "index is %q: want allow or deny", line.Value)
		}
	case "cooldown":
		if _, bad := strconv.ParseUint(line.Value, 10, 31); bad != nil {
			l.Warn(line.Number, "I6-VALUE", "cooldown is %q, not a number of seconds", line.Value)
		}
	}
	switch {
	case err != nil:
		l.Warn(line.Number, code, "%v: the line is ignored", err)
	case line.Value == "" && !strings.EqualFold(line.Field, "sitemap"):
		l.Warn(line.Number, code, "%s without a value: the line is ignored", line.Field)
	}
}

// sitemap checks the value of a Sitemap line: an absolute URL.
func (l *linter) sitemap(line readers.Line) {
	u, err := url.Parse(line.Value)
	switch {
	case line.Value == "":
		l.Warn(line.Number, "SITEMAP", "a Sitemap without a URL")
	case err != nil || u.Scheme == "" || u.Host == "":
		l.Warn(line.Number, "SITEMAP", "the sitemap %q is no absolute URL", line.Value)
	case !slices.Contains([]string{"http", "https", "gopher", "gophers", "gemini"},
		strings.ToLower(u.Scheme)):
		l.Warn(line.Number, "SITEMAP", "robots fetch no sitemap by %s", u.Scheme)
	}
}

// agent checks a User-agent line.
func (l *linter) agent(line readers.Line) {
	d := l.dialect
	word := readers.ProductToken(line.Value)
	_, rest, _ := strings.Cut(line.Value, ",")
	switch {
	case line.Value == "":
		l.Error(line.Number, "R3-AGENT", "User-agent without a name: no robot is meant")
	case l.dialect == readers.GopherStrict:
		l.Notice(line.Number, "G10-IGNORED",
			"a strict robot ignores User-agent: the rules below bind everyone")
	case l.dir != "" && strings.Contains(line.Value, ","):
		l.Notice(line.Number, "R3-AGENT",
			"each name of the list %q counts here; a line for each is what other programs read, too", line.Value)
		for name := range strings.SplitSeq(line.Value, ",") {
			if readers.ProductToken(name) == "" {
				l.Error(line.Number, "R3-AGENT", "%q names no robot", name)
			}
		}
	case word == "":
		l.Error(line.Number, "R3-AGENT",
			"%q names no robot: only \"*\" alone is every robot, and there are no other wildcards", line.Value)
	case l.dir != "" && !slices.ContainsFunc(strings.Fields(line.Value), func(w string) bool {
		return readers.ProductToken(w) != w
	}):
		// A name with blanks, which gophd writes unchanged and as its first word.
	case readers.ProductToken(rest) != "" && d.Reader().Names != readers.Part:
		l.Warn(line.Number, "R3-AGENT",
			"of the list %q robots take only %q: write a User-agent line for each",
			line.Value, word)
	case word != line.Value && d.Reader().Names != readers.Part:
		l.cut[line.Number] = line.Value
	}
}

// rule checks an Allow, Disallow or Final line.
func (l *linter) rule(line readers.Line) {
	d := l.dialect
	if line.Kind == readers.KindAllow && !d.Reader().Allow {
		code := "G10-IGNORED"
		if d == readers.Standard1994 {
			code = "S7-IGNORED"
		}
		l.Notice(line.Number, code, "Allow means nothing to this dialect")
	}
	if d == readers.Gopher || d == readers.GopherStrict || d == readers.Veronica2 {
		l.gopherRule(line)
	} else {
		l.webRule(line)
	}
	l.unaskable(line.Number, line.Value)
	if line.Kind == readers.KindAllow && trimBlanks(line.Value) != line.Value {
		l.Warn(line.Number, "R2-BLANK",
			"a blank outside ASCII, such as a no-break space, is a part of the pattern")
	}
	gopher := l.dir != "" || !d.Web()
	if meant, why := Meant(line.Value, gopher); len(meant) > 0 {
		severity := diag.Warning
		if !gopher && strings.HasSuffix(line.Value, ".*") && !strings.HasSuffix(line.Value, "/.*") {
			severity = diag.Notice // perhaps all pages of one name, such as /index.*
		}
		l.Add(severity, line.Number, "R7-MEANT", "%q: %s; did you mean %s?", line.Value,
			why, quoted(meant))
	}
	if words := strings.FieldsFunc(line.Value, func(r rune) bool {
		return r == ' ' || r == '\t'
	}); len(words) > 1 && !slices.ContainsFunc(words, func(w string) bool {
		return w[0] != '/' && w[0] != '*'
	}) {
		l.Warn(line.Number, "R2-BLANK",
			"%d paths on one line are read as one pattern: write a line for each", len(words))
	} else if len(words) > 1 {
		l.Notice(line.Number, "R2-BLANK", "the pattern %q has a blank in it", line.Value)
	}
	if _, after, found := strings.Cut(line.Text, line.Value+"#"); found && line.Value != "" &&
		d != readers.Extended {
		l.Notice(line.Number, "G9-COMMENT", "# starts a comment here: %q is no part of the pattern",
			"#"+strings.TrimRight(after, "\r\n"))
	}
}

func (l *linter) gopherRule(line readers.Line) {
	if line.Kind == readers.KindDisallow && line.Value == "" {
		l.Warn(line.Number, "G4-EMPTY",
			"an empty Disallow: no rule to most robots, but read literally it denies everything")
		return
	}
	if line.Kind == readers.KindDisallow &&
		!strings.HasPrefix(strings.TrimPrefix(line.Text, "\ufeff"), "Disallow:") {
		l.Notice(line.Number, "G4-FORM",
			"a strict robot looks for lines that start with \"Disallow:\"")
	}
	if strings.HasSuffix(line.Value, "$") {
		l.Notice(line.Number, "G8-WILDCARD", "$ is an ordinary byte: there is no end anchor")
	}
	if len(line.Value) > longPattern {
		l.Notice(line.Number, "G6-LONG", "%d bytes: a selector has no more than %d",
			len(line.Value), longPattern)
	}
}

// badEscape finds a percent sign without two hex digits behind it.
var badEscape = regexp.MustCompile(`%([^0-9A-Fa-f]|.[^0-9A-Fa-f]|.?$)`)

func (l *linter) webRule(line readers.Line) {
	p := line.Value
	switch {
	case p == "", l.noPath(p) && l.dir == "":
		return
	case l.dialect == readers.RFC9309 && len(l.dir) < 2 &&
		(p == "/robots.txt" || p == "/robots.txt$"):
		l.Warn(line.Number, "R5-NEVER",
			"%q never decides about the robots file itself, which may always be fetched", p)
	case (l.dialect == readers.Standard1994 || l.dialect == readers.Gemini) &&
		strings.ContainsAny(p, "*$"):
		l.Warn(line.Number, "S4-WILDCARD", "* and $ are ordinary bytes in %q", p)
	case l.dialect == readers.RFC9309 && badEscape.MatchString(p):
		l.Warn(line.Number, "R6-ESCAPE",
			"a %% in %q begins no escape: it stands for the byte, which is written %%25", p)
	case l.dialect == readers.RFC9309 && strings.Contains(p[:len(p)-1], "$"):
		l.Notice(line.Number, "R7-WILDCARD",
			"$ means the end only at the end of a pattern; write %%24 for the byte")
	}
}

// closest returns the field that a name is a misspelling of, or "".
func closest(name string) string {
	name = strings.ToLower(name)
	// What people write for User-agent is further away than two letters.
	if name == "usage-agent" || name == "agent" || name == "user" {
		return "User-agent"
	}
	for _, known := range []string{"Disallow", "Allow", "User-agent", "Sitemap", "Crawl-delay",
		"Request-rate", "Visit-time", "Robot-version", "Comment"} {
		if diag.Distance(name, strings.ToLower(known), 3) <= min(2, len(known)/4) {
			return known
		}
	}
	return ""
}
