package programs_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/gopher"
	"github.com/gophd/gophd/internal/source/programs"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

func TestParseRule(t *testing.T) {
	for flag, want := range map[string]string{
		"/cgi-bin=/run/s": "/cgi-bin", "/cgi-bin/=/run/s": "/cgi-bin",
		"/~ann/x=unix:/run/s": "/~ann/x", "*.dcgi=/run/s": "/*.dcgi", "*.tar.gz=/s": "/*.tar.gz",
		"/=/run/s": "", "cgi=/run/s": "", "/a=run/s": "", "/a": "", "=": "", "*.=/s": "",
		"*dcgi=/s": "", "/a/../b=/s": "", "/.x=/s": "", "/a//b=/s": "",
		"/a*=/s": "", "/a?=/s": "", "*./x=/s": "", "/a\x1b=/s": "",
	} {
		r, err := programs.ParseRule(flag)
		if err == nil != (want != "") || err == nil && r.Selector() != want {
			t.Errorf("%q: %q, %v", flag, r.Selector(), err)
		}
	}
}

// app answers with what it was asked for, and sometimes badly.
func app(t *testing.T) string {
	t.Helper()
	return treetest.FastCGI(t, func(env map[string]string, out io.Writer) (exit byte) {
		switch {
		case strings.HasSuffix(env["PATH_INFO"], "/die"):
			return 1
		case strings.HasSuffix(env["PATH_INFO"], "/hang"):
			<-t.Context().Done()
		case strings.HasSuffix(env["PATH_INFO"], "/url"):
			_, _ = fmt.Fprintf(out, "%s|%s|%s|%s|%s|%s", env["GOPHER_PROTOCOL"], env["SERVER_PORT"],
				env["GEMINI_URL"], env["QUERY_STRING"], env["SEARCHREQUEST"], env["GOPHERS"])
			return 0
		case strings.HasSuffix(env["PATH_INFO"], "/flood"):
			for {
				if _, err := out.Write(bytes.Repeat([]byte("x"), 1<<15)); err != nil {
					break
				}
			}
		}
		_, _ = fmt.Fprintf(out, "%s|%s|%s|%s", env["SCRIPT_NAME"], env["SCRIPT_FILENAME"],
			env["PATH_INFO"], env["QUERY_STRING"])
		return 0
	})
}

// fixture are programs, and the host that asks them first.
type fixture struct {
	*programs.Programs
	host *answer.Host
}

// next is asked for what programs decline.
type next struct{}

func (next) Answers(string) bool { return true }

func (next) Answer(*answer.Asked) (*answer.Value, error) {
	return &answer.Value{Class: answer.File, Body: []byte("next")}, nil
}

type recorder struct{ bytes.Buffer }

func (r *recorder) WriteItem(it menu.Item) error {
	_, _ = r.Write(it.AppendTo(nil))
	return nil
}

func handler(t *testing.T) *fixture {
	t.Helper()
	root := t.TempDir()
	treetest.Write(t, root, map[string]string{"app/script": "x", "app/deep/dir/script": "x",
		"other/x.run": "x", "other/plain": "x"})
	s, err := site.Open(root, site.Config{})
	treetest.Must(t, err)
	h := &fixture{Programs: &programs.Programs{}, host: &answer.Host{Site: s}}
	h.host.Before = []answer.Source{h, next{}}
	socket := app(t)
	for _, flag := range []string{"/app=", "/app/deep=", "*.run="} {
		rule, err := programs.ParseRule(flag + socket)
		treetest.Must(t, err)
		rule.Client.MaxReply = 1 << 20
		h.Rules = append(h.Rules, rule)
	}
	return h
}

func ask(h *fixture, sel, query string) (string, error) {
	var w recorder
	err := (&gopher.Front{Host: h.host}).ServeGopher(&w,
		&server.Request{RequestLine: selector.RequestLine{Selector: sel, Query: query},
			Host: "h", Port: 70})
	return strings.ReplaceAll(w.String(),
		"|"+h.host.Site.View(context.Background()).Path(".")+"/", "|R/"), err
}

