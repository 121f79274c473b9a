package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/robots/readers"
)

// TestSiteFields: of a field that can stand once, the first counts; of the others all do.
func TestSiteFields(t *testing.T) {
	c := compileOf(map[string]string{".robots": "Crawl-delay: 5\nCrawl-delay: 6\nIndex: Deny\nIndex: allow\nCooldown: 30\nCooldown: 40\n" +
		"Sitemap: gopher://a/\nSitemap: gopher://b/\nComment: hello\nComment: you\nCrawl-delay: soon\nIndex: perhaps\nCooldown: -1\nLicense: terms\n"})
	if f := c.Fields(); f.CrawlDelay != "5" || f.Index != "deny" || f.Cooldown != 30 {
		t.Errorf("got %+v", f)
	}
	const ends = "\nComment: hello\nComment: you\nCooldown: 30\nCooldown: 40\nCrawl-delay: 5\nCrawl-delay: 6\nIndex: Deny\nIndex: allow\n\nSitemap: gopher://a/\nSitemap: gopher://b/\n"
	if !strings.HasSuffix(string(c.File()), ends) {
		t.Errorf("got %s", c.File())
	}
	for text, want := range map[string]readers.Crawler{
		"Index: deny\nCooldown: 30\n": {Index: readers.IndexDeny, Cooldown: 30 * time.Second},
		"Index: ALLOW\nCooldown: 1\n": {Index: readers.IndexAllow, Cooldown: time.Second},
		"Cooldown: 0\n":               {Cooldown: readers.DefaultCooldown},
	} {
		if got := compileOf(map[string]string{".robots": text}).Fields().Crawler(); got != want {
			t.Errorf("%q: %+v, not %+v", text, got, want)
		}
	}
}
