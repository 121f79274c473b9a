package front

import (
	"strings"
	"testing"
)

// TestCapsule: the front page of a capsule is the menu of its directory on every front, and
// each front shows it in its own form.
func TestCapsule(t *testing.T) {
	long := strings.Repeat("words in one long paragraph ", 4)
	index := "# My capsule\n" + long + "\n* an item\n=> log The log\n=> log/index.gmi\n=> gemini://h/a.gmi Ours\n=> https://far.example/ Far\n```\n=x   <art>\n```\n"
	h := &hole{files: map[string]string{"index.gmi": index, "log/index.gmi": "# Log", "a.gmi": "# A", "unlinked.txt": "x", "both/index.gmi": "# Gemtext", "both/gophermap": "A map\n"}}
	h.serve(t)
	for _, row := range []struct {
		front, path string
		has         []string
	}{
		{"gopher", "/", []string{"i# My capsule\t", "iwords in one long paragraph words in one long paragraph words in one\t", "i* an item\t", "1The log\t/log/\th\t70\r\n", "1log/index.gmi\t/log/\th", "0Ours\t/a.gmi\th\t70\r\n", "hFar\tURL:https://far.example/\t", "i=x   <art>\t"}},
		{"nex", "/", []string{"# My capsule\n", "words in one\nlong paragraph", "=> /log/ The log\n", "=> /a.gmi Ours\n", "=> https://far.example/ Far\n"}},
		{"gemini", "/", []string{index}},
		{"spartan", "/", []string{index}},
		{"http", "/", []string{"<title>My capsule</title>", "<p>" + strings.TrimSpace(long), `<li class="dot">an item</li>`, `<a href="/a.gmi">Ours</a>`, "=x   &lt;art&gt;"}},
		{"gopher", "/both/", []string{"iA map\t"}},
		{"nex", "/both/", []string{"A map\n"}},
		{"http", "/both/", []string{"A map"}},
		{"gemini", "/both/", []string{"# Gemtext"}},
	} {
		r := h.ask(row.front, row.path)
		for _, part := range row.has {
			if !strings.Contains(r.body, part) {
				t.Errorf("%s: %s has no %q:\n%s", row.front, row.path, part, r.body)
			}
		}
		if strings.Contains(r.body, "unlinked.txt") || strings.Count(r.body, "My capsule") > 4 {
			t.Errorf("%s: %s:\n%s", row.front, row.path, r.body)
		}
	}
}
