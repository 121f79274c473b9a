package menu_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/gophd/gophd/menu"
)

// The menu of a capsule is what its index.gmi says: no mark of a gophermap counts, and the
// tree determines what a link leads to.
func TestCapsule(t *testing.T) {
	fsys := tree(map[string]string{"about.gmi": "# About", "log/index.gmi": "# Log",
		"log/1.gmi": "x", "a b.txt": "x", "pic.png": "x", "unlinked.txt": "x", "made.cgi": "x"})
	long := strings.Repeat("many words and more ", 6)
	rows := []struct{ line, want string }{
		{"# A capsule", "i# A capsule\n"},
		{"* item\n=x\n!y\n-about.gmi\n:txt=9\n*\n~\n%",
			"i* item\ni=x\ni!y\ni-about.gmi\ni:txt=9\ni*\ni~\ni%\n"},
		{"=> about.gmi About", "0About\t/about.gmi\n"},
		{"=> /log", "1/log\t/log/\n"},
		{"=>log/index.gmi\tThe log", "1The log\t/log/\n"},
		{"=> a%20b.txt?q#part Blanks", "0Blanks\t/a b.txt\n"},
		{"=> ../../pic.png A picture", "IA picture\t/pic.png\n"},
		{"=> gone.gmi Gone", "0Gone\t/gone.gmi\n"},
		{"=> a/index.gmi Gone", "0Gone\t/a/index.gmi\n"},
		{"=> #part Here", "1Here\t/\n"},
		{"=> https://far.example/x Far", "hFar\tURL:https://far.example/x\n"},
		{"=> //far.example/x Far", "hFar\tURL:gemini://far.example/x\n"},
		{"=> mailto:a@far.example", "hmailto:a@far.example\tURL:mailto:a@far.example\n"},
		{"=> gopher://far.example:7070/0/x Far", "0Far\t/x\tfar.example\t7070\n"},
		{"=> gemini://our.example/log Ours", "1Ours\t/log/\n"},
		{"=> gemini://our.example Root", "1Root\t/\n"},
		{"=>", "i=>\n"},
		{"```\n=> about.gmi\n# no heading  \n\n```\n=> about.gmi",
			"i=> about.gmi\ni# no heading  \ni\n0about.gmi\t/about.gmi\n"},
		{long, "imany words and more many words and more many words and more many words\niand more many words and more many words and more\n"},
		{"* " + long[:79], "i* many words and more many words and more many words and more many\ni  words and more\n"},
		{"> " + long[:79], "i> many words and more many words and more many words and more many\ni> words and more\n"},
		{"a\tb", "ia       b\n"},
	}
	own := func(u *url.URL) bool { return u.Host == "our.example" }
	for _, row := range rows {
		fsys["index.gmi"] = tree(map[string]string{"x": row.line + "\n"})["x"]
		m := mustMenu(t, menu.Builder{FS: fsys, Host: "our.example", Port: 70, Own: own}, ".")
		if got := show(m); got != row.want || m.Gemtext != "index.gmi" {
			t.Errorf("%q: got\n%swant\n%s", row.line, got, row.want)
		}
	}
	fsys["index.gmi"] = tree(map[string]string{"x": "```\n# no\n```\ntext\n## A title\n"})["x"]
	if m := mustMenu(t, menu.Builder{FS: fsys}, "."); m.Title != "A title" {
		t.Errorf("the title is %q", m.Title)
	}
	page, err := (&menu.Builder{FS: fsys}).Page(t.Context(), "log/1.gmi")
	if got := show(page); err != nil || got != "ix\n" {
		t.Errorf("a page: %s, %v", got, err)
	}
}
