package robots

import (
	"strings"
	"unicode/utf8"
)

// lines looks at each line alone.
func (l *linter) lines() {
	last := KindBlank // of the last line that means anything
	for line := range l.file.Lines() {
		l.octets(line)
		switch line.Kind {
		case KindBlank, KindComment:
			continue
		case KindMalformed:
			l.malformed(line)
		case KindAgent:
			l.agent(line)
		case KindAllow, KindDisallow:
			l.rule(line)
		case KindField:
			l.field(line)
			l.place(line, last)
		}
		last = line.Kind
	}
}

// place looks for a Robot-version that stands where it does not count.
func (l *linter) place(line Line, last Kind) {
	if l.file.dialect == Extended && last != KindAgent && strings.EqualFold(line.Field, "robot-version") {
		l.warn(line.Number, "place", "C3", "Robot-version counts only directly after User-agent")
	}
}

// octets looks for what does not belong into a text file.
func (l *linter) octets(line Line) {
	text := strings.TrimRight(line.Text, "\r\n")
	if line.Number == 1 && strings.HasPrefix(text, byteOrderMark) {
		text = text[len(byteOrderMark):]
		l.note(1, "octets", "R10", "begins with a byte order mark, which not all readers skip")
	}
	switch {
	case strings.IndexByte(text, 0) >= 0:
		l.warn(line.Number, "octets", "R2", "a NUL octet: what follows in the line is not read")
	case strings.IndexByte(text, '\r') >= 0:
		l.warn(line.Number, "octets", "G3", "a CR inside the line: some readers take it for a line end")
	case strings.ContainsFunc(text, isControl):
		l.warn(line.Number, "octets", "R10", "a control octet")
	case !utf8.ValidString(text):
		l.note(line.Number, "octets", "R10", "not UTF-8")
	}
}

func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

func (l *linter) malformed(line Line) {
	text := trimBlanks(line.Text)
	word, rest, _ := strings.Cut(text, " ")
	if known := closest(word); known != "" && rest != "" {
		l.warn(line.Number, "no-colon", "R2", "no colon: write %q", known+": "+strings.TrimSpace(rest))
		return
	}
	l.warn(line.Number, "no-colon", "R2", "not a field and a value: the line is ignored")
}

// field looks at a line that is neither User-agent nor a rule.
func (l *linter) field(line Line) {
	if isKnown(line.Field) {
		l.value(line)
		return
	}
	if known := closest(line.Field); known != "" {
		l.warn(line.Number, "misspelt-field", "R2", "unknown field %q: did you mean %s?", line.Field, known)
		return
	}
	l.note(line.Number, "unknown-field", "R9", "unknown field %q: no robot is known to read it", line.Field)
}

// value looks at values that have a range.
func (l *linter) value(line Line) {
	var err error
	id := ""
	switch strings.ToLower(line.Field) {
	case "visit-time":
		_, err = ParseVisitTime(line.Value)
		id = "C7"
	case "request-rate":
		_, err = ParseRequestRate(line.Value)
		id = "C8"
	case "crawl-delay":
		_, err = ParseCrawlDelay(line.Value)
	case "robot-version":
		if _, _, ok := cutVersion(line.Value); !ok {
			l.warn(line.Number, "value", "C3", "version %q: taken as 1.0", line.Value)
		}
	case "index":
		if line.Value != "allow" && line.Value != "deny" {
			l.warn(line.Number, "value", "I3", "index is %q: want allow or deny", line.Value)
		}
	case "cooldown":
		if !digits(line.Value) {
			l.warn(line.Number, "value", "I6", "cooldown is %q, not a number of seconds", line.Value)
		}
	}
	if err != nil {
		l.warn(line.Number, "value", id, "%v: the line is ignored", err)
	}
}

