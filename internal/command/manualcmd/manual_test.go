package manualcmd

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gophd/gophd/internal/command/exit"
)

func TestManual(t *testing.T) {
	var out strings.Builder
	m := &Manual{Out: &out}
	if err := m.Run(nil); err != nil ||
		!strings.Contains(out.String(), "\npubnix        Many people on one machine: a pubnix\n") {
		t.Errorf("%v\n%s", err, out.String())
	}
	pages, err := filepath.Glob("../../../content/manual/*.txt")
	if n := strings.Count(out.String(), "\n"); err != nil || n != len(pages) || n < 10 {
		t.Errorf("%d pages of %d, %v", n, len(pages), err)
	}
	for _, page := range pages {
		out.Reset()
		want, err := os.ReadFile(page)
		name := strings.TrimSuffix(filepath.Base(page), ".txt")
		if err := errors.Join(err, m.Run([]string{name})); err != nil ||
			out.String() != string(want) {
			t.Errorf("%s differs: %v", name, err)
		}
	}
	var e *exit.CommandError
	if err := m.Run([]string{"pubnx"}); !errors.As(err, &e) || e.Status != exit.Usage ||
		!strings.Contains(e.Hint, "gophd manual pubnix?") {
		t.Errorf("a page that is not there: %v", err)
	}
}
