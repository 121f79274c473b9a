package irc

import (
	"crypto/tls"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gophd/gophd/robots/internal/robotstest"
	"github.com/gophd/gophd/robots/readers"
)

const welcome = `> NICK crawl
	> USER crawler 0 * :crawler
	< :s 001 crawl :Welcome
	`

// TestClient proves how a network is asked by any of its servers (I10), here
// by scripted ones.
func TestClient(t *testing.T) {
	for _, test := range []struct {
		name, script, want, fails string
	}{
		{"no token", welcome + "< :s 005 crawl NICKLEN=9 :are supported\n< :s 376 crawl :End\n> QUIT", "", ""},
		{"no message of the day",
			welcome + "< :s 005 crawl CRAWLER=index:allow\n< :s 422 crawl :none\n> QUIT",
			"CRAWLER=index:allow,cooldown:3600", ""},
		{"a later line takes the token back", welcome + `< :s 005 crawl CRAWLER=index:deny :are supported
			< :s 005 crawl -CRAWLER :are supported
			< :s 376 crawl :End
			> QUIT`, "", ""},
		{"ping before the welcome", `> NICK crawl
			> USER
			< PING :a cookie
			> PONG :a cookie
			< @time=now :s 005 crawl CRAWLER=index:deny,cooldown:31536000 :are supported
			< :s 376 crawl :End
			> QUIT
			< ERROR :Closing connection`, "CRAWLER=index:deny,cooldown:31536000", ""},
		{"nick in use", `> NICK crawl
			> USER
			< :s 433 * crawl :in use
			> NICK crawl
			< :s 005 crawl1 CRAWLER=index:allow,cooldown:5 :are supported
			< :s 376 crawl :End
			> QUIT`, "CRAWLER=index:allow,cooldown:5", ""},
		{"no nick will do", "> NICK\n> USER\n" +
			strings.Repeat("< :s 433 * x :in use\n> NICK crawl\n", 5) + "< :s 433 * x :in use",
			"", "no nick"},
		{"refused", "> NICK\n> USER\n< ERROR :Closing link: banned\x07", "",
			`refuses: "Closing link: banned\a"`},
		{"closed", welcome, "", "unexpected EOF"},
		{"a line without end", welcome + "< " + strings.Repeat("x", 10000), "",
			"a line of more than 8703 bytes"},
		{"talk without end", welcome + strings.Repeat("< :s NOTICE * :hello\n", 20000), "",
			"sends too much"},
		{"silence", welcome + "...", "", "deadline exceeded"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := Visitor{Dial: robotstest.Scripted(t, test.script, nil)}
				got, _, err := c.Crawler(t.Context(), "irc://irc.example.com/")
				if test.fails != "" {
					if err == nil || !strings.Contains(err.Error(), test.fails) {
						t.Errorf("error %v, want %s", err, test.fails)
					}
				} else if err != nil {
					t.Errorf("error %v", err)
				}
				if got.String() != test.want {
					t.Errorf("preference %q, want %q", got, test.want)
				}
			})
		})
	}
}

// TestClientTLS proves that ircs checks the name of the server.
func TestClientTLS(t *testing.T) {
	server, trusting := robotstest.Certificate(t)
	synctest.Test(t, func(t *testing.T) {
		script := welcome + "< :s 005 crawl CRAWLER=index:deny :are supported\n< :s 422 crawl :none\n> QUIT"
		c := Visitor{Dial: robotstest.Scripted(t, script, server), TLS: trusting}
		got, _, err := c.Crawler(t.Context(), "ircs://example.com")
		if err != nil || got.Index != readers.IndexDeny {
			t.Errorf("%v %v, want deny", got, err)
		}
		c.Dial = robotstest.Scripted(t, "...", server)
		_, _, err = c.Crawler(t.Context(), "ircs://example.org")
		if _, ok := errors.AsType[*tls.CertificateVerificationError](err); !ok {
			t.Errorf("a server of another name: error %v", err)
		}
	})
}

func TestClientRefusesInput(t *testing.T) {
	for url, fails := range map[string]string{
		"http://h": "none of irc, ircs",
		"irc://":   "no host",
	} {
		if _, _, err := new(Visitor).Crawler(t.Context(), url); err == nil ||
			!strings.Contains(err.Error(), fails) {
			t.Errorf("%q: error %v, want %s", url, err, fails)
		}
	}
}

// TestISupportTokens proves I8: 005 lines of at most 13 tokens.
func TestISupportTokens(t *testing.T) {
	many := strings.Repeat("T ", 13)
	for _, test := range []struct {
		line, want string
	}{
		{":irc.example.com 005 alice A B=1 :are supported by this server\r\n", "A B=1"},
		{"@time=x;y=z :irc  005  alice  A", "A"},
		{"005 alice -A :CRAWLER=index:allow", "-A"},
		{":s 005 alice " + many + "CRAWLER=index:allow", strings.TrimSpace(many)},
		{":s 005 alice", ""},
		{"", ""},
		{":", ""},
		{"@", ""},
	} {
		_, middle, _ := parse(test.line)
		if got := strings.Join(isupport(middle), " "); got != test.want {
			t.Errorf("%q: tokens %q, want %q", test.line, got, test.want)
		}
	}
}
