package logs

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"unicode"

	"github.com/gophd/gophd/internal/command/terminal"
	"github.com/gophd/gophd/internal/process/lossy"
)

// Nothing from outside reaches a terminal that shows the log but what can be
// seen, and nothing of it is lost.
func TestLogHidesNothing(t *testing.T) {
	for _, selector := range []string{"/plain", "/é \U0001f439", "/\x1b[31m\x7f\"",
		"/\u009b31m\u202e\u2028x\U000e0001"} {
		var out strings.Builder
		w := &lossy.Writer{To: &out, Form: terminal.JSON}
		slog.New(slog.NewJSONHandler(w, nil)).Info("request", "selector", selector)
		w.Flush()
		line := strings.TrimSuffix(out.String(), "\n")
		if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q: %q", selector, line)
		}
		var got struct{ Selector string }
		if err := json.Unmarshal([]byte(line), &got); err != nil || got.Selector != selector {
			t.Errorf("%q is read as %q, %v", selector, got.Selector, err)
		}
	}
}
