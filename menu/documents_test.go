package menu_test

import (
	"strings"
	"testing"

	"github.com/gophd/gophd/menu"
)

func TestRedirectPage(t *testing.T) {
	for _, target := range []string{"https://a.example/?a=1&b=2", "HTTP://a.example/",
		"mailto:me@a.example", "gemini://a.example", "nex://a.example/", "ssb://a/",
		"ipns://a.example", "irc://a.example/#x", "http://" + strings.Repeat("a", 2041)} {
		page, err := menu.RedirectPage(target)
		if err != nil {
			t.Errorf("RedirectPage(%q): %v", target, err)
		}
		escaped := strings.ReplaceAll(target, "&", "&amp;")
		if !strings.Contains(string(page), `<a href="`+escaped+`">`) {
			t.Errorf("RedirectPage(%q) does not link it:\n%s", target, page)
		}
	}
}

func TestAbuseRedirect(t *testing.T) {
	for _, target := range []string{
		"", "http", "http:", "javascript:alert(1)", "JavaScript:alert(1)", "java\tscript:alert(1)",
		" javascript:alert(1)", "data:text/html,x",
		"file:///etc/passwd", "vbscript:x", `"><script>`, "//a.example/", "http://a/\r\nx",
		"http://a/\x00", "http://a b/", "http://\xff/",
		"http://a/\u009b", "http://" + strings.Repeat("a", 2042),
	} {
		if page, err := menu.RedirectPage(target); err == nil {
			t.Errorf("RedirectPage(%q) made a page:\n%s", target, page)
		}
	}
	page, err := menu.RedirectPage(`http://a/"><script>alert('1')</script>`)
	if err != nil || strings.Contains(string(page), "<script") ||
		strings.Contains(string(page), "'") {
		t.Errorf("not escaped (%v):\n%s", err, page)
	}
}

func TestCaps(t *testing.T) {
	got := string(menu.Caps("1.2\n3", [][2]string{{"Key\r", "a\tb"}}))
	for _, want := range []string{"CAPS\n", "\nCapsVersion=1\n", "\nPathDelimeter=/\n",
		"\nPathParentDouble=FALSE\n", "\nServerSoftware=gophd\n", "\nServerSoftwareVersion=1.2 3\n",
		"\nKey =a b\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
