package convert

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/internal/robotstest"
	"github.com/gophd/gophd/robots/lint"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
)

const prefs = "User-agent: *\nAllow: /\nContent-Usage: train-ai=n\nContent-Usage: /a%20b search=y\nContent-Signal: ai-train=no\n"

// What a stranger's file has for terminals is not passed on, in any dialect.
func TestNoControlBytes(t *testing.T) {
	const vile = "# \x1b[2J\nUser-agent: *\nDisallow: /a\x1b[31mb\x07\nDisallow: /\u0085\nContent-Usage: train-ai=\x1bn\nSitemap: http://a/\x1b[2J\nContent-Signal: ai-train=\x7f\n\nUser-agent: x\x9by\nDisallow: /\x80c\nAllow: /%1B\nComment: hi\x07\nAction: \x1b\n"
	for _, preferences := range []func(*robots.File) ([]byte, []diag.Diagnostic){SignalsToUsage,
		UsageToSignals} {
		out, _ := preferences(robots.Parse(readers.RFC9309, []byte(vile+"\xc2\x85\r\n")))
		if text := ends.Replace(string(out)); selector.HasControl(text) ||
			!strings.Contains(text, "Disallow: /a%1B[31mb%07Disallow: /%C2%85") ||
			!strings.HasSuffix(string(out), "\r\n") {
			t.Errorf("preferences: %q", out)
		}
	}
	for _, from := range readers.Dialects() {
		for _, to := range readers.Dialects() {
			f := robots.Parse(from, []byte(vile))
			out, _ := File(f, to)
			if text := strings.NewReplacer("\n", "", "\t",
				"").Replace(string(out)); selector.HasControl(text) {
				t.Errorf("%v to %v: %q", from, to, out)
			}
			if path := "/a\x1b[31mb\x07"; from == to && !f.Agent("*").Allowed(path) &&
				robots.Parse(to, out).Agent("*").Allowed(path) {
				t.Errorf("%v to itself allows %q: %q", from, path, out)
			}
		}
	}
}

