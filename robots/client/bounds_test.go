package client

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/internal/dial"
	"github.com/gophd/gophd/robots/internal/robotstest"
)

// heap is the memory in use after a garbage collection.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestMaxBytes: whatever strangers send, a client keeps no more than MaxBytes.
func TestMaxBytes(t *testing.T) {
	long := strings.Repeat("x", 4<<20)
	short := "User-agent: *\n"
	for i := range 20_000 {
		short += fmt.Sprintf("Allow:/%x\n", i)
	}
	globs := "User-agent: *\n" + strings.Repeat("Disallow: /*a*b*c$\n", 20_000)
	names := strings.Repeat("User-agent: a\nDisallow: /\n", 15_000)
	for name, test := range map[string]struct {
		hosts  int
		most   int64
		status int
		field  string // of the header
		value  string
		file   string
	}{
		"a Location that does not parse": {60, 4 << 20, 302, "Location", "http://h/%zz" + long, ""},
		"a long Location":                {60, 4 << 20, 302, "Location", "http://h/" + long, ""},
		"a Location of 60 KiB":           {300, 4 << 20, 302, "Location", "http://[" + long[:60<<10], ""},
		"a long ETag":                    {60, 4 << 20, 200, "Etag", long, denyA},
		"an ETag of 60 KiB":              {300, 4 << 20, 200, "Etag", long[:60<<10], denyA},
		"a long Last-Modified":           {60, 4 << 20, 200, "Last-Modified", long, denyA},
		"no files":                       {20_000, 8 << 20, 404, "", "", ""},
		"failures":                       {20_000, 8 << 20, 502, "", "", ""},
		"small files":                    {20_000, 8 << 20, 200, "", "", denyA},
		"times of visits":                {2_000, 8 << 20, 200, "", "", denyA + "Visit-time: 0600-0845\n"},
		"short rules":                    {40, 8 << 20, 200, "", "", short},
		"globs":                          {40, 8 << 20, 200, "", "", globs},
		"names":                          {40, 10 << 20, 200, "", "", names},
	} {
		f := Fetcher{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: test.status,
				Header: http.Header{test.field: {test.value}},
				Body:   io.NopCloser(strings.NewReader(test.file))}, nil
		})}
		c := Client{Fetcher: &f, MaxBytes: test.most}
		before := heap()
		for i := range test.hosts {
			a := mustGet(t, &c, fmt.Sprintf("http://h%d/", i))
			for _, path := range []string{"/a", "/b", "/c"} {
				a.Allowed(path)
			}
			if a.Err != nil && len(a.Err.Error()) > maxErrorText {
				t.Fatalf("%s: an error of %d bytes", name, len(a.Err.Error()))
			}
		}
		grown := heap() - before
		t.Logf("%s: %d KiB, %d counted, %d hosts", name, grown>>10, c.cache.bytes>>10,
			len(c.cache.hosts))
		if grown > test.most {
			t.Errorf("%s: %d KiB are kept, and MaxBytes is %d", name, grown>>10, test.most>>10)
		}
		runtime.KeepAlive(&c)
	}
}

// TestBounds: what is longer than any robot needs is an error, and the error is short.
func TestBounds(t *testing.T) {
	var c Client
	for _, url := range []string{
		"http://h/" + strings.Repeat("x", dial.MaxURL),
		"http://" + strings.Repeat("h", dial.MaxHost+1) + "/",
		"http://" + strings.Repeat("ü", dial.MaxHost/2+1) + "/",
		"http://[" + strings.Repeat("h", 4<<10),
		"http://" + strings.Repeat("h", 1<<20) + "/",
	} {
		_, err := c.Get(t.Context(), url)
		if err == nil || len(err.Error()) > maxErrorText {
			t.Errorf("%.20q of %d bytes: %.1000v", url, len(url), err)
		}
	}
	if len(c.cache.hosts) > 0 {
		t.Errorf("%d hosts are kept", len(c.cache.hosts))
	}

	// A header of more than 64 KiB, by our transport and by another.
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", maxHeader))
		w.WriteHeader(http.StatusNotFound)
	}))
	defer s.Close()
	for _, transport := range []http.RoundTripper{nil, http.DefaultTransport} {
		c := Client{Fetcher: &Fetcher{Transport: transport}}
		if a := mustGet(t, &c, s.URL); a.Access != Unreachable {
			t.Errorf("a long header: %v", a.Access)
		}
	}

	// The URL of a denial is a stranger's, too.
	denied := &DeniedError{"http://h/" + strings.Repeat("x", 8000),
		robots.Decision{Rule: robots.Rule{Line: 1, Pattern: strings.Repeat("\x00", 9000)}}}
	if n := len(denied.Error()); n > maxErrorText {
		t.Errorf("a denial of %d bytes", n)
	}

	// An error without its causes still tells which kind it is.
	_, trusting := robotstest.Certificate(t)
	server, _ := robotstest.Certificate(t)
	f := Fetcher{TLS: trusting, Dial: robotstest.Scripted(t, "...", server)}
	_, err := f.Fetch(t.Context(), mustParse(t, "gophers://other.example/"))
	bad, ok := errors.AsType[*tls.CertificateVerificationError](err)
	if !ok || len(bad.UnverifiedCertificates) > 0 {
		t.Errorf("a certificate of another host: %v", err)
	}
	if err := bounded(fmt.Errorf("%s: %w", strings.Repeat("ü", 1000),
		&StatusError{Status: 503})); !errors.As(err, new(*StatusError)) ||
		!utf8.ValidString(err.Error()) {
		t.Errorf("%v", err)
	}
}

// TestBusyGopher: a Gopher server that is busy says nothing about its file.
func TestBusyGopher(t *testing.T) {
	item := func(text string) string { return "3" + text + "\t\terror.host\t1\r\n.\r\n" }
	for _, text := range []string{"Server busy", "Too many requests", "Try again",
		"come back LATER", "Rate limit exceeded"} {
		for _, docs := range []map[string]string{{first: item(text), second: item("Not found")},
			{first: item("Not found"), second: item(text)}} {
			p := places{docs: docs}
			a := mustGet(t, &Client{Fetch: p.fetch}, "gopher://h/")
			got, ok := errors.AsType[*ErrorItem](a.Err)
			if a.Access != Unreachable || !ok || got.Text != text ||
				errors.Is(a.Err, fs.ErrNotExist) {
				t.Errorf("%s: %v, %v", text, a.Access, a.Err)
			}
		}
	}
}
