package client

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gophd/gophd/robots"
)

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.String()
}

type fault struct {
	answer func(net.Conn)
	want   Access
}

// faults is what a web server can do wrong with its robots file, and what follows.
func faults() map[string]fault {
	all := map[string]fault{}
	add := func(name string, want Access, parts ...string) {
		all[name] = fault{func(c net.Conn) {
			for _, part := range parts {
				if pause, err := time.ParseDuration(part); err == nil {
					time.Sleep(pause)
				} else if _, err := io.WriteString(c, part); err != nil {
					return
				}
			}
		}, want}
	}
	const end = "\r\n\r\n"
	ok := "HTTP/1.1 200 OK\r\nConnection: close\r\n"
	found := "HTTP/1.1 302 Found\r\nConnection: close\r\n"
	for status, want := range map[int]Access{
		20: Unreachable, 51: Unreachable, 200: Successful, 204: Successful, 226: Successful,
		300: Unreachable, 304: Unreachable, 305: Unreachable, 400: Unavailable, 401: Unavailable,
		403: Unavailable, 404: Unavailable, 408: Unreachable, 410: Unavailable, 425: Unreachable,
		429: Unreachable, 499: Unavailable, 500: Unreachable, 503: Unreachable, 599: Unreachable,
		600: Unreachable, 999: Unreachable,
	} {
		add(fmt.Sprint("status ", status), want,
			fmt.Sprintf("HTTP/1.1 %03d X\r\nConnection: close\r\nRetry-After: 3600",
				status)+end, denyA)
	}
	add("a file", Successful, ok+end[2:], denyA)
	add("an empty file", Successful, ok+"Content-Length: 0"+end)
	add("a page for everything", Successful, ok+"Content-Type: text/html"+end, "<html>hello</html>")
	add("slow, but within the time", Successful, ok[:9], "9s", ok[9:]+end[2:], "9s", denyA[:9],
		"9s", denyA[9:])
	add("one byte in ten seconds", Unreachable, ok+end[2:], "U", "10s", "s", "10s", "e", "10s", "r",
		"10s", "-agent: *\n")
	add("a stall before the header", Unreachable, "1h")
	add("a stall in the header", Unreachable, ok, "1h")
	add("a stall in the body", Unreachable, ok+end[2:], denyA, "1h")
	add("gzip", Successful, ok+"Content-Encoding: gzip"+end, zipped(denyA))
	add("gzip twice", Unreachable, ok+"Content-Encoding: gzip"+end, zipped(zipped(denyA)))
	add("gzip that is cut", Unreachable, ok+"Content-Encoding: gzip"+end, zipped(denyA)[:20])
	add("gzip that is none", Unreachable, ok+"Content-Encoding: gzip"+end, denyA)
	add("brotli", Unreachable, ok+"Content-Encoding: br"+end, "\x8b\x02\x80")
	add("brotli that is none", Unreachable, ok+"Content-Encoding: br"+end, denyA)
	add("utf-8 as a coding", Successful, ok+"Content-Encoding: utf-8"+end, denyA)
	add("none as a coding", Successful, ok+"Content-Encoding: none, identity"+end, denyA)
	add("gzip among codings", Unreachable, ok+"Content-Encoding: identity, X-GZIP"+end, denyA)
	add("a file that is a gzip", Unreachable, ok+end[2:], zipped(denyA))
	add("a length that is too long", Unreachable, ok+"Content-Length: 9999"+end, denyA)
	add("a chunk that is cut", Unreachable, ok+"Transfer-Encoding: chunked"+end, "ff\r\n"+denyA)
	add("a chunk with a bad size", Unreachable, ok+"Transfer-Encoding: chunked"+end, "zz\r\n"+denyA)
	add("a flood of header fields", Unreachable,
		ok+strings.Repeat("X-A: b\r\n", 20_000)+end[2:], denyA)
	add("a header field of 100 KB", Unreachable, ok+"X-A: "+strings.Repeat("b", 100_000)+end, denyA)
	add("a header line without a colon", Unreachable, ok+"hello"+end, denyA)
	add("no header at all", Unreachable, denyA)
	add("half a header", Unreachable, "HTTP/1.1 200")
	add("nothing", Unreachable)
	add("another protocol", Unreachable, "220 mail.example ESMTP\r\n")
	add("a status of text", Unreachable, "HTTP/1.1 OK"+end, denyA)
	add("two lengths", Unreachable, ok+"Content-Length: 3\r\nContent-Length: 4"+end, denyA)
	add("a redirect to itself", Unavailable, found+"Location: /robots.txt"+end)
	add("a redirect without a location", Unreachable, found+end[2:])
	for _, to := range []string{"gopher://h/0robots.txt", "ftp://h/", "data:,", "javascript:1",
		"http://nowhere/", "%zz", "http://h2/" + strings.Repeat("x", 9000)} {
		add(fmt.Sprintf("a redirect to %.12s", to), Unreachable, found+"Location: "+to+end)
	}
	add("UTF-16 without a mark", Unreachable, ok+end[2:], "U\x00s\x00e\x00r\x00")
	add("NUL in the first line", Unreachable, ok+end[2:], "\x00User-agent: *\nAllow: /\n")
	add("one line of a megabyte", Successful, ok+end[2:], "Disallow: /"+strings.Repeat("x", 1<<20))
	return all
}

