package logs

import (
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/treetest"
)

// TestDurations: a program gets the unit in the name of the key, a person what can
// be read.
func TestDurations(t *testing.T) {
	for format, want := range map[string]string{
		"text":    " root=/srv took_ms=1.12357 wait_ms=90000.25\n",
		"json":    `,"root":"/srv","took_ms":1.12357,"wait_ms":90000.25}` + "\n",
		"short":   " root=/srv took=1.12ms wait=1m30s\n",
		"journal": "<6>done root=/srv took=1.12ms wait=1m30s\n",
	} {
		var out strings.Builder
		l := Open(&out, slog.LevelInfo, format)
		l.With("root", "/srv").Info("done", "took", 1123570*time.Nanosecond,
			slog.Duration("wait", 90*time.Second+250*time.Microsecond))
		l.Close()
		if got := out.String(); !strings.HasSuffix(got, want) {
			t.Errorf("%s: got %q, want ... %q", format, got, want)
		}
	}
}

// TestSentences: what is known is told in words, the rest with its keys.
func TestSentences(t *testing.T) {
	for want, args := range map[string][]any{
		`scanned 9 directories in 1.12ms: robots.txt has 747 bytes, reports: 1, notices: 2`: {"scanned",
			"all", true, "directories", 9, "robots_bytes", 747, "reports", 1, "notices", 2,
			"changed", true, "took", 1123570 * time.Nanosecond},
		`reloaded 1 directories in 20µs: robots.txt has 7 bytes`: {"reloaded",
			"directories", 1, "robots_bytes", 7, "reports", 0, "notices", 0, "took",
			20 * time.Microsecond},
		`search index built in 18ms: 4 names`: {"search index built", "texts", 4,
			"bytes", 1000, "took", 18 * time.Millisecond},
		`building the search index: 5 directories so far`: {"building the search index",
			"directories", 5},
		`reading /srv: 7 directories so far`: {"reading the tree", "root", "/srv",
			"directories", 7},
		`192.0.2.7 "/a b", 12 bytes, 20µs: gone`: {"request",
			"host", "h", "protocol", "gopher", "remote", "192.0.2.7", "selector", "/a b", "bytes",
			12, "took", 20 * time.Microsecond, "error", errors.New("gone")},
		`192.0.2.7 "/a b", 12 bytes, 20µs, gemini`: {"request",
			"host", "h", "protocol", "gemini", "remote", "192.0.2.7", "selector", "/a b", "bytes",
			12, "took", 20 * time.Microsecond},
		`a/.robots:3: no field (unknown-field); hint: Disallow?`: {"problem in the content tree",
			"file", "a/.robots", "line", 3, "problem", "no field", "code", "unknown-field",
			"hint", "Disallow?"},
		`something b_c=1 d="e f"`: {"something", slog.Group("b", "c", 1), "d", `"e f"`},
	} {
		var out strings.Builder
		l := Open(&out, slog.LevelInfo, "short")
		l.Info(args[0].(string), args[1:]...)
		l.Close()
		if got := out.String(); !strings.HasSuffix(got, " info  "+want+"\n") {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A request that went well is left out, unless everything is asked for; one that
// failed is not.
func TestRequestsThatWentWell(t *testing.T) {
	for level, want := range map[slog.Level]string{slog.LevelInfo: "failed",
		slog.LevelDebug: "well failed"} {
		var out strings.Builder
		l := Open(&out, level, "json")
		requests := l.Requests.With("host", "gopher.example")
		requests.Info("well")
		requests.Warn("failed")
		l.Close()
		var got []string
		for line := range strings.Lines(out.String()) {
			var entry struct{ Msg string }
			treetest.Must(t, json.Unmarshal([]byte(line), &entry))
			got = append(got, entry.Msg)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("level %v: %q, want %q", level, got, want)
		}
	}
}
