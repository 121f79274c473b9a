package robots

import (
	"testing"

	"github.com/gophd/gophd/robots/readers"
)

// "*Word*" named everybody: what was said to one robot, even "Allow: /",
// bound or freed all of them.
func TestStarredNameIsNobody(t *testing.T) {
	const file = "User-agent: *\nDisallow: /private/\n\nUser-agent: *GoodBot*\nAllow: /\n\nUser-agent: *BadBot\nDisallow: /\n"
	for _, d := range []Dialect{Gopher, readers.Veronica2, RFC9309, readers.Standard1994, readers.Extended} {
		f := Parse(d, []byte(file))
		for _, agent := range []string{"*", "otherbot", "GoodBot", "BadBot"} {
			if f.Allowed(agent, "/private/x") || !f.Allowed(agent, "/x") {
				t.Errorf("%v, %s: /private/x %v, /x %v", d, agent, f.Allowed(agent, "/private/x"), f.Allowed(agent, "/x"))
			}
		}
	}
	if f := Parse(RFC9309, []byte("User-agent: *\u00a0\nDisallow: /\n")); f.Allowed("a", "/x") {
		t.Error("a no-break space after the star counts")
	}
	if f := Parse(RFC9309, []byte("User-agent: SomeBot*\nDisallow: /\n")); f.Allowed("somebot", "/x") || !f.Allowed("a", "/x") {
		t.Error("a star after a name is no part of it, as Google reads it")
	}
}