// TestFaultsOfServers: a client, a Transport and FromResponse come to one verdict about
// what a web server sends, keep its Retry-After, and say when to ask again.
func TestFaultsOfServers(t *testing.T) {
	for name, test := range faults() {
		synctest.Test(t, func(t *testing.T) {
			dial := func(_ context.Context, _, address string) (net.Conn, error) {
				if address == "nowhere:80" {
					return nil, errors.New("no route")
				}
				near, far := net.Pipe()
				go func() {
					_, _ = far.Read(make([]byte, 4096))
					go func() { _, _ = io.Copy(io.Discard, far) }()
					test.answer(far)
					_ = far.Close()
				}()
				return near, nil
			}
			c := &Client{Agent: "mybot", Fetcher: &Fetcher{Dial: dial}}
			web := &http.Client{
				Timeout:   30 * time.Second,
				Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true},
				CheckRedirect: func(_ *http.Request, via []*http.Request) error {
					if len(via) > 5 {
						return http.ErrUseLastResponse
					}
					return nil
				},
			}
			a := mustGet(t, c, "http://h/")
			resp, err := web.Get("http://h/robots.txt")
			if err != nil {
				resp = &http.Response{}
			} else {
				defer func() { _ = resp.Body.Close() }()
			}
			b := FromResponse(me, resp.StatusCode, resp.Header, resp.Body)
			for who, a := range map[string]*HostRules{"the client": a, "FromResponse": b} {
				if a.Access != test.want || (a.Err == nil) != (test.want != Unreachable) ||
					a.Err != nil && len(a.Err.Error()) > maxErrorText {
					t.Errorf("%s: %s: %v, %v, want %v", name, who, a.Access, a.Err, test.want)
				}
				refused := strings.HasPrefix(name, "status")
				if held := untilNext(a.Pace); refused != (held > 50*time.Minute) {
					t.Errorf("%s: %s: held for %v", name, who, held)
				}
				good := 24 * time.Hour
				if test.want == Unreachable {
					good = 5 * time.Minute
					if refused {
						good = time.Hour
					}
				}
				if got := time.Until(a.Until); got.Round(time.Minute) != good {
					t.Errorf("%s: %s: good for %v, want %v", name, who, got, good)
				}
			}
			for path, allowed := range map[string]bool{"/a": a.Allowed("/a"),
				"/b": a.Allowed("/b")} {
				req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet,
					"http://h"+path, nil)
				resp, err := (&Transport{Client: c, Base: site("", new([]string))}).RoundTrip(req)
				if err == nil {
					_ = resp.Body.Close()
				}
				if allowed != (err == nil) ||
					errors.Is(err, ErrUnreachable) != (test.want == Unreachable) ||
					!allowed && test.want != Unreachable && !errors.Is(err, ErrDenied) {
					t.Errorf("%s: the Transport, %s: %v", name, path, err)
				}
			}
			time.Sleep(24 * time.Hour) // the end of every stall
		})
	}
}

// TestFromResponse: the rules of a response, its comments (C9), and the names of the robot.
func TestFromResponse(t *testing.T) {
	const file = "User-agent: mybot\nDisallow: /private/\nComment: hello\n"
	a := FromResponse(me, 200, nil, strings.NewReader(file))
	if got := a.Comments(); len(got) != 1 {
		t.Errorf("comments %q", got)
	}
	bad := robots.Robot{Names: []string{"mybot", "Mozilla/5.0 (compatible; mybot/1.0)"}}
	if a := FromResponse(bad, 200, nil, strings.NewReader(file)); a.Access != Unreachable ||
		!strings.Contains(a.Err.Error(), `mean "mybot"`) {
		t.Errorf("a User-Agent as a name: %v, %v", a.Access, a.Err)
	}

	// Rules from before, after a conditional request.
	a.Fetched, a.Stale = a.Fetched.Add(-48*time.Hour), true
	now := a.NotModified(http.Header{"Cache-Control": {"max-age=7200"}})
	if now.Allowed("/private/x") || time.Since(now.Fetched) > time.Hour || now.Stale ||
		now.Pace != a.Pace || now.Until.Sub(now.Fetched) != 2*time.Hour {
		t.Errorf("not modified: %+v", now)
	}
}
