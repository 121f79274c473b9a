package convert

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

func TestSignalsToUsage(t *testing.T) {
	for _, c := range []struct{ file, want, lost string }{
		{"User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /\n",
			"User-agent: *\nContent-Usage: search=y, train-ai=n\nAllow: /\n", ""},
		{"Content-Signal: ai-train=no,ai-input=no\nUser-agent: a\nUser-agent: b\nDisallow: /x\n",
			"User-agent: a\nUser-agent: b\nContent-Usage: ai-use=n, train-ai=n\nDisallow: /x\n\nUser-agent: *\nContent-Usage: ai-use=n, train-ai=n\nAllow: /\n", ""},
		{"Content-Signal: use=immediate, search=no\n",
			"\nUser-agent: *\nContent-Usage: search=n\nAllow: /\n", "1"},
		{"Content-signal: Search=NO, fun=yes, ai-train=perhaps",
			"\nUser-agent: *\nContent-Usage: search=n\nAllow: /\n", "1 1"},
		{"User-agent: *\nContent-Signal: search=yes\nContent-Signal: search=no\nAllow: /",
			"User-agent: *\nContent-Usage: search=n\nAllow: /", ""},
		{"User-agent: *\n# hello\nDisallow: /\n", "User-agent: *\n# hello\nDisallow: /\n", ""},
	} {
		out, lost := SignalsToUsage(robots.Parse(readers.RFC9309, []byte(c.file)))
		var lines []string
		for _, d := range lost {
			lines = append(lines, fmt.Sprint(d.Line))
		}
		if string(out) != c.want || strings.Join(lines, " ") != c.lost {
			t.Errorf("%q:\n got %q, lost %v\nwant %q, lost %s", c.file, out, lost, c.want, c.lost)
		}
	}
}

func TestUsageToSignals(t *testing.T) {
	for _, c := range []struct{ file, want, lost string }{
		{"User-agent: *\nContent-Usage: search=y, train-ai=n\nAllow: /\n",
			"User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /\n", ""},
		{"User-agent: *\nAllow: /\nContent-Usage: train-ai=n, ai-use=n, bots=y, zz=n\nContent-Usage: /a train-ai=y\n\nUser-agent: b\nContent-Usage: train-ai=y\nAllow: /\n",
			"User-agent: *\nContent-Signal: ai-train=no, ai-input=no\nAllow: /\n\nUser-agent: b\nAllow: /\n", "3 3 4 7"},
		{"User-agent: b\nContent-Usage: train-ai=n\nAllow: /\n", "User-agent: b\nAllow: /\n", "2"},
		{"User-agent: *\nContent-Usage: search=y\nDisallow: /a\n\nUser-agent: *\nContent-Usage: train-ai=n\nDisallow: /b\n",
			"User-agent: *\nContent-Signal: search=yes, ai-train=no\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n", ""},
		{"User-agent: *\nContent-Usage: train-ai=n(\nAllow: /\n", "User-agent: *\nAllow: /\n", "2"},
	} {
		out, lost := UsageToSignals(robots.Parse(readers.RFC9309, []byte(c.file)))
		var lines []string
		for _, d := range lost {
			lines = append(lines, fmt.Sprint(d.Line))
		}
		if string(out) != c.want || strings.Join(lines, " ") != c.lost {
			t.Errorf("%q:\n got %q, lost %v\nwant %q, lost %s", c.file, out, lost, c.want, c.lost)
		}
	}
}

// TestPreferencesBothWays: what both can say survives the way there and back, and
// denies or allows the same to every robot.
func TestPreferencesBothWays(t *testing.T) {
	for _, search := range []string{"", "yes", "no"} {
		for _, train := range []string{"", "yes", "no"} {
			var pairs []string
			for key, value := range map[string]string{"search": search, "ai-train": train} {
				if value != "" {
					pairs = append(pairs, key+"="+value)
				}
			}
			usage, lost := usageOf(strings.Join(pairs, ", "))
			signal, missing := signalOf(usage)
			again, _ := usageOf(signal)
			if len(pairs) > 0 && lost != nil || missing != nil ||
				again.String() != usage.String() || strings.Count(signal, "=") != len(pairs) {
				t.Errorf("%q: %q, %q (lost %q %q)", pairs, usage, signal, lost, missing)
			}
		}
	}
	f := robots.Parse(readers.RFC9309,
		[]byte("Content-Signal: ai-train=no\nUser-agent: a\nDisallow: /x\n"))
	out, _ := SignalsToUsage(f)
	g := robots.Parse(readers.RFC9309, out)
	for _, agent := range []string{"a", "b"} {
		if g.Usage(agent, "/y").Of("train-ai") != robots.No ||
			g.Allowed(agent, "/x") != f.Allowed(agent, "/x") {
			t.Errorf("%s: %v in %q", agent, g.Usage(agent, "/y"), out)
		}
	}
}
