package answer_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/server"
)

// large is a file that leaves through sendfile(2) and is no text.
func large(n int) string { return strings.Repeat("\x00\x01\x02\xff", n<<10) }

// look asks for a file the slow way, which finds out whether its directory folds case.
func look(t *testing.T, h *Files, sel string) {
	t.Helper()
	a, err := h.Ask(request(t, sel), wire)
	must(t, err)
	a.Close()
}

// atHand asks for a file, which has to be at hand.
func atHand(t *testing.T, h *Files, sel string) *os.File {
	t.Helper()
	var a server.Answer
	if !eventually(func() (ok bool) {
		if a, ok = h.Quick(request(t, sel)); !ok {
			look(t, h, sel)
		}
		return ok && a.File != nil
	}) {
		t.Fatalf("%s is never at hand", sel)
	}
	return a.File
}

// body reads the file of an answer and gives it back.
func body(t *testing.T, f *os.File) string {
	t.Helper()
	b, err := io.ReadAll(f)
	must(t, errors.Join(err, f.Close()))
	return string(b)
}

// A form that draws files, or seeks in them, is not sent what is on the disk.
func TestFilesThatAreDrawn(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"large.bin": large(200)})
	h := newFiles(run(t, dir), 0)
	must(t, atHand(t, h, "/large.bin").Close())
	draws := &answer.Format{Raw: true, Draws: func(*answer.Value) bool {
		return true
	}, Draw: func(*answer.Asked, *answer.Value) ([]byte, error) {
		return []byte("drawn"), nil
	}}
	for _, form := range []*answer.Format{draws, {Seek: true}} {
		if a, ok := h.Host.Quick(request(t, "/large.bin"), form); ok {
			t.Errorf("%d bytes are sent", len(a.Body))
		}
	}
}

// A file at hand is what is there; a spelling that is closed is not sent.
func TestFileAtHand(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x.bin")
	write(t, dir, map[string]string{"x.bin": large(50), "y.bin": large(50),
		".robots": "Disallow: /y.bin$\n" + manyRules()})
	h := newFiles(run(t, dir), 1<<20)
	if got := body(t, atHand(t, h, "/y.bin")); got != large(50) {
		t.Errorf("%d bytes", len(got))
	}
	if _, ok := h.Quick(request(t, "y.bin")); ok {
		t.Error("a spelling that is closed is sent")
	}
	open := atHand(t, h, "/x.bin")
	must(t, os.WriteFile(name+".new", []byte(large(60)), 0o600))
	must(t, os.Rename(name+".new", name))
	if !eventually(func() bool { return body(t, atHand(t, h, "/x.bin")) == large(60) }) {
		t.Error("another in its place is never sent")
	}
	if got := body(t, open); got != large(50) {
		t.Errorf("the one that was open has %d bytes", len(got))
	}
	must(t, os.Remove(name))
	if !eventually(func() bool {
		a, ok := h.Quick(request(t, "/x.bin"))
		if ok && a.File != nil {
			must(t, a.File.Close())
		}
		return a.File == nil
	}) {
		t.Error("what is gone is sent")
	}
}
