package logs

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/coreos/go-systemd/v22/journal"

	"github.com/gophd/gophd/diag"
)

// journalEntry is a line for people, its priority, and each field as GOPHD_KEY in the
// journal:
//
//	journalctl -u gophd -p warning
//	journalctl -u gophd GOPHD_REMOTE=192.0.2.7
//
// It has the form that journalWriter reads: the priority and the line, then a line for
// each field, then an empty one.
func journalEntry(attrs []slog.Attr, r slog.Record) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d%s\n", priority(r.Level), sentence(r.Message, fieldsOf(attrs, r, readable)))
	for _, one := range fieldsOf(attrs, r, milliseconds) {
		fmt.Fprintf(&b, "%s=%s\n", fieldName(one.key), diag.Printable(one.value))
	}
	b.WriteByte('\n')
	return b.String()
}

// fieldName is a key as the journal wants it: capitals, digits, underscores.
func fieldName(key string) string {
	return "GOPHD_" + strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(key))
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

// journalWriter sends entries to the journal. If it takes none, their lines go
// to standard error, with the priority in systemd's form (sd-daemon(3)).
type journalWriter struct{ stderr io.Writer }

func (j journalWriter) Write(entries []byte) (int, error) {
	for entry := range strings.SplitSeq(string(entries), "\n\n") {
		if entry == "" {
			continue
		}
		lines := strings.Split(entry, "\n")
		vars := map[string]string{"SYSLOG_IDENTIFIER": "gophd"}
		for _, line := range lines[1:] {
			key, value, _ := strings.Cut(line, "=")
			vars[key] = value
		}
		pri, text := journal.Priority(lines[0][0]-'0'), lines[0][1:]
		if err := journal.Send(text, pri, vars); err != nil {
			if _, err := fmt.Fprintf(j.stderr, "<%d>%s\n", pri, text); err != nil {
				return 0, err
			}
		}
	}
	return len(entries), nil
}
