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
	"io"
	"log/slog"
	"os"

	"github.com/gophd/gophd/internal/command/terminal"
	"github.com/gophd/gophd/internal/process/lossy"
)

// A Logger is an open log.
type Logger struct {
	*slog.Logger

	// Requests is the logger for server.Server, which logs each request at Info. It drops these
	// entries, since they belong into an access log, unless the log goes to a terminal or is verbose.
	Requests *slog.Logger

	ForPeople bool // it goes to a terminal
	w         *lossy.Writer
}

// Open returns a Logger that writes events of a level, and of higher ones, to w. The format is
// short, text, json, or auto (as above).
func Open(w io.Writer, level slog.Level, format string) *Logger {
	l := &Logger{w: &lossy.Writer{To: w}}
	switch {
	case format != "auto":
	case terminal.Is(w):
		format = "short"
	case terminal.IsJournal(w):
		format = "journal"
	}
	l.ForPeople = format == "short" && terminal.Is(w)
	if format == "json" {
		l.w.Form = terminal.JSON
	}
	from := func(level slog.Level) *slog.Logger {
		opts := &slog.HandlerOptions{Level: level, ReplaceAttr: milliseconds}
		switch format {
		case "short":
			colours := l.ForPeople && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" // https://no-color.org
			return slog.New(&entryHandler{w: l.w, level: level, entry: shortEntry(colours)})
		case "journal":
			return slog.New(&entryHandler{w: l.w, level: level, entry: journalEntry})
		case "json":
			return slog.New(slog.NewJSONHandler(l.w, opts))
		}
		return slog.New(slog.NewTextHandler(l.w, opts))
	}
	l.Logger = from(level)
	l.Requests = l.Logger
	if !l.ForPeople && level > slog.LevelDebug {
		l.Requests = from(slog.LevelWarn)
	}
	l.w.Tell = func(lost int64, _ error) { l.Error("log lines were lost", "lines", lost) }
	return l
}

// Close writes the remaining lines, for at most 3 s.
func (l *Logger) Close() { l.w.Flush() }
