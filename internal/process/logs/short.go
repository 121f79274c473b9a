package logs

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"strings"
	"time"

	"github.com/gophd/gophd/diag"
)

// entryHandler is a slog.Handler that formats entries with a function.
type entryHandler struct {
	w     io.Writer
	level slog.Level
	attrs []slog.Attr
	entry func(attrs []slog.Attr, r slog.Record) string
}

func (h *entryHandler) Enabled(_ context.Context, l slog.Level) bool {
	return l >= h.level
}

func (h *entryHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	next := *h
	next.attrs = append(h.attrs[:len(h.attrs):len(h.attrs)], attrs...)
	return &next
}

// WithGroup ignores groups.
func (h *entryHandler) WithGroup(string) slog.Handler { return h }

func (h *entryHandler) Handle(_ context.Context, r slog.Record) error {
	_, err := io.WriteString(h.w, h.entry(h.attrs, r))
	return err
}

// levels are the levels of events, the highest first.
var levels = []struct {
	level    slog.Level
	name     string
	colour   string
	priority int // of systemd's journal (sd-daemon(3))
}{
	{slog.LevelError, "error", "\x1b[1;31m", 3},
	{slog.LevelWarn, "warn ", "\x1b[33m", 4},
	{slog.LevelInfo, "info ", "\x1b[2m", 6},
	{math.MinInt, "debug", "\x1b[2m", 7},
}

// shortEntry makes entries for people: time, level, where, what, hint.
//
//	15:04:05 warn  phlog/.robots:3: "Alow" is unknown; hint: ...
func shortEntry(colours bool) func(attrs []slog.Attr, r slog.Record) string {
	return func(attrs []slog.Attr, r slog.Record) string {
		l := levelOf(r.Level)
		when, level := r.Time.Format(time.TimeOnly), levels[l].name
		if colours {
			when, level = "\x1b[2m"+when+"\x1b[0m", levels[l].colour+level+"\x1b[0m"
		}
		return when + " " + level + " " + sentence(r.Message, fieldsOf(attrs, r)) + "\n"
	}
}

// journalEntry makes the same entry with a priority, for journalctl -p.
func journalEntry(attrs []slog.Attr, r slog.Record) string {
	return fmt.Sprintf("<%d>%s\n", levels[levelOf(r.Level)].priority,
		sentence(r.Message, fieldsOf(attrs, r)))
}

// levelOf returns the index in levels of a level.
func levelOf(level slog.Level) (i int) {
	for level < levels[i].level {
		i++
	}
	return i
}

// sentence describes an event in one line: known events in words, others with their keys.
func sentence(msg string, f fields) string {
	where := "" // file:line:
	if file, line := f.take("file"), f.take("line"); file != "" {
		where = file + ": "
		if line != "" && line != "0" {
			where = file + ":" + line + ": "
		}
	}
	hint := f.take("hint")
	failure := f.take("error")
	what := msg
	switch msg {
	case diag.EventRequest:
		what = fmt.Sprintf("%s %q, %s bytes, %s", f.take("remote"), diag.Shorten(f.take("selector"), maxShort),
			f.take("bytes"), f.take("took"))
		f.take("host")
		if protocol := f.take("protocol"); protocol != "gopher" && protocol != "" {
			what += ", " + protocol
		}
	case diag.EventProblem:
		what = f.take("problem") + " (" + f.take("code") + ")"
	case diag.EventServing:
		what = fmt.Sprintf("serving %s at %s", f.take("root"), f.take("url"))
		if try := f.take("try"); try != "" {
			what += "; try: " + try
		}
	case diag.EventScanned, diag.EventReloaded:
		what = fmt.Sprintf("%s %s directories in %s: robots.txt has %s bytes", msg,
			f.take("directories"), f.take("took"), f.take("robots_bytes"))
		if n := f.take("reports"); n != "0" {
			what += ", reports: " + n
		}
		if n := f.take("notices"); n != "0" && n != "" {
			what += ", notices: " + n
		}
		f = nil
	case diag.EventReading:
		what = fmt.Sprintf("reading %s: %s directories so far", f.take("root"),
			f.take("directories"))
	case diag.EventIndexed:
		what = fmt.Sprintf("search index built in %s: %s names", f.take("took"), f.take("texts"))
		f = nil
	case diag.EventIndexing:
		what = fmt.Sprintf("building the search index: %s directories so far",
			f.take("directories"))
	case diag.EventSandboxed:
		what, f = "in the sandbox", nil
	}
	var b strings.Builder
	b.WriteString(where + what)
	for _, one := range f {
		fmt.Fprintf(&b, " %s=%s", one.key, diag.Shorten(one.value, maxShort))
	}
	if failure != "" {
		b.WriteString(": " + failure)
	}
	if hint != "" {
		b.WriteString("; hint: " + hint)
	}
	return diag.Printable(strings.ReplaceAll(b.String(), "\n", "; "))
}

// maxShort bounds values in short entries, in bytes.
const maxShort = 60

// fields holds the fields of an event in order.
type fields []field

type field struct{ key, value string }

// fieldsOf returns the fields of an event.
func fieldsOf(attrs []slog.Attr, r slog.Record) fields {
	var all fields
	var add func(prefix string, a slog.Attr)
	add = func(prefix string, a slog.Attr) {
		a.Value = a.Value.Resolve()
		if a.Value.Kind() == slog.KindGroup {
			for _, inner := range a.Value.Group() {
				add(prefix+a.Key+"_", inner)
			}
			return
		}
		value := a.Value.String()
		if a.Value.Kind() == slog.KindDuration {
			value = rounded(a.Value.Duration()).String()
		}
		all = append(all, field{prefix + a.Key, value})
	}
	for _, a := range attrs {
		add("", a)
	}
	r.Attrs(func(a slog.Attr) bool { add("", a); return true })
	return all
}

// rounded rounds a duration to three digits, for people.
func rounded(d time.Duration) time.Duration {
	unit := time.Microsecond
	for d >= 1000*unit && unit < time.Minute {
		unit *= 10
	}
	return d.Round(unit)
}

// milliseconds replaces a duration by a number with the unit in the key.
func milliseconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() != slog.KindDuration {
		return a
	}
	return slog.Float64(a.Key+"_ms", float64(a.Value.Duration())/float64(time.Millisecond))
}

// take removes a field and returns its value, or "".
func (f *fields) take(key string) string {
	for i, one := range *f {
		if one.key == key {
			*f = append((*f)[:i:i], (*f)[i+1:]...)
			return one.value
		}
	}
	return ""
}