func TestConvert(t *testing.T) {
	const site = "User-agent: *\nDisallow: /a\nAllow: /a/b$\nCrawl-delay: 60\n\nUser-agent: x\nUser-agent: y\nDisallow:\n"
	for _, c := range []struct {
		from, to   readers.Dialect
		file, want string
		lost       string
	}{
		{readers.RFC9309, readers.RFC9309, "# as it is\n", "# as it is\n", ""},
		{readers.RFC9309, readers.Gopher, site,
			"User-agent: *\nDisallow: /a\nCrawl-delay: 60\n\nUser-agent: x\nAllow: /\n\nUser-agent: y\nAllow: /\n", "3:ALLOW"},
		{readers.RFC9309, readers.GopherStrict,
			"User-agent: *\nDisallow: /a\nUser-agent: x\nDisallow: /b\n",
			"Disallow: /a\nDisallow: /b\n", "3:AGENT"},
		{readers.RFC9309, readers.Standard1994, site,
			"User-agent: *\nDisallow: /a\n\nUser-agent: x\nDisallow: \n\nUser-agent: y\nDisallow: \n", "3:ALLOW 4:FIELD"},
		{readers.RFC9309, readers.Extended, site,
			"User-agent: *\nRobot-version: 2.0\nDisallow: /a*\nAllow: /a/b\nRequest-rate: 1/1m\n\nUser-agent: x\nAllow: /\n\nUser-agent: y\nAllow: /\n", "0:PRECEDENCE"},
		{readers.RFC9309, readers.Gopher,
			"User-agent: *\nDisallow: /%0AAllow%7Fx\nDisallow: /%23\nDisallow: /%2A\nDisallow: /a$\n", "User-agent: *\nDisallow: /*Allow*x\nDisallow: /*\nDisallow: /a\n", "2:PATTERN 3:PATTERN 4:PATTERN 5:PATTERN"},
		{readers.Gopher, readers.RFC9309, "Disallow: /é b$\nUser-agent: x\nDisallow: /x\n",
			"User-agent: *\nDisallow: /%C3%A9%20b%24\n\nUser-agent: x\nDisallow: /%C3%A9%20b%24\nDisallow: /x\n", ""},
		{readers.RFC9309, readers.Gopher, "User-agent: x\nUser-agent: y\nAllow: /a\nDisallow: /b\n",
			"User-agent: x\nDisallow: /b\n\nUser-agent: y\nDisallow: /b\n", "3:ALLOW"},
		{readers.Gopher, readers.Veronica2, "Disallow: /a/\n",
			"User-agent: *\nDisallow: /a/\n", "1:SLASH"},
		{readers.Veronica2, readers.Gopher, "Disallow: /a/\n",
			"User-agent: *\nDisallow: /a/\n", "1:SLASH"},
		{readers.Extended, readers.RFC9309,
			"User-agent: x\nRobot-version: 2.0\nDisallow: *.gif\nDisallow: /x\nDisallow: /y*\n",
			"User-agent: x\nDisallow: *.gif$\nDisallow: /x$\nDisallow: /y*$\n", ""},
		{readers.Standard1994, readers.RFC9309, "User-agent: x\nDisallow: /a*\n",
			"User-agent: x\nDisallow: /a%2A\n", ""},
		{readers.Gopher, readers.Standard1994, "Disallow: /$5*\n",
			"User-agent: *\nDisallow: /$5\n", ""},
		{readers.RFC9309, readers.Standard1994, "User-agent: *\nDisallow: /%24%2A\n",
			"User-agent: *\nDisallow: /$*\n", ""},
		{readers.RFC9309, readers.Extended, "User-agent: *\nDisallow: /%2A$\n",
			"User-agent: *\nRobot-version: 2.0\nDisallow: /*\n", "2:PATTERN"},
		{readers.RFC9309, readers.Extended, "User-agent: *\nAllow: /%2A$\n",
			"User-agent: *\nRobot-version: 2.0\nAllow: /%2A\n", "2:PATTERN"},
		{readers.Gopher, readers.Extended, "Disallow: *.$\n",
			"User-agent: *\nRobot-version: 2.0\nDisallow: *.$*\n", ""},
		{readers.Extended, readers.RFC9309,
			"User-agent: x\nRobot-version: 2.0\nAllow: /b$\nDisallow: /b*x?\n",
			"User-agent: x\nAllow: /b%24$\nDisallow: /b*x?$\n", "1:PRECEDENCE"},
		{readers.Extended, readers.Standard1994, "User-agent: *\nDisallow: /a#\n",
			"User-agent: *\nDisallow: /a%23\n", ""},
		{readers.Extended, readers.Gemini,
			"User-agent: foobar\nRobot-version: 2.1\nDisallow: /b\n\nUser-agent: foo\nDisallow: /\n", "User-agent: foobar\nDisallow: /\n\nUser-agent: foo\nDisallow: /\n", ""},
		{readers.Gopher, readers.RFC9309, "Disallow: /100%\n",
			"User-agent: *\nDisallow: /100%25\n", "1:PERCENT"},
		{readers.RFC9309, readers.Gopher, "User-agent: *\nDisallow: /100%\n",
			"User-agent: *\nDisallow: /100%\n", "2:PERCENT"},
		{readers.RFC9309, readers.Gopher, prefs,
			"User-agent: *\nAllow: /\nContent-Usage: train-ai=n\nContent-Signal: ai-train=no\n",
			"2:ALLOW 4:USAGE"},
		{readers.Gopher, readers.RFC9309, prefs,
			"User-agent: *\nAllow: /\nContent-Usage: train-ai=n\nContent-Signal: ai-train=no\n", "4:USAGE"},
		{readers.RFC9309, readers.Standard1994, prefs, "User-agent: *\nDisallow: \n",
			"2:ALLOW 3:USAGE 4:USAGE 5:FIELD"},
		{readers.Gopher, readers.RFC9309,
			"User-agent: x\nUser-agent: y\nDisallow: /a\nDisallow: /a\nUser-agent: x\nDisallow: /a\n", "User-agent: x\nDisallow: /a\n\nUser-agent: y\nDisallow: /a\n", ""},
	} {
		out, lost := File(robots.Parse(c.from, []byte(c.file)), c.to)
		var codes []string
		for _, d := range lost {
			codes = append(codes, fmt.Sprintf("%d:%s", d.Line, d.Code))
		}
		if string(out) != c.want || strings.Join(codes, " ") != c.lost {
			t.Errorf("%s to %s: %q:\n got %q, lost %s\nwant %q, lost %s", c.from, c.to, c.file, out,
				codes, c.want, c.lost)
		}
	}
}

