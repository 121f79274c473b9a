// Package logs writes the log of a daemon in a format that depends on where it goes:
//
//	terminal            one short line per event, in color
//	systemd's journal   the same line with its priority (sd-daemon(3))
//	file, pipe          key=value
//	on request          JSON
//
// Logging never blocks: lines that cannot be written are dropped and counted. Text from outside
// is escaped to visible characters. Durations are "took=1.2ms" for people and a number with
// the unit in the key (took_ms=1.2) for programs.
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
	Format string // short, text, json, or auto (as above)
}

// A Logger is an open log.
type Logger struct {
	*slog.Logger
	forPeople bool
	verbose   bool
	w         *lossy.Writer
}

// Open returns a Logger that writes to w.
func Open(w io.Writer, o Style) *Logger {
	l := &Logger{w: &lossy.Writer{To: w}, verbose: o.Level <= slog.LevelDebug}
	format := o.Format
	switch {
	case format != "auto":
	case terminal.Is(w):
		format = "short"
	case terminal.IsJournal(w):
		format = "journal"
	}
	var h slog.Handler
	opts := &slog.HandlerOptions{Level: o.Level, ReplaceAttr: milliseconds}
	switch format {
	case "short":
		l.forPeople = terminal.Is(w)
		colours := l.forPeople && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" // https://no-color.org
		h = &entryHandler{w: l.w, level: o.Level, entry: shortEntry(colours)}
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

// ForPeople reports whether the log goes to a terminal.
func (l *Logger) ForPeople() bool { return l.forPeople }

// Close writes the remaining lines, for at most 3 s.
func (l *Logger) Close() { l.w.Flush() }

// Requests returns the logger for server.Server, which logs each request at Info. It drops
// these entries, since they belong into an access log, unless the log goes to a terminal or is
// verbose.
func (l *Logger) Requests() *slog.Logger {
	if l.forPeople || l.verbose {
		return l.Logger
	}
	return slog.New(warnings{l.Handler()})
}

// warnings is a handler that is enabled for warnings and errors only, so that no record is made
// for most requests.
type warnings struct{ slog.Handler }

func (h warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}

func (h warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{h.Handler.WithAttrs(attrs)}
}
