package web

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func written(s string) string {
	var w pageWriter
	w.text(s)
	return w.String()
}

// What a stranger's text becomes: colors and links, and nothing else that is markup.
func TestText(t *testing.T) {
	const rel = ` rel="external nofollow noreferrer">`
	for text, want := range map[string]string{
		"a < b & \"c\"":                    "a &lt; b &amp; &#34;c&#34;",
		"\x1b[1;31mred\x1b[0m.":            `<span class="b c1">red</span>.`,
		"\x1b[1mx\x1b[22my":                `<span class="b">x</span>y`,
		"\x1b[91mred\x1b[39m.":             `<span class="c9">red</span>.`,
		"\x1b[44;37mon blue\x1b[m.":        `<span class="g4">on blue</span>.`,
		"\x1b[90;107mx\x1b[97;100my":       `<span class="g15">x</span><span class="g8">y</span>`,
		"\x1b[31;7mx":                      `<span class="g1">x</span>`,
		"\x1b[7mx\x1b[27my":                `<span class="g7">x</span>y`,
		"\x1b[38;5;196mx\x1b[38;5;250my":   `<span class="c-ff0000">x</span><span class="c-bcbcbc">y</span>`,
		"\x1b[38;2;0;0;255mx\x1b[48;5;2my": `<span class="c-0000ff">x</span><span class="c-0000ff g2">y</span>`,
		"\x1b[48:2:1:2:3mx":                `<span class="g-010203">x</span>`,
		"\x1b[3mx\x1b[23my":                `<span class="t">x</span>y`,
		"write to <ann@e.org>.": `write to &lt;<a href="mailto:ann@e.org"` + rel +
			`ann@e.org</a>&gt;.`,
		"mailto:ann@e.org": `<a href="mailto:ann@e.org"` + rel +
			`mailto:ann@e.org</a>`,
		"@ann@e.org git@e.org:x a@b":           "@ann@e.org git@e.org:x a@b",
		"\x1b[4mx\x1b[24my":                    `<span class="u">x</span>y`,
		"\x1b[2J\x1b[10;10Hx\x1b]0;t\x07\x1bc": "x",
		"\x1b[38mx\x1b[999999999999999999my":   "xy",
		"\x1b[38;5;256mx":                      "x",
		"\x1b[38;5;0mx\x1b[0m\x1b[38;5;16my":   `<span class="c0">x</span><span class="c-000000">y</span>`,
		"\x1b[<script>m":                       "cript&gt;m",
		"\x1b":                                 "",
		"see https://e.org/a(b), or": `see <a href="https://e.org/a%28b%29"` + rel +
			`https://e.org/a(b)</a>, or`,
		"(gopher://e.org/1/x).": `(<a href="gopher://e.org/1/x"` + rel +
			`gopher://e.org/1/x</a>).`,
		"<finger://e.org/u>": `&lt;<a href="finger://e.org/u"` + rel +
			`finger://e.org/u</a>&gt;`,
		"<gemini://e.org/>": `&lt;<a href="gemini://e.org/"` + rel +
			`gemini://e.org/</a>&gt;`,
		`https://e.org/"onmouseover=x`: `<a href="https://e.org/"` + rel +
			`https://e.org/</a>&#34;onmouseover=x`,
		"javascript://x/%0aalert(1)":  "javascript://x/%0aalert(1)",
		"file:///etc/passwd data://x": "file:///etc/passwd data://x",
		"http:// and ://x":            "http:// and ://x",
		"https://e.org/&amp": `<a href="https://e.org/&amp;amp"` + rel +
			`https://e.org/&amp;amp</a>`,
		"http://e.org/ä-9": `<a href="http://e.org/%c3%a4-9"` + rel +
			`http://e.org/ä-9</a>`,
		"http://e.org/%zz": "http://e.org/%zz",
	} {
		if got := written(text); got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", text, got, want)
		}
	}
	for scheme := range strings.FieldsSeq("http https gopher gophers gemini spartan nex finger ftp irc ircs telnet xmpp") {
		if got := written(scheme + "://e.org/"); !strings.HasPrefix(got,
			`<a href="`+scheme+`://e.org/"`+rel) {
			t.Errorf("%s: %s", scheme, got)
		}
	}
}

var ours = regexp.MustCompile(`<a href="(?i:https?|gophers?|gemini|spartan|nex|finger|ftp|mailto|ircs?|telnet|xmpp):[^"<>\s]*" rel="external nofollow noreferrer">|</a>|<span class="[a-z0-9 -]+">|</span>`)

// Whatever a text is, its markup is one of ours.
func TestTextIsNoMarkup(t *testing.T) {
	part := rapid.OneOf(rapid.SampledFrom([]string{"\x1b[", "\x1b]", "m", "31;", "38;5;", "48;2;",
		"http://", "HTTPS://", "://", "<", ">", `"`, "'", "&", "(", ")", ".", " ", "\n",
		"e.org/"}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		got := written(strings.Join(rapid.SliceOfN(part, 0, 20).Draw(t, "parts"), ""))
		if rest := ours.ReplaceAllString(got, ""); strings.ContainsAny(rest, "<>\"\x1b") {
			t.Fatalf("%q", got)
		}
	})
}

// A text that is made to be slow is not: each is 1 MiB.
func TestSlowTexts(t *testing.T) {
	for _, part := range []string{"http://))))", "://", "\x1b[", "\x1b]", "\x1b[31m", "a://b ",
		"http://" + strings.Repeat("(", 3000) + " "} {
		if got := written(strings.Repeat(part, (1<<20)/len(part))); len(got) > 64<<20 {
			t.Errorf("%.10q: %d bytes", part, len(got))
		}
	}
}
