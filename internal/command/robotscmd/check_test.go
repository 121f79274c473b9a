package robotscmd

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/daemon"
	"github.com/gophd/gophd/policy"
)

// A leak that no report names is an error, one report for each reader.
func TestUnnamedLeaks(t *testing.T) {
	k := &checked{Readers: policy.Matrix{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
	k.unnamed([]policy.Leak{{Reader: "b", Selector: "/x"}, {Reader: "a", Selector: "/x"}, {Reader: "b", Selector: "/y"}})
	if len(k.Reports) != 2 || !k.bad() || !slices.Equal(k.Reports[1].Leaks, []string{"/x", "/y"}) {
		t.Errorf("got %+v", k.Reports)
	}
}

// TestServedSitemap: a server with -sitemap names a URL that the directory does not have.
// Its file is no other one; with another rule it is.
func TestServedSitemap(t *testing.T) {
	for _, file := range []string{".robots", "robots.txt"} {
		root := t.TempDir()
		const text = "User-agent: *\nDisallow: /a/\nSitemap: gopher://own/\n"
		if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c := policy.Compile(policy.Input{Annotations: []policy.Annotation{{Dir: "/", File: file, Data: []byte(text)}}, Sitemaps: []string{"gopher://h/0/sitemap.xml"}})
		for served, differs := range map[string]bool{string(c.File()): false, strings.ReplaceAll(string(c.File()), "/a/", "/b/"): true} {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					_, _ = conn.Read(make([]byte, 100))
					_, _ = io.WriteString(conn, served)
					_ = conn.Close()
				}
			}()
			var out bytes.Buffer
			check := &Command{Root: root, Args: []string{"gopher://" + l.Addr().String() + "/"}, Serve: daemon.Flags{Sitemap: true}, Agent: "x", Timeout: time.Minute, Out: &out, Err: io.Discard}
			if err = check.Check(t.Context()); errors.Is(err, exit.ErrNo) != differs || err != nil && !differs || strings.Contains(out.String(), "DIFFERS") != differs {
				t.Errorf("%s: %v\n%s", file, err, out.String())
			}
			_ = l.Close()
		}
	}
}