// TestConvertKeeps: what was denied stays denied; what was allowed stays so,
// unless it was said that something is lost.
func TestConvertKeeps(t *testing.T) {
	for range 20000 {
		seed := rand.Uint64()
		rnd := rand.New(rand.NewPCG(seed, 0))
		data := robotstest.File(rnd)
		sel := "/" + robotstest.Text(rnd, []string{"a", "b", "/", "A", "$"}, 6)
		from, to := readers.Dialects()[rnd.IntN(len(readers.Dialects()))],
			readers.Dialects()[rnd.IntN(len(readers.Dialects()))]
		agent := []string{"foo", "foobar", "zed"}[rnd.IntN(3)]
		f := robots.Parse(from, data)
		isNamed := func(a robots.Agent) bool { return strings.EqualFold(a.Token, agent) }
		if !slices.ContainsFunc(f.Groups(), func(g robots.Group) bool {
			return slices.ContainsFunc(g.Agents, isNamed)
		}) {
			agent = "zed"
		}
		out, lost := File(f, to)
		has := func(codes ...string) bool {
			return slices.ContainsFunc(lost, func(d diag.Diagnostic) bool {
				return slices.Contains(codes, d.Code)
			})
		}
		was, is := f.Allowed(agent, sel), robots.Parse(to, out).Allowed(agent, sel)
		if was && !is && len(lost) == 0 || !was && is && !has("SLASH", "PRECEDENCE", "PERCENT") {
			t.Fatalf("seed %d: %s to %s: %q, %q: was %v, is %v\n%q\nto %q\nlost %v", seed, from, to,
				agent, sel, was, is, data, out, lost)
		}
	}
}

// TestHostileIsQuick: a file made to be dear costs time in proportion to its
// size. Were anything quadratic, this would take minutes.
func TestHostileIsQuick(t *testing.T) {
	for name, line := range map[string]string{
		"agents": "User-agent: a%d\n", "agents and fields": "User-agent: a%d\nx:\n",
		"groups":      "User-agent: a%d\nDisallow: /%[1]d*b\n",
		"same groups": "User-agent: a\nDisallow: /%d\n",
		"rules":       "Disallow: /%d\n", "globs": "Disallow: *%d*a\n", "bare CR": "\r\r\r\r%d",
		"same": "Disallow: /\n",
	} {
		var b strings.Builder
		for i := 0; b.Len() < robots.DefaultLimit/2; i++ {
			if strings.Contains(line, "%") {
				fmt.Fprintf(&b, line, i)
			} else {
				b.WriteString(line)
			}
		}
		b.WriteString("Disallow: /z\n")
		for _, d := range []readers.Dialect{readers.Gopher, readers.RFC9309, readers.Standard1994,
			readers.Extended} {
			f := robots.Parse(d, []byte(b.String()))
			f.Decide("a7", "/some/selector")
			f.Fields("a")
			f.Groups()
			lint.File(f)
			for _, to := range []readers.Dialect{readers.Gopher, readers.RFC9309,
				readers.Extended} {
				if out, _ := File(f, to); len(out) > 8*maxConverted {
					t.Errorf("%s: %s to %s: %d bytes", name, d, to, len(out))
				}
			}
		}
	}
}

// TestLossesAreBounded: what could not be said, of a file that was made to have much.
func TestLossesAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, "Allow: /%d\n", i)
	}
	_, lost := File(robots.Parse(readers.RFC9309, []byte("User-agent: *\n"+b.String())),
		readers.Gopher)
	if len(lost) != diag.MaxFound+1 || lost[diag.MaxFound].Code != "MORE" {
		t.Errorf("%d losses, the last %v", len(lost), lost[len(lost)-1])
	}
}

func ExampleFile() {
	f := robots.Parse(readers.RFC9309, []byte("User-agent: *\nDisallow: /a b/\nAllow: /a b/c\n"))
	out, lost := File(f, readers.Gopher)
	_, _ = os.Stdout.Write(out)
	for _, d := range lost {
		fmt.Printf("line %d: %s\n", d.Line, d.Message)
	}
	// Output:
	// User-agent: *
	// Disallow: /a b/
	// line 3: Allow: "/a b/c" cannot be expressed
}
