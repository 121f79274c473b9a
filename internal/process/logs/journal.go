package logs

import (
	"fmt"
	"log/slog"

	"github.com/coreos/go-systemd/v22/journal"
)

// journalEntry is a line for people with its priority in systemd's form (sd-daemon(3)):
//
//	journalctl -u gophd -p warning
func journalEntry(attrs []slog.Attr, r slog.Record) string {
	return fmt.Sprintf("<%d>%s\n", priority(r.Level), sentence(r.Message, fieldsOf(attrs, r, readable)))
}

func priority(l slog.Level) journal.Priority {
	switch {
	case l >= slog.LevelError:
		return journal.PriErr
	case l >= slog.LevelWarn:
		return journal.PriWarning
	case l >= slog.LevelInfo:
		return journal.PriInfo
	}
	return journal.PriDebug
}
