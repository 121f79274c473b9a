package robots

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestConvert(t *testing.T) {
	const site = "User-agent: *\nDisallow: /a\nAllow: /a/b$\nCrawl-delay: 60\n\nUser-agent: x\nUser-agent: y\nDisallow:\n"
	for _, c := range []struct {
		from, to   Dialect
		file, want string
		lost       string
	}{
		{RFC9309, RFC9309, "# as it is\n", "# as it is\n", ""},
		{RFC9309, Gopher, site, "User-agent: *\nDisallow: /a\nCrawl-delay: 60\n\nUser-agent: x\nAllow: /\n\nUser-agent: y\nAllow: /\n", "3:allow"},
		{RFC9309, GopherStrict, "User-agent: *\nDisallow: /a\nUser-agent: x\nDisallow: /b\n", "Disallow: /a\nDisallow: /b\n", "3:agent"},
		{RFC9309, Standard1994, site, "User-agent: *\nDisallow: /a\n\nUser-agent: x\nDisallow: \n\nUser-agent: y\nDisallow: \n", "3:allow 4:field"},
		{RFC9309, Extended, site, "User-agent: *\nRobot-version: 2.0\nDisallow: /a*\nAllow: /a/b\nRequest-rate: 1/1m\n\nUser-agent: x\nAllow: /\n\nUser-agent: y\nAllow: /\n", "0:precedence"},
		{RFC9309, Gopher, "User-agent: *\nDisallow: /%0AAllow\nDisallow: /%23\nDisallow: /%2A\nDisallow: /a$\n", "User-agent: *\nDisallow: /*Allow\nDisallow: /*\nDisallow: /*\nDisallow: /a\n", "2:pattern 3:pattern 4:pattern 5:pattern"},
		{Gopher, RFC9309, "Disallow: /é b$\nUser-agent: x\nDisallow: /x\n", "User-agent: *\nDisallow: /%C3%A9%20b%24\n\nUser-agent: x\nDisallow: /%C3%A9%20b%24\nDisallow: /x\n", ""},
		{RFC9309, Gopher, "User-agent: x\nUser-agent: y\nAllow: /a\nDisallow: /b\n", "User-agent: x\nDisallow: /b\n\nUser-agent: y\nDisallow: /b\n", "3:allow"},
		{Gopher, Veronica2, "Disallow: /a/\n", "User-agent: *\nDisallow: /a/\n", "1:slash"},
		{Veronica2, Gopher, "Disallow: /a/\n", "User-agent: *\nDisallow: /a/\n", "1:slash"},
		{Extended, RFC9309, "User-agent: x\nRobot-version: 2.0\nDisallow: *.gif\nDisallow: /x\nDisallow: /y*\n", "User-agent: x\nDisallow: *.gif$\nDisallow: /x$\nDisallow: /y*$\n", ""},
		{Standard1994, RFC9309, "User-agent: x\nDisallow: /a*\n", "User-agent: x\nDisallow: /a%2A\n", ""},
		{Gopher, Standard1994, "Disallow: /$5*\n", "User-agent: *\nDisallow: /$5\n", ""},
		{RFC9309, Standard1994, "User-agent: *\nDisallow: /%24%2A\n", "User-agent: *\nDisallow: /$*\n", ""},
		{RFC9309, Extended, "User-agent: *\nDisallow: /%2A$\n", "User-agent: *\nRobot-version: 2.0\nDisallow: /*\n", "2:pattern"},
		{RFC9309, Extended, "User-agent: *\nAllow: /%2A$\n", "User-agent: *\nRobot-version: 2.0\nAllow: /%2A\n", "2:pattern"},
		{Gopher, Extended, "Disallow: *.$\n", "User-agent: *\nRobot-version: 2.0\nDisallow: *.$*\n", ""},
		{Extended, RFC9309, "User-agent: x\nRobot-version: 2.0\nAllow: /b$\nDisallow: /b*x?\n", "User-agent: x\nAllow: /b%24$\nDisallow: /b*x?$\n", "1:precedence"},
		{Extended, Standard1994, "User-agent: *\nDisallow: /a#\n", "User-agent: *\nDisallow: /a%23\n", ""},
		{Gopher, RFC9309, "Disallow: /100%\n", "User-agent: *\nDisallow: /100%\n", "1:percent"},
		{RFC9309, Gopher, "User-agent: *\nDisallow: /100%\n", "User-agent: *\nDisallow: /100%\n", "2:percent"},
		{IRCv3, Gopher, "CRAWLER=index:deny,cooldown:60\n", "User-agent: *\nDisallow: /\nDisallow: *\n", "0:field"},
		{IRCv3, Standard1994, "CRAWLER=index:allow\n", "User-agent: *\nDisallow: \n", ""},
		{Gopher, IRCv3, "Disallow: /\nDisallow: *\n", "CRAWLER=index:deny,cooldown:3600\n", ""},
		{Gopher, IRCv3, "Disallow: /a\n", "", "1:pattern"},
		{Gopher, IRCv3, "", "CRAWLER=index:allow,cooldown:3600\n", ""},
	} {
		out, lost := Convert(Parse(c.from, []byte(c.file)), c.to)
		var codes []string
		for _, d := range lost {
			codes = append(codes, fmt.Sprintf("%d:%s", d.Line, d.Code))
		}
		if string(out) != c.want || strings.Join(codes, " ") != c.lost {
			t.Errorf("%s to %s: %q:\n got %q, lost %s\nwant %q, lost %s", c.from, c.to, c.file, out, codes, c.want, c.lost)
		}
	}
}

