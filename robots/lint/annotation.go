package lint

import (
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

// Annotation is [File] for a .robots file of gophd in a directory, which is named by its
// selector. In an annotation rules before the first User-agent line bind everybody, each
// name of a list counts, a pattern without a slash gets one, and Final is a field. Package
// policy reports what it does to the site.
func Annotation(dir string, data []byte) []diag.Diagnostic {
	// Write near misses and Final as fields that File knows, to check the groups.
	var text strings.Builder
	for line := range Lines(data) {
		switch {
		case line.Kind == readers.KindDisallow, isFinal(line) && line.Value != "":
			text.WriteString("Disallow: " + line.Value)
		case line.Kind == readers.KindAgent:
			text.WriteString("User-agent: " + line.Value)
		case line.Kind == readers.KindAllow:
			text.WriteString("Allow: " + line.Value)
		case line.Kind == readers.KindUsage, line.Kind == readers.KindField &&
			readers.KnownField(line.Field):
			text.WriteString(line.Field + ": " + trimBlanks(line.Value))
		}
		text.WriteByte('\n')
	}
	f := robots.Parse(readers.RFC9309, []byte(text.String()))
	l := linter{
		dir:     dir,
		file:    f,
		dialect: readers.RFC9309,
		source:  written(data),
		groups:  f.Groups(),
	}
	return l.find()
}

// Lines yields the lines of an annotation as gophd interprets them. A misspelt field counts
// if it is one of nearMisses. Blanks of any kind are trimmed from fields, and from the values
// of Disallow, Final and User-agent. The second value reports whether a blank outside ASCII
// was trimmed, or surrounds a Content-Usage.
func Lines(data []byte) iter.Seq2[readers.Line, bool] {
	return func(yield func(readers.Line, bool) bool) {
		for line := range written(data) {
			if !yield(taken(line)) {
				return
			}
		}
	}
}

// written yields the lines of an annotation as a robots.txt has them.
func written(data []byte) iter.Seq[readers.Line] {
	text, _ := readers.DecodeUTF16(data)
	return readers.NewScanner(readers.RFC9309, false, string(text)).Lines()
}

// nearMisses are the misspelt fields that count in an annotation.
var nearMisses = []string{"user-agent", "disallow", "useragent", "user agent", "disalow",
	"dissallow", "dissalow", "diasllow", "disallaw"}

// taken returns a line as gophd interprets it in an annotation.
func taken(line readers.Line) (_ readers.Line, odd bool) {
	text := "" // to be parsed again
	switch field := trimBlanks(line.Field); {
	case field != line.Field:
		text = field + ":" + line.Value
	case line.Kind == readers.KindMalformed:
		text, _, _ = strings.Cut(line.Text, "#")
		text, _, _ = strings.Cut(text, "\x00")
		text = trimBlanks(text)
	}
	if text != "" {
		scanner := readers.NewScanner(readers.RFC9309, false, text)
		if again, ok := scanner.Next(); ok {
			odd = again.Kind != line.Kind || again.Field != line.Field
			again.Number, again.Text = line.Number, line.Text
			line = again
		}
	}

	if line.Forgiven && !slices.Contains(nearMisses, strings.ToLower(line.Field)) {
		line.Kind, line.Forgiven = readers.KindField, false
	}
	value := trimBlanks(line.Value)
	switch {
	case value == line.Value:
	case line.Kind == readers.KindUsage:
		odd = true
	case line.Kind == readers.KindAgent, line.Kind == readers.KindDisallow, isFinal(line):
		line.Value, odd = value, true
	}
	return line, odd
}

func isFinal(line readers.Line) bool {
	return line.Kind == readers.KindField && strings.EqualFold(line.Field, "Final")
}

// trimBlanks trims what some reader takes for a blank.
func trimBlanks(s string) string {
	return strings.TrimFunc(s, func(c rune) bool {
		return c == 0x1f || c == 0xfeff || unicode.IsSpace(c)
	})
}

// oddBlank reports blanks outside ASCII, which no author intends.
func (l *linter) oddBlank(line readers.Line) {
	what := "it is left out"
	switch {
	case l.dir == "":
		what = "some robots treat it as a part of them"
	case line.Kind == readers.KindUsage:
		what = "an n counts, a y may not"
	}
	l.Error(line.Number, "R2-BLANK",
		"a blank outside ASCII, such as a no-break space, surrounds the field or the value: %s", what)
}

// unaskable reports a pattern that no Gopher client can request as written: one with a line
// end, a tab, a NUL, or the escape of a slash.
func (l *linter) unaskable(line int, pattern string) {
	if l.dir == "" || !strings.ContainsAny(pattern, "%\t\r") {
		return
	}
	if strings.ContainsAny(selector.Decoded(pattern), "\r\n\t\x00") {
		l.Error(line, "R5-NEVER",
			"no client can request %q: it holds a line end, a tab or a NUL", pattern)
	} else if strings.Contains(strings.ToUpper(pattern), "%2F") {
		l.Notice(line, "R6-ESCAPE", "%%2F in %q is a slash", pattern)
	}
}
