package answer_test

import (
	"archive/zip"
	"bytes"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// sender takes files by their descriptors, and texts.
type sender struct {
	bytes.Buffer
	files int
}

func (s *sender) SendFile(f *os.File, n int64) (int64, error) {
	s.files++
	return io.CopyN(&s.Buffer, f, n)
}

// A file is sent by its descriptor if it has one, else its bytes are.
func TestSendFile(t *testing.T) {
	dir := t.TempDir()
	text := strings.Repeat("\x00", 200_000)
	write(t, dir, map[string]string{"large.bin": text})
	inMemory := site.FS(fstest.MapFS{"large.bin": {Data: []byte(text)}}, site.Config{})
	for name, tree := range map[string]*site.Site{"directory": run(t, dir), "fs.FS": inMemory} {
		a, err := (&answer.Host{Site: tree}).Ask(request(t, "/large.bin"), wire)
		must(t, err)
		var w sender
		if n, err := a.WriteTo(&w); err != nil || n != int64(len(text)) || w.String() != text ||
			w.files > 0 != (name == "directory") {
			t.Errorf("%s: %d bytes, %v, %d by descriptors", name, n, err, w.files)
		}
		a.Close()
	}
}

// An fs.FS, and a zip file of it, are answered as the directory is: byte for byte.
func TestFS(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"gophermap": "!Title\n0A\ta.txt\n1D\td\n=inc\n*\n", "inc": "#!/bin/sh\nsecret\n",
		"a.txt": "text\n", "d/.robots": "Disallow: /x.txt\n", "d/x.txt": "x",
		"d/gophertag": "Tag\n",
		"d/latin.txt": "caf\xe9\n", "large.txt": strings.Repeat("line\n", 40_000), "b.bin": "\x00",
		".hidden": "secret", "cgi-bin/x": "secret", "prog.gph": "#!/bin/sh\nsecret\n",
		"menu.gph": "[0|A|a.txt|server|port]\n", "d/e/f.txt": "deep",
		"robots.txt": "User-agent: *\nDisallow: /b.bin\n",
	})
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	treetest.Must(t, z.AddFS(os.DirFS(dir)))
	treetest.Must(t, z.Close())
	zipped, err := zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	must(t, err)
	want := newFiles(run(t, dir), 1<<20)
	selectors := []string{"", "robots.txt", "caps.txt", "/nope", "/.hidden", "/inc", "/cgi-bin/x",
		"/prog.gph", "/gophermap", "/../x", "/a.txt/", "/%64/x.txt", "/d/%78.txt", "d/", "/d"}
	must(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, _ fs.DirEntry, _ error) error {
		selectors = append(selectors, "/"+name, "/"+name+"/", name)
		return nil
	}))
	for kind, fsys := range map[string]fs.FS{"directory": os.DirFS(dir), "zip": zipped} {
		tree := site.FS(fsys, site.Config{})
		go func() { _ = tree.Run(t.Context()) }()
		_, err := tree.Snapshot(t.Context())
		must(t, err)
		h := newFiles(tree, 1<<20)
		for range 2 {
			for _, sel := range selectors {
				a, errA := get(t, want, sel)
				b, errB := get(t, h, sel)
				if a != b || server.KindOf(errA) != server.KindOf(errB) {
					t.Errorf("%s, %q: %.60q, %v; the directory: %.60q, %v", kind, sel,
						b, errB, a, errA)
				}
				if strings.Contains(b, "secret") {
					t.Errorf("%s, %q: %.60q", kind, sel, b)
				}
			}
		}
		if _, ok := h.Quick(request(t, "/d/")); !ok {
			t.Errorf("%s: nothing is kept", kind)
		}
	}
}
