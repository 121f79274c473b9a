package answer

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gophd/gophd/site"
)

func TestCaps(t *testing.T) {
	dir := t.TempDir()
	text := "Index: Deny\nCooldown: 86400\nCrawl-delay: 2.5\nDisallow: /drafts/\n"
	if err := os.WriteFile(filepath.Join(dir, ".robots"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	snap, err := site.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := [][2]string{{"RobotsIndex", "deny"}, {"RobotsCooldown", "86400"}, {"RobotsCrawlDelay", "2.5"}, {"RobotsPolicySHA256", snap.Compiled.Hash()}, {"RobotsFileSHA256", snap.Compiled.FileHash()}}
	if got := robotsCaps(snap); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := robotsCaps(nil); got != nil {
		t.Errorf("of no snapshot: %q", got)
	}
}