// TestWhoAnswers: which selectors are a program's, and what it is told of them.
func TestWhoAnswers(t *testing.T) {
	h := handler(t)
	for sel, want := range map[string]string{
		"/app/script":          "/app/script|R/app/script||q",
		"app/script":           "/app/script|R/app/script||q",
		"/app/script/a/b":      "/app/script|R/app/script|/a/b|q",
		"/app/script?x=1":      "/app/script|R/app/script||x=1",
		"/app/none/a":          "/app||/none/a|q",
		"/app?x":               "next", // a directory, which no program makes the menu of
		"/app":                 "next",
		"/app/":                "next",
		"/app/deep/dir/script": "/app/deep/dir/script|R/app/deep/dir/script||q",
		"/app/deep/nothing":    "/app/deep||/nothing|q",
		"/other/x.run/info":    "/other/x.run|R/other/x.run|/info|q",
		"/apple":               "next",
		"/other/plain":         "next",
		"/":                    "next",
		"":                     "next",
		"/.run":                "next",
		"/other/none.run":      "Not found: nothing here has that name",
		"/other/plain/x.run":   "Not found: nothing here has that name",
		"/app/../other/plain":  "Not found: nothing here has that name",
		"/app/.hidden":         "Not found: nothing here has that name",
		"/app//script":         "Not found: nothing here has that name",
		"/app/..\\..\\x":       "Not found: nothing here has that name",
		"/app/x\u009b":         "Not found: nothing here has that name",
	} {
		got, err := ask(h, sel, "q")
		if err != nil {
			got = server.ErrorMessage(err)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", sel, got, want)
		}
	}
	h.Rules[1].Client.Timeout = 100 * time.Millisecond
	if _, err := ask(h, "/app/deep/hang", "q"); err == nil ||
		server.ErrorMessage(err) != "The program does not answer" {
		t.Errorf("a program that hangs: %v", err)
	}
	if _, err := ask(h, "/app/die", ""); err == nil ||
		server.ErrorMessage(err) != "The program failed" ||
		err.Error() != "/app ended without output, exit 1" {
		t.Errorf("a program that dies: %v", err)
	}
	if got, err := ask(h, "/app/flood", ""); server.KindOf(err) != server.Internal ||
		len(got) > 1<<20 {
		t.Errorf("a flood: %d bytes, %v", len(got), err)
	}
	if _, ok := (&gopher.Front{Host: h.host}).Quick(&server.Request{RequestLine: selector.RequestLine{Selector: "/app/script"}}); ok {
		t.Error("a program's reply is at hand")
	}
}

// TestUnread: clients that read nothing keep no place of a program, and not all of a flood.
func TestUnread(t *testing.T) {
	h := handler(t)
	var last *answer.Value
	for i := range 3 * 16 {
		sel := "/app/script"
		if i == 2*16 {
			sel = "/app/flood"
		}
		a, err := h.host.Ask(&server.Request{RequestLine: selector.RequestLine{Selector: sel},
			Remote: netip.MustParseAddrPort("192.0.2.1:1")}, &answer.Format{Raw: true})
		treetest.Must(t, err)
		defer a.Close()
		if i == 2*16 {
			last = a
		}
	}
	if n, err := io.Copy(io.Discard,
		last.Stream); server.KindOf(err) != server.Internal || n != 1<<20 {
		t.Errorf("%d bytes of a flood, %v", n, err)
	}
}

// Programs learn by which protocol they were asked, and Gemini's URL.
func TestProtocolOfRequest(t *testing.T) {
	h := handler(t)
	local := netip.MustParseAddrPort("192.0.2.1:1965")
	for _, test := range []struct {
		r    server.Request
		want string
	}{
		{server.Request{}, "gopher|70||a b|a b|"},
		{server.Request{TLS: true}, "gophers|70||a b|a b|on"},
		{server.Request{TLS: true, Protocol: "gemini", Raw: "gemini://h/app/url?a%20b\r\n"},
			"gemini|1965|gemini://h/app/url?a%20b|a%20b|a b|"},
		{server.Request{Protocol: "spartan", Raw: "h /app/url 3\r\na b"}, "spartan|1965||a b|a b|"},
	} {
		test.r.RequestLine, test.r.Host, test.r.Port, test.r.Local = selector.RequestLine{Selector: "/app/url", Query: "a b"}, "h", 70, local
		var w recorder
		if err := (&gopher.Front{Host: h.host}).ServeGopher(&w, &test.r); err != nil ||
			w.String() != test.want {
			t.Errorf("%q: %q, %v, want %q", test.r.Raw, w.String(), err, test.want)
		}
	}
}
