package robots

import (
	"fmt"
	"testing"

	"github.com/gophd/gophd/robots/readers"
)

// TestTokenFile: I3 holds for a file, too: only index:allow is a permission, and a
// decision names the token.
func TestTokenFile(t *testing.T) {
	for text, want := range map[string]string{
		"CRAWLER=index:allow\n": "true network-token 1 CRAWLER=index:allow", "A=1\r\nB crawler=index:deny,cooldown:9 C\r\n": "false network-token 2 crawler=index:deny,cooldown:9",
		"CRAWLER=index:DENY": "false network-token 1 CRAWLER=index:DENY", "CRAWLER=index:ALLOW": "false unspecified 0 ", "CRAWLER=index:maybe": "false unspecified 0 ",
		"CRAWLER=cooldown:5\nDisallow: /\n": "false unspecified 0 ", ":irc.example.org 005 nick CRAWLER=index:deny :are ok": "false network-token 1 CRAWLER=index:deny", "CRAWLER": "false unspecified 0 ", "": "false unspecified 0 ", "NICKLEN=30": "false unspecified 0 ",
		"CRAWLER=index:deny\nCRAWLER=index:allow\n": "true network-token 2 CRAWLER=index:allow", "CRAWLER=index:allow -CRAWLER": "false unspecified 0 ",
	} {
		d := Parse(readers.IRCv3, []byte(text)).Decide("a", "#chan")
		reason, _ := d.Reason.MarshalText()
		if got := fmt.Sprintf("%v %s %d %s", d.Allowed, reason, d.Rule.Line, d.Rule.Pattern); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
