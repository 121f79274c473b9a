package check

import (
	"bufio"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gophd/gophd/diag"
)

// old serves replies by selector, and notes what was asked.
type old struct {
	mu    sync.Mutex
	asked []string
	addr  string
}

func oldServer(t *testing.T, replies map[string]string) *old {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	o := &old{addr: l.Addr().String()}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			line, _ := bufio.NewReader(conn).ReadString('\n')
			sel := strings.TrimRight(line, "\r\n")
			o.mu.Lock()
			o.asked = append(o.asked, sel)
			o.mu.Unlock()
			_, port, _ := net.SplitHostPort(o.addr)
			text, ok := replies[sel]
			if !ok {
				text = "3Not found\t\terror.host\t1\r\n.\r\n"
			}
			_, _ = conn.Write([]byte(strings.ReplaceAll(text, "HERE", "\t127.0.0.1\t"+port+"\r\n")))
			_ = conn.Close()
		}
	}()
	return o
}

func (o *old) requests() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.asked)
}

// Old links with escapes and "." lead to the same; what fails on both servers is no
// difference, whatever the old one sends in place of an error item.
func TestAgainstOldForms(t *testing.T) {
	const picture = "GIF89a: there is no such picture"
	server := oldServer(t, map[string]string{
		"":                              "0Blank\t/d/a#040b.txtHERE0Dot\t/d/./c.txtHERE1Top\t/d/../HERE0Text\t/none.txtHEREgPicture\t/none.gifHERE0Real\t/real.txtHERE0Up\t/../xHEREhBare\t/https://gophd.example/HERE0Feed\t/d/feed.xmlHERE.\r\n",
		"/d/feed.xml":                   "a feed",
		"/d/a#040b.txt":                 "ab\n",
		"/d/./c.txt":                    "c\n",
		"/none.txt":                     "Error: File or directory not found!\r\n",
		"/gophd-check-no-such-name.txt": "Error: File or directory not found!\r\n",
		"/none.gif":                     picture,
		"/gophd-check-no-such-name.gif": picture,
		"/real.txt":                     "Error: this is\nthe title of a text.\n",
	})
	dir := t.TempDir()
	write(t, dir, map[string]string{"gophermap": "0Blank\t/d/a b.txt\n0Dot\td/c.txt\n1Top\t/\n0Text\tnone.txt\ngPicture\tnone.gif\n0Real\treal.txt\n0Up\t/../x\nhBare\thttps://gophd.example/\n0Feed\td/feed.xml\n", "d/a b.txt": "ab\n", "d/c.txt": "c\n", "d/2026-01-02-x.txt": "x"})
	r, err := Against(t.Context(), dir, Options{}, Comparison{URL: "gopher://" + server.addr + "/", Mine: true})
	must(t, err)
	r.Findings = slices.DeleteFunc(r.Findings, func(d diag.Diagnostic) bool { return d.Code == CodeText && d.File == "d/feed.xml" }) // each server's own
	if len(r.Findings) != 1 || r.Findings[0].Code != CodeGone || r.Findings[0].File != "real.txt" {
		t.Errorf("%+v", r.Findings)
	}
}

// Every difference from a running server is found, once, and nothing else.
func TestAgainst(t *testing.T) {
	server := oldServer(t, map[string]string{
		"":           "iHi\t\tx\t1\r\n0A\t/a.txt\told.example\t70\r\n0Gone\t/gone.txtHERE0Other\t/other.txtHERE1D\t/d/HERE1Prog\t/p/\told.example\t70\r\n1X\t/private/HERE1Far\t/\tfar.example\t70\r\n.\r\n",
		"/a.txt":     "a.\r\n",
		"/gone.txt":  "gone\n",
		"/other.txt": "other\n",
		"/d/":        "0Y\t/d/y.txtHERE0X\t/d/x.txtHERE.\r\n",
		"/d/x.txt":   "x\n",
		"/d/y.txt":   "y\n",
		"/p/":        "0Printed\t/a.txtHERE.\r\n",
		"/private/":  "0No\t/private/noHERE.\r\n",
		"robots.txt": "User-agent: *\nDisallow: /private/\n",
	})
	dir := t.TempDir()
	write(t, dir, map[string]string{"gophermap": "Hi\n0A\t/a.txt\told.example\n0Gone\tgone.txt\n0Other\tother.txt\n1D\td\n1Prog\t/p/\told.example\n1X\tprivate/\n1Far\t/\tfar.example\n",
		"a.txt": "a.", "other.txt": "another\n", "d/x.txt": "x\n", "d/y.txt": "y\n", "p/gophermap": "#!/bin/sh\n", "private/no": "x"})
	against := func(o Comparison) (list []string, n int) {
		o.URL = "gopher://" + server.addr + "/"
		r, err := Against(t.Context(), dir, Options{}, o)
		must(t, err)
		if text := r.comparison(o.URL); !strings.Contains(text, ": 1 AGAINST-GONE\n") || !o.Mine && !strings.Contains(text, "selectors, 4 with a difference, 2 lost\n") {
			t.Error(text)
		}
		for _, d := range r.Findings {
			list = append(list, string(d.Severity)+" "+d.Code+" "+d.File)
		}
		return list, r.Asked
	}
	want := []string{"error AGAINST-GONE gone.txt", "error AGAINST-LESS p", "warning AGAINST-TEXT other.txt", "notice AGAINST-ORDER d", "notice AGAINST-TEXT p"}
	resume := filepath.Join(t.TempDir(), "state")
	got, n := against(Comparison{Resume: resume})
	if !slices.Equal(got, want) || n != 8 {
		t.Errorf("%d asked, got\n%s\nwant\n%s", n, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if slices.ContainsFunc(server.requests(), func(sel string) bool { return strings.HasPrefix(sel, "/private") }) {
		t.Errorf("asked for what robots.txt denies: %q", server.requests())
	}
	text, err := os.ReadFile(resume)
	must(t, err)
	half := strings.Join(strings.SplitAfter(string(text), "\n")[:4], "")
	must(t, os.WriteFile(resume, []byte(half), 0o600))
	before := len(server.requests())
	if got, n := against(Comparison{Resume: resume}); !slices.Equal(got, want) || n != 8 || len(server.requests()) != before+4+3 {
		t.Errorf("resumed: %d of %d asked, %q", len(server.requests())-before, n, got)
	}
	if _, n := against(Comparison{Mine: true}); n != 10 {
		t.Errorf("one's own server: %d asked, %q", n, server.requests()[before:])
	}
}
