package robotscmd

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/daemon"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/policy"
)

// A leak that no report names is an error, one report for each reader.
func TestUnnamedLeaks(t *testing.T) {
	k := &checked{Readers: policy.Matrix{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
	k.unnamed([]policy.Leak{{Reader: "b", Selector: "/x"}, {Reader: "a", Selector: "/x"},
		{Reader: "b", Selector: "/y"}})
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
		treetest.Write(t, root, map[string]string{file: text})
		c := policy.Compile(policy.Input{Annotations: []policy.Annotation{{Dir: "/", File: file,
			Data: []byte(text)}}, Sitemaps: []string{"gopher://h/0/sitemap.xml"}})
		for served, differs := range map[string]bool{string(c.File()): false,
			strings.ReplaceAll(string(c.File()), "/a/", "/b/"): true} {
			addr := treetest.Conns(t, func(conn net.Conn) {
				_, _ = conn.Read(make([]byte, 100))
				_, _ = io.WriteString(conn, served)
			})
			var out bytes.Buffer
			check := &Command{Root: root, Args: []string{"gopher://" + addr + "/"},
				Serve: daemon.Flags{Sitemap: true}, Agent: "x", Timeout: time.Minute, Out: &out,
				Err: io.Discard}
			if err := check.Check(t.Context()); errors.Is(err, exit.ErrNo) != differs ||
				err != nil && !differs || strings.Contains(out.String(), "DIFFERS") != differs {
				t.Errorf("%s: %v\n%s", file, err, out.String())
			}
		}
	}
}
