package client

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// faultServer answers each connection with bytes as they are.
func faultServer(t *testing.T, answer func(c net.Conn)) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			buf := make([]byte, 4096)
			_, _ = c.Read(buf)
			answer(c)
			_ = c.Close()
		}
	}()
	return "http://" + l.Addr().String() + "/"
}

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.String()
}

// TestFaultsOfServers: what a web server can do wrong, and the one verdict of the client and
// of a Transport about it.
func TestFaultsOfServers(t *testing.T) {
	reply := func(head, body string) func(net.Conn) {
		return func(c net.Conn) { _, _ = io.WriteString(c, head+"\r\n\r\n"+body) }
	}
	ok := "HTTP/1.1 200 OK\r\nConnection: close\r\n"
	for name, test := range map[string]struct {
		answer func(net.Conn)
		want   Access
	}{
		"a file":                         {reply(ok+"X: y", denyA), Successful},
		"an empty file":                  {reply(ok+"Content-Length: 0", ""), Successful},
		"gzip":                           {reply(ok+"Content-Encoding: gzip", zipped(denyA)), Successful},
		"gzip twice":                     {reply(ok+"Content-Encoding: gzip", zipped(zipped(denyA))), Unreachable},
		"gzip that is cut":               {reply(ok+"Content-Encoding: gzip", zipped(denyA)[:20]), Unreachable},
		"gzip that is none":              {reply(ok+"Content-Encoding: gzip", denyA), Unreachable},
		"brotli":                         {reply(ok+"Content-Encoding: br", "\x8b\x02\x80"), Unreachable},
		"a length that is too long":      {reply(ok+"Content-Length: 9999", denyA), Unreachable},
		"a chunk that is cut":            {reply(ok+"Transfer-Encoding: chunked", "ff\r\n"+denyA), Unreachable},
		"a chunk with a bad size":        {reply(ok+"Transfer-Encoding: chunked", "zz\r\n"+denyA), Unreachable},
		"a flood of header fields":       {reply(ok+strings.Repeat("X-A: b\r\n", 100_000)+"X: y", denyA), Unreachable},
		"a header field of a megabyte":   {reply(ok+"X-A: "+strings.Repeat("b", 1<<20), denyA), Unreachable},
		"a header line without a colon":  {reply(ok+"hello", denyA), Unreachable},
		"no header at all":               {func(c net.Conn) { _, _ = io.WriteString(c, denyA) }, Unreachable},
		"half a header":                  {func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200") }, Unreachable},
		"nothing":                        {func(net.Conn) {}, Unreachable},
		"a reset":                        {func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) }, Unreachable},
		"a reset within the body":        {func(c net.Conn) { reply(ok+"Content-Length: 9999", denyA)(c); _ = c.(*net.TCPConn).SetLinger(0) }, Unreachable},
		"another protocol":               {func(c net.Conn) { _, _ = io.WriteString(c, "220 mail.example ESMTP\r\n") }, Unreachable},
		"HTTP/0.9":                       {func(c net.Conn) { _, _ = io.WriteString(c, "<html>hello</html>") }, Unreachable},
		"a status of text":               {reply("HTTP/1.1 OK", denyA), Unreachable},
		"two lengths":                    {reply(ok+"Content-Length: 3\r\nContent-Length: 4", denyA), Unreachable},
		"a redirect to itself":           {reply("HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: /robots.txt", ""), Unavailable},
		"a redirect without a location":  {reply("HTTP/1.1 302 Found\r\nConnection: close", ""), Unreachable},
		"a redirect to another protocol": {reply("HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: gopher://h/", ""), Unreachable},
		"a redirect to no port":          {reply("HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: http://h:0/", ""), Unreachable},
		"UTF-16 without a mark":          {reply(ok+"X: y", "U\x00s\x00e\x00r\x00"), Unreachable},
		"a page for everything":          {reply(ok+"Content-Type: text/html", "<html>hello</html>"), Successful},
	} {
		url := faultServer(t, test.answer)
		c := &Client{Agent: "mybot", Timeout: time.Minute}
		a := mustGet(t, c, url)
		if a.Access != test.want || (a.Err == nil) != (test.want != Unreachable) {
			t.Errorf("%s: %v, %v, want %v", name, a.Access, a.Err, test.want)
		}
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"a", nil)
		resp, err := (&Transport{Client: c}).RoundTrip(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		if denied := a.Access == Unreachable || !a.Allowed("/a"); denied && err == nil {
			t.Errorf("%s: the Transport lets a request through", name)
		}
	}

	// Every status, for the client and for FromResponse.
	for status, want := range map[int]Access{
		20: Unreachable, 51: Unreachable, 200: Successful, 201: Successful, 204: Successful, 206: Successful, 226: Successful, 300: Unreachable, 304: Unreachable, 305: Unreachable, 306: Unreachable,
		400: Unavailable, 401: Unavailable, 402: Unavailable, 403: Unavailable, 404: Unavailable, 405: Unavailable, 406: Unavailable, 408: Unreachable, 410: Unavailable,
		413: Unavailable, 414: Unavailable, 418: Unavailable, 421: Unavailable, 425: Unreachable, 429: Unreachable, 431: Unavailable, 451: Unavailable, 499: Unavailable,
		500: Unreachable, 501: Unreachable, 502: Unreachable, 503: Unreachable, 504: Unreachable, 505: Unreachable, 511: Unreachable, 520: Unreachable, 599: Unreachable, 600: Unreachable, 999: Unreachable,
	} {
		url := faultServer(t, reply(fmt.Sprintf("HTTP/1.1 %03d X\r\nConnection: close\r\nRetry-After: 3600", status), denyA))
		header := http.Header{"Retry-After": {"3600"}}
		a, b := mustGet(t, &Client{}, url), FromResponse(me, status, header, strings.NewReader(denyA))
		if a.Access != want || b.Access != want {
			t.Errorf("%d: the client says %v, FromResponse %v, want %v", status, a.Access, b.Access, want)
		}
		for _, p := range []*Pace{a.Pace, b.Pace} {
			if time.Until(p.Next(time.Now())) < 50*time.Minute {
				t.Errorf("%d: Retry-After does not count", status)
			}
		}
	}
}
