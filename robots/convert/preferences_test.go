package convert

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

type rewritten struct{ file, want, lost string }

func TestPreferences(t *testing.T) {
	check := func(rewrite func(*robots.File) ([]byte, []diag.Diagnostic), cases ...rewritten) {
		for _, c := range cases {
			out, lost := rewrite(robots.Parse(readers.RFC9309, []byte(c.file)))
			var lines []string
			for _, d := range lost {
				lines = append(lines, fmt.Sprint(d.Line))
			}
			if string(out) != c.want || strings.Join(lines, " ") != c.lost {
				t.Errorf("%q:\n got %q, lost %v\nwant %q, lost %s", c.file, out, lost, c.want,
					c.lost)
			}
		}
	}
	check(SignalsToUsage, []rewritten{
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
	}...)
	check(UsageToSignals, []rewritten{
		{"User-agent: *\nContent-Usage: search=y, train-ai=n\nAllow: /\n",
			"User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /\n", ""},
		{"User-agent: *\nAllow: /\nContent-Usage: train-ai=n, ai-use=n, bots=y, zz=n\nContent-Usage: /a train-ai=y\n\nUser-agent: b\nContent-Usage: train-ai=y\nAllow: /\n",
			"User-agent: *\nContent-Signal: ai-train=no, ai-input=no\nAllow: /\n\nUser-agent: b\nAllow: /\n", "3 3 4 7"},
		{"User-agent: b\nContent-Usage: train-ai=n\nAllow: /\n", "User-agent: b\nAllow: /\n", "2"},
		{"User-agent: *\nContent-Usage: search=y\nDisallow: /a\n\nUser-agent: *\nContent-Usage: train-ai=n\nDisallow: /b\n",
			"User-agent: *\nContent-Signal: search=yes, ai-train=no\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n", ""},
		{"User-agent: *\nContent-Usage: train-ai=n(\nAllow: /\n", "User-agent: *\nAllow: /\n", "2"},
	}...)
}

// TestPreferencesBothWays: what both can say survives the way there and back, and
// denies or allows the same to every robot.
func TestPreferencesBothWays(t *testing.T) {
	for _, signal := range []string{"search=yes", "search=no", "ai-train=yes", "ai-train=no",
		"search=yes, ai-train=no", "search=no, ai-train=yes, ai-input=no"} {
		const rules = "User-agent: a\nDisallow: /x\n\nUser-agent: *\nDisallow: /y\n"
		f := robots.Parse(readers.RFC9309, []byte(rules+"Content-Signal: "+signal+"\n"))
		out, lost := SignalsToUsage(f)
		g := robots.Parse(readers.RFC9309, out)
		back, _ := UsageToSignals(g)
		if lost != nil || !strings.Contains(string(back), "\nContent-Signal: "+signal+"\n") {
			t.Errorf("%s: lost %v, %q, %q", signal, lost, out, back)
		}
		for _, agent := range []string{"a", "b"} {
			if g.Usage(agent, "/z").String() != g.Usage("c", "/z").String() ||
				g.Allowed(agent, "/x") != f.Allowed(agent, "/x") {
				t.Errorf("%s: %s: %v in %q", signal, agent, g.Usage(agent, "/z"), out)
			}
		}
	}
}
