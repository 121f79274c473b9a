// Package logs writes the log of a daemon in the form that its reader wants:
//
//	a person at a terminal   one short line for each event, with colours
//	the journal of systemd   the same line with its priority (sd-daemon(3))
//	a file, a pipe           key=value, which tools read
//	a program, when asked    JSON
//
// To log never blocks: lines that a reader does not take are lost and counted. Text
// from outside reaches no reader as anything but visible characters. A duration is
// readable for people ("took=1.2ms"); the others get a number, and its unit in the
// name of the key (took_ms=1.2).
package logs

import (
	"context"
	"io"
	"log/slog"
	"os"

	"github.com/gophd/gophd/internal/command/terminal"
	"github.com/gophd/gophd/internal/process/lossy"
)

// Style selects the events to log and their format.
type Style struct {
	Level  slog.Level
	Format string // short, text, json, or auto: by the reader
}

// A Logger is an open log.
type Logger struct {
	*slog.Logger
	forPeople bool
	verbose   bool
	w         *lossy.Writer
}

// Open begins to log to w.
func Open(w io.Writer, o Style) *Logger {
	l := &Logger{w: &lossy.Writer{To: w}, verbose: o.Level <= slog.LevelDebug}
	format := o.Format
	if format == "auto" {
		format = formatFor(w)
	}
	var h slog.Handler
	opts := &slog.HandlerOptions{Level: o.Level, ReplaceAttr: milliseconds}
	switch format {
	case "short":
		l.forPeople = terminal.Is(w)
		h = &entryHandler{w: l.w, level: o.Level, entry: shortEntry(l.forPeople && colours())}
	case "journal":
		h = &entryHandler{w: l.w, level: o.Level, entry: journalEntry}
	case "json":
		l.w.Form = terminal.JSON
		h = slog.NewJSONHandler(l.w, opts)
	default:
		h = slog.NewTextHandler(l.w, opts)
	}
	l.Logger = slog.New(h)
	l.w.Tell = func(lost int64, _ error) { l.Error("log lines were lost", "lines", lost) }
	return l
}

func formatFor(w io.Writer) string {
	if terminal.Is(w) {
		return "short"
	}
	if terminal.IsJournal(w) {
		return "journal"
	}
	return "text"
}

// colours reports whether the terminal is one that knows them, and its user
// wants them (https://no-color.org).
func colours() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }

// ForPeople reports whether a person reads the log at a terminal.
func (l *Logger) ForPeople() bool { return l.forPeople }

// Close writes the remaining lines, for at most 3 s.
func (l *Logger) Close() { l.w.Flush() }

// Requests is the logger for a server, whose Info entries are its requests: without
// those that went well, unless a person watches or everything is asked for. An access
// log is the place for them.
func (l *Logger) Requests() *slog.Logger {
	if l.forPeople || l.verbose {
		return l.Logger
	}
	return slog.New(warnings{l.Handler()})
}

// warnings is a handler of warnings and errors alone. It refuses the rest by Enabled,
// before an entry is made: most requests are never an entry.
type warnings struct{ slog.Handler }

func (h warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}

func (h warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{h.Handler.WithAttrs(attrs)}
}