func (l *linter) agent(line Line) {
	word := token(line.Value)
	switch {
	case line.Value == "":
		l.warn(line.Number, "agent", "R3", "User-agent without a name: no robot is meant")
	case l.file.dialect == GopherStrict:
		l.note(line.Number, "ignored", "G10", "a strict robot ignores User-agent: the rules below bind everyone")
	case word == "":
		l.warn(line.Number, "agent", "R3", "%q names no robot: only \"*\" alone is every robot, and there are no other wildcards", line.Value)
	case word != line.Value && l.file.dialect != Standard1994 && l.file.dialect != Extended:
		l.note(line.Number, "agent", "R3", "only %q of %q is compared", word, line.Value)
	}
}

// rule looks at an Allow or Disallow line.
func (l *linter) rule(line Line) {
	d := l.file.dialect
	if line.Kind == KindAllow && !d.style(version2).allow {
		id := "G10"
		if d == Standard1994 {
			id = "S7"
		}
		l.note(line.Number, "ignored", id, "Allow means nothing to this dialect")
	}
	if d == Gopher || d == GopherStrict || d == Veronica2 {
		l.gopherRule(line)
	} else {
		l.webRule(line)
	}
	if strings.ContainsAny(line.Value, " \t") {
		l.note(line.Number, "blank", "R2", "the pattern %q has a blank in it", line.Value)
	}
	if _, after, found := strings.Cut(line.Text, line.Value+"#"); found && line.Value != "" && d != Extended {
		l.note(line.Number, "comment", "G9", "# starts a comment here: %q is no part of the pattern", "#"+strings.TrimRight(after, "\r\n"))
	}
}

func (l *linter) gopherRule(line Line) {
	if line.Kind == KindDisallow && line.Value == "" {
		l.warn(line.Number, "empty", "G4", "an empty Disallow: no rule to most robots, but read literally it bars everything")
		return
	}
	if line.Kind == KindDisallow && !strings.HasPrefix(strings.TrimPrefix(line.Text, byteOrderMark), "Disallow:") {
		l.note(line.Number, "form", "G4", "a strict robot looks for lines that start with \"Disallow:\"")
	}
	if strings.HasSuffix(line.Value, "$") {
		l.note(line.Number, "wildcard", "G8", "$ is an ordinary octet: there is no end anchor")
	}
	if len(line.Value) > longPattern {
		l.note(line.Number, "long", "G6", "%d octets: a selector has no more than %d", len(line.Value), longPattern)
	}
}

func (l *linter) webRule(line Line) {
	p := line.Value
	switch {
	case p == "":
		return
	case p[0] != '/' && p[0] != '*':
		l.warn(line.Number, "never", "R5", "the pattern %q can match nothing", p)
	case l.file.dialect == RFC9309 && (p == "/robots.txt" || p == "/robots.txt$"):
		l.warn(line.Number, "never", "R5", "%q never decides about the robots file itself, which may always be fetched", p)
	case l.file.dialect == Standard1994 && strings.ContainsAny(p, "*$"):
		l.warn(line.Number, "wildcard", "S4", "* and $ are ordinary octets in %q", p)
	case l.file.dialect == RFC9309 && strings.Contains(p[:len(p)-1], "$"):
		l.note(line.Number, "wildcard", "R7", "$ means the end only at the end of a pattern; write %%24 for the octet")
	}
}

// closest gives the field that a name is a misspelling of, or "".
func closest(name string) string {
	name = strings.ToLower(name)
	// What people write for User-agent is further away than two letters.
	if name == "usage-agent" || name == "agent" || name == "user" {
		return "User-agent"
	}
	for _, known := range []string{"Disallow", "Allow", "User-agent", "Sitemap", "Crawl-delay", "Request-rate", "Visit-time", "Robot-version", "Comment"} {
		if distance(name, strings.ToLower(known)) <= min(2, len(known)/4) {
			return known
		}
	}
	return ""
}

// distance counts the octets to change, insert or leave out; names longer than
// any field are far away.
func distance(a, b string) int {
	if len(a) > 2*len(b) {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