// TestConvertKeeps: what was denied stays denied; what was allowed stays so,
// unless it was said that something is lost.
func TestConvertKeeps(t *testing.T) {
	for range 20000 {
		seed := rand.Uint64()
		rnd := rand.New(rand.NewPCG(seed, 0))
		data := randomFile(rnd)
		sel := "/" + randomText(rnd, []string{"a", "b", "/", "A", "$"}, 6)
		from, to := Dialects()[rnd.IntN(int(IRCv3))], Dialects()[rnd.IntN(int(IRCv3))]
		agent := []string{"foo", "foobar", "zed"}[rnd.IntN(3)]
		f := Parse(from, data)
		if !slices.ContainsFunc(f.names(), func(a Agent) bool { return strings.EqualFold(a.Token, agent) }) {
			agent = "zed"
		}
		out, lost := Convert(f, to)
		has := func(codes ...string) bool {
			return slices.ContainsFunc(lost, func(d Diagnostic) bool { return slices.Contains(codes, d.Code) })
		}
		was, is := f.Allowed(agent, sel), Parse(to, out).Allowed(agent, sel)
		if was && !is && len(lost) == 0 || !was && is && !has("slash", "precedence", "percent") {
			t.Fatalf("seed %d: %s to %s: %q, %q: was %v, is %v\n%q\nto %q\nlost %v", seed, from, to, agent, sel, was, is, data, out, lost)
		}
	}
}

// TestHostileIsQuick: a file made to be dear costs time in proportion to its
// size. Were anything quadratic, this would take minutes.
func TestHostileIsQuick(t *testing.T) {
	for name, line := range map[string]string{
		"agents": "User-agent: a%d\n", "agents and fields": "User-agent: a%d\nx:\n",
		"groups": "User-agent: a%d\nDisallow: /%[1]d*b\n", "same groups": "User-agent: a\nDisallow: /%d\n",
		"rules": "Disallow: /%d\n", "globs": "Disallow: *%d*a\n", "bare CR": "\r\r\r\r%d", "same": "Disallow: /\n",
	} {
		var b strings.Builder
		for i := 0; b.Len() < DefaultLimit/2; i++ {
			if strings.Contains(line, "%") {
				fmt.Fprintf(&b, line, i)
			} else {
				b.WriteString(line)
			}
		}
		b.WriteString("Disallow: /z\n")
		for _, d := range []Dialect{Gopher, RFC9309, Standard1994, Extended} {
			f := Parse(d, []byte(b.String()))
			f.Decide("a7", "/some/selector")
			f.Fields("a")
			f.Groups()
			f.Lint()
			for _, to := range []Dialect{Gopher, RFC9309, Extended} {
				if out, _ := Convert(f, to); len(out) > 8*maxConverted {
					t.Errorf("%s: %s to %s: %d octets", name, d, to, len(out))
				}
			}
		}
	}
}
