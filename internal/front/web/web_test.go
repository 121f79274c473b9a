package web

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/gopher"
	"github.com/gophd/gophd/internal/process/keypair"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

var hole = map[string]string{
	"gophermap":            "Welcome <script>alert(1)</script>\n0A text\ta.txt\n1Far\t/x\tfar.example\t70\nhWeb\tURL:https://example.org/?a=\"><b>\nhBad\tURL:javascript:alert(1)\n7Ask\t/ask\n1Twist\t//evil.example/\n",
	"a.txt":                "<script>alert(1)</script>\r\nGr\xfc\xdfe \x1b[31m\n",
	"b c%41?.txt":          "odd name\nno \x01\x7f\u009bcontrols\n",
	"page.html":            "<script>alert(1)</script>",
	"p.svg":                "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
	"p.png":                "\x89PNG",
	"s.mp3":                "ID3",
	"x.zip":                "PK",
	"d.json":               `{"a":1}`,
	"1/typed.txt":          "a directory called 1\n",
	"phlog/2026-01-02.txt": "first\n",
	"no/.robots":           "User-agent: *\nDisallow: /\n",
	"no/secret.txt":        "robots not\n",
	"big.bin":              strings.Repeat("x", 1<<20),
}

type served struct {
	t     *testing.T
	addr  string
	srv   *server.Server
	tree  *site.Site
	host  *answer.Host
	pages *Pages
	dir   string
	stop  context.CancelFunc
	obs   *observed
}

type observed struct{ ch chan server.Served }

func (o *observed) Observe(s server.Served) { o.ch <- s }

func serving(h http.Handler) func(*server.HTTPConn, *server.Request) error {
	return (&HTTPServer{Site: func(r *server.Request, _ string) (http.Handler, *server.Request) {
		return h, r
	}}).Serve
}

// made answers beside the site.
type made struct{}

func (made) Answers(string) bool { return true }
func (made) Answer(q *answer.Asked) (*answer.Value, error) {
	a := &answer.Value{Class: answer.File, Selector: q.Request.Selector, Type: menu.TypeText}
	switch q.Request.Selector {
	case "/ask":
		a.Body = fmt.Appendf(nil, "asked %s", q.Request.Query)
	case "/numbers":
		a.Body, a.HTML = []byte("1 2 3"), "<svg></svg>"
	case "/links":
		a.Class, a.Type, a.Items = answer.Menu, menu.TypeMenu,
			[]menu.Item{{Type: menu.TypeText, Label: "A", Selector: "/a.txt"}}
	case "/search":
		a.Class, a.Items = answer.Question,
			[]menu.Item{{Type: menu.TypeSearch, Label: "Words", Selector: "/search"}}
		if a.Prompt = "Words"; q.Request.Query != "" {
			a.Class, a.Items[0].Label, a.Items = answer.Menu, "Again",
				append([]menu.Item{menu.Info("Found"), menu.Info("Here:"),
					{Type: menu.TypeText, Label: "A text (/a.txt)", Selector: "/a.txt"},
					{Type: menu.TypeInfo, Below: true, Label: "a word of *it*",
						Hits: []menu.Hit{{From: 2, To: 6}}}}, a.Items...)
		}
	case "/made.xml":
		a.Body, a.Media = []byte("<made>"+strings.Repeat("entry ", 300)+"</made>"),
			"application/atom+xml"
	case "/streamed.xml", "/cut.xml":
		end := io.EOF
		if a.Media = "application/xml"; q.Request.Selector == "/cut.xml" {
			end = errors.New("the rest cannot be made")
		}
		a.Open = func(*answer.Asked) io.Reader {
			return io.MultiReader(strings.NewReader(strings.Repeat("entry ", 50_000)),
				iotest.ErrReader(end))
		}
	case "/made.gz":
		a.Body, a.Media, a.Type = packed, "application/gzip", menu.TypeBinary
	case "/busy":
		return nil, &server.Error{Kind: server.Busy}
	default:
		return nil, server.ErrDeclined
	}
	return a, nil
}

// packed is a file in gzip. It is long enough to be compressed for a client, but cannot be.
var packed = make([]byte, 2*smallText)

func init() {
	_, _ = rand.Read(packed)
	copy(packed, "\x1f\x8b\x08")
}

// TestFilesInGzip: what an author or a program has compressed is the file, not its encoding: a
// client must not unpack it.
func TestFilesInGzip(t *testing.T) {
	s := start(t, nil)
	s.write("x.txt", string(packed))
	for _, path := range []string{"/made.gz", "/x.txt?raw"} {
		for _, accepts := range []string{"gzip", "identity"} {
			res, body := s.get(path, "Accept-Encoding", accepts)
			if res.Header.Get("Content-Encoding") == "gzip" && body[:2] == string(packed[:2]) {
				z, err := gzip.NewReader(strings.NewReader(body))
				treetest.Must(t, err)
				text, _ := io.ReadAll(z)
				body = string(text)
			}
			if body != string(packed) {
				t.Errorf("%s, %s: %q: %q", path, accepts, res.Header.Get("Content-Encoding"), body)
			}
		}
	}
}

// start serves the hole to browsers.
func start(t *testing.T, change func(*served)) *served {
	t.Helper()
	s := unread(t, change)
	s.read()
	return s
}

// unread serves the hole before it is read.
func unread(t *testing.T, change func(*served)) *served {
	t.Helper()
	dir := t.TempDir()
	treetest.Write(t, dir, hole)
	tree, err := site.Open(dir, site.Config{})
	treetest.Must(t, err)
	host := &answer.Host{Site: tree, Cache: answer.NewCache(8 << 20),
		Beside: []answer.Source{made{}}}
	s := &served{t: t, tree: tree, host: host, pages: &Pages{Host: host}, dir: dir,
		obs: &observed{make(chan server.Served, 1000)}}
	s.srv = &server.Server{Handler: &gopher.Front{Host: host}, Host: "gopher.example", Port: 70,
		RequestTimeout: time.Hour, Observer: s.obs, HTTP: serving(s.pages)}
	if change != nil {
		change(s)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	treetest.Must(t, err)
	s.addr = l.Addr().String()
	ctx, stop := context.WithCancel(t.Context())
	s.stop = stop
	ended := make(chan error, 1)
	go func() { ended <- s.srv.Serve(ctx, l) }()
	t.Cleanup(func() { stop(); <-ended })
	return s
}

// read reads the hole, and whatever changes in it.
func (s *served) read() {
	treetest.Run(s.t, s.tree.Run)
	_, err := s.tree.Snapshot(s.t.Context())
	treetest.Must(s.t, err)
}

// write writes files of the hole: name, text, name, text, ...
func (s *served) write(files ...string) {
	for i := 0; i < len(files); i += 2 {
		treetest.Write(s.t, s.dir, map[string]string{files[i]: files[i+1]})
	}
}

// shows asks for pages, and reports what they have or lack ("!" before it).
func (s *served) shows(pages map[string][]string) {
	s.t.Helper()
	for path, wants := range pages {
		_, page := s.get(path)
		s.holds(path, page, wants...)
	}
}

var browser = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport:     &http.Transport{DisableKeepAlives: true},
}

// get asks as a browser does that wants a page.
func (s *served) get(path string, header ...string) (*http.Response, string) {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodGet, "http://"+s.addr+path, nil)
	treetest.Must(s.t, err)
	req.Header.Set("Accept", "text/html,*/*;q=0.8")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := browser.Do(req)
	treetest.Must(s.t, err)
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	treetest.Must(s.t, err)
	return res, string(body)
}

func TestPages(t *testing.T) {
	s := start(t, nil)
	for path, want := range map[string]struct {
		status int
		typ    string
		holds  string
	}{
		"/":                     {200, htmlText, `<a href="/a.txt">A text</a>`},
		"/a.txt":                {200, htmlText, "&lt;script&gt;alert(1)&lt;/script&gt;\nGrüße "},
		"/a.txt?raw":            {200, "text/plain; charset=windows-1252", "<script>"},
		"/b%20c%2541%3F.txt":    {200, htmlText, "no controls"},
		"/page.html":            {200, htmlText, "&lt;script&gt;"},
		"/page.html?raw":        {200, plainText, "<script>"},
		"/p.svg":                {200, htmlText, `<img src="/p.svg?raw"`},
		"/p.svg?raw":            {200, "image/svg+xml", "<svg"},
		"/p.png":                {200, htmlText, `<img src="/p.png?raw" alt="p.png"`},
		"/s.mp3":                {200, htmlText, `<audio controls src="/s.mp3?raw"`},
		"/x.zip":                {200, "application/zip", "PK"},
		"/big.bin":              {200, "application/octet-stream", "x"},
		"/d.json":               {200, htmlText, "{&#34;a&#34;:1}"},
		"/d.json?raw":           {200, "application/json", `{"a":1}`},
		"/1/typed.txt":          {200, htmlText, "a directory called 1"},
		"/phlog/":               {200, htmlText, `href="/phlog/feed.xml"`},
		"/robots.txt":           {200, plainText, "Disallow"},
		"/ask?q=a+b":            {200, htmlText, "asked a b"},
		"/nowhere":              {404, htmlText, "<h1>There is nothing at /"},
		"/busy":                 {503, htmlText, "Server busy"},
		"/.robots":              {404, htmlText, "<h1>There is nothing at /"},
		"/gophermap":            {404, htmlText, "<h1>There is nothing at /"},
		"/a.txt/":               {404, htmlText, "<h1>There is nothing at /"},
		"/..%2f..%2fetc/passwd": {404, htmlText, "<h1>There is nothing at /"},
		"/a%00b":                {400, htmlText, "This is no path"},
		"/ask?q=%0d%0a":         {400, htmlText, "This is no path"},
		"/%ff":                  {404, htmlText, "<h1>There is nothing at /"},
	} {
		res, body := s.get(path)
		if res.StatusCode != want.status || res.Header.Get("Content-Type") != want.typ ||
			!strings.Contains(body, want.holds) {
			t.Errorf("%s: %d %s\n%s\nwant %d %s with %q", path, res.StatusCode,
				res.Header.Get("Content-Type"), body, want.status, want.typ, want.holds)
		}
		if told := <-s.obs.ch; (told.Err != nil) != (want.status >= 400) ||
			told.Status != want.status {
			t.Errorf("%s: the log is told %+v", path, told)
		}
		csp := res.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(csp, "default-src 'none'; ") || strings.Contains(csp, "script") ||
			res.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: header %v", path, res.Header)
		}
		if saved := res.Header.Get("Content-Disposition") == "attachment"; saved != (want.typ == "application/octet-stream" || want.typ == "application/zip") {
			t.Errorf("%s: sent to be saved: %v", path, saved)
		}
		if want.typ != htmlText && !strings.Contains(csp, "sandbox") {
			t.Errorf("%s: sent as %s without a sandbox", path, want.typ)
		}
		if want.typ == htmlText && strings.Contains(body, "<script") {
			t.Errorf("%s: markup of a stranger: %s", path, body)
		}
	}
}

// What is drawn stands in a page for browsers only.
func TestDrawn(t *testing.T) {
	s := start(t, nil)
	s.shows(map[string][]string{
		"/numbers": {"<svg></svg>", "gopher://gopher.example/0/numbers"},
		"/a.txt":   {"!<svg>"},
		"/1/":      {"!/1/feed.xml"},                    // without dated texts
		"/links":   {"gopher://gopher.example/1/links"}, // a menu that the handler makes
	})
	if res, _ := s.get("/numbers"); res.Header.Get("Content-Security-Policy") !=
		(&page{Style: looks[""]}).csp() {
		t.Errorf("%v", res.Header)
	}
	if _, body := s.get("/numbers", "Accept", "text/plain"); body != "1 2 3" {
		t.Errorf("as a text: %q", body)
	}
}

// TestHostOf: a host is compared without its port and without a final dot.
func TestHostOf(t *testing.T) {
	for host, want := range map[string]string{"h": "h", "h:80": "h", "h.:80": "h", "h.": "h",
		"[::1]:80": "::1", "[::1]": "::1"} {
		if got := strings.Trim(hostOf(host), "[]"); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
}

// One path is canonical, and the others lead there.
func TestCanonical(t *testing.T) {
	s := start(t, nil)
	for path, want := range map[string]string{
		"/0/a.txt": "/a.txt", "/1/phlog": "/phlog/", "/phlog": "/phlog/", "/1": "/1/",
		"/9/x.zip?raw": "/x.zip?raw", "/1/": "", "/0/0/a.txt": "", "/z/a.txt": "", "/0a.txt": "",
		"/0/b%20c%2541%3F.txt": "/b%20c%2541%3F.txt", "/I/p.png": "/p.png",
		"/search%09two%20words": "/search?q=two+words", "/7/ask%09x": "/7/ask?q=x",
		"/7/ask?q=x": "/ask?q=x",
		// A stranger writes these into a link: no redirect leads to another site.
		"/h/URL:https://e.example/": "", "/URL:https://e.example/": "",
		"/URL:javascript:alert(1)": "", "//no/%73ecret.txt": "/no/secret.txt", "//no": "/no/",
	} {
		res, _ := s.get(path)
		if got := res.Header.Get("Location"); got != want ||
			want != "" && res.StatusCode != http.StatusMovedPermanently {
			t.Errorf("%s: %d to %q, want %q", path, res.StatusCode, got, want)
		}
	}
	for _, path := range []string{"/h/URL:https://e.example/", "/URL:https://e.example/"} {
		res, body := s.get(path)
		if res.StatusCode != 200 || res.Header.Get("X-Robots-Tag") != "noindex" {
			t.Errorf("%s: %d, %v", path, res.StatusCode, res.Header)
		}
		s.holds(path, body, `<a href="https://e.example/"`)
	}
	_, port, _ := net.SplitHostPort(s.addr)
	s.shows(map[string][]string{"/a.txt": {
		`<link rel="canonical" href="http://gopher.example:` + port + `/a.txt">`,
		`<link rel="alternate" href="gopher://gopher.example/0/a.txt">`}})
}

// What a menu links: here, elsewhere in Gopher, the web; nothing that runs, and
// nothing that a browser takes for another host.
func TestLinks(t *testing.T) {
	start(t, nil).shows(map[string][]string{"/": {
		`<a href="gopher://far.example/1/x" rel="external nofollow noreferrer">Far</a>`,
		`<a href="https://example.org/?a=%22%3e%3cb%3e" rel="external nofollow noreferrer">Web</a>`,
		`<form action="/ask"><label>Ask <input name="q"`,
		`<li>Bad</li>`, `<li>Twist</li>`, "!javascript:", `!"//`,
	}})
}

// TestPolicyHeaders: what robots.txt says of a path is in the header of its page, and of the
// page that stands for it: X-Robots-Tag, and Content-Usage. What one robot is denied by name may
// be indexed by others.
func TestPolicyHeaders(t *testing.T) {
	const usage = "User-agent: *\nContent-Usage: /phlog/ train-ai=n\n"
	for _, test := range []struct {
		robots      string // the root's annotation
		addressOnly bool
		want        map[string][2]string
	}{
		{"", false, map[string][2]string{"/a.txt": {}, "/no/secret.txt": {"noindex"},
			"/no/secret.txt?raw": {"noindex"}, "/no/": {"noindex"}, "/nowhere": {"noindex"}}},
		{"User-agent: GPTBot\nDisallow: /\n", false, map[string][2]string{"/a.txt": {}}},
		{usage, true, map[string][2]string{"/phlog/2026-01-02.txt": {"", "train-ai=n"},
			"/a.txt": {}}},
		{usage + "Index: deny\n", false,
			map[string][2]string{"/a.txt": {"noindex"}, "/phlog/": {"noindex", "train-ai=n"},
				"/phlog/2026-01-02.txt":     {"noindex", "train-ai=n"},
				"/phlog/2026-01-02.txt?raw": {"noindex", "train-ai=n"}, "/ask": {"noindex"}}},
	} {
		s := unread(t, func(s *served) { s.pages.AddressOnly = test.addressOnly })
		s.write(".robots", test.robots)
		s.read()
		for path, want := range test.want {
			res, body := s.get(path)
			if got := [2]string{res.Header.Get("X-Robots-Tag"),
				res.Header.Get("Content-Usage")}; got != want || res.Header["Link"] != nil {
				t.Errorf("%q %s: %q, want %q", test.robots, path, got, want)
			}
			if meta := strings.Contains(body,
				`<meta name="robots" content="noindex">`); res.StatusCode == 200 && !strings.HasSuffix(path, "raw") && !test.addressOnly && meta != (want[0] != "") {
				t.Errorf("%q %s: noindex in the page: %v", test.robots, path, meta)
			}
		}
	}
}

func TestRangesAndConditions(t *testing.T) {
	s := start(t, nil)
	raw, _ := s.get("/a.txt?raw")
	page, _ := s.get("/")
	for _, test := range []struct {
		path, name, value string
		status            int
		body              string
	}{
		{"/big.bin", "Range", "bytes=5-9", http.StatusPartialContent, "xxxxx"},
		{"/a.txt?raw", "If-Modified-Since", raw.Header.Get("Last-Modified"),
			http.StatusNotModified, ""},
		{"/", "If-None-Match", page.Header.Get("ETag"), http.StatusNotModified, ""},
		{"/a.txt", "Accept", "*/*", http.StatusOK, hole["a.txt"]}, // asks for no page
	} {
		res, body := s.get(test.path, test.name, test.value)
		if res.StatusCode != test.status || body != test.body ||
			res.Header.Get("Vary") != "Accept, Accept-Encoding" && test.name == "Accept" {
			t.Errorf("%+v: %d, %v, %q", test, res.StatusCode, res.Header, body)
		}
	}
}

func (s *served) dial() *client {
	s.t.Helper()
	c, err := net.Dial("tcp", s.addr)
	treetest.Must(s.t, err)
	s.t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(2 * time.Minute))
	return newClient(s.t, c)
}

// A connection takes a hundred requests, each of which is told to the log; then it
// is closed.
func TestKeepAlive(t *testing.T) {
	s := start(t, nil)
	c := s.dial()
	for i := range maxRequests {
		method := []string{"GET", "HEAD"}[i%2]
		res := c.begin(method, "/x.zip")
		if _, err := io.Copy(io.Discard, res.Body); err != nil ||
			res.Close != (i == maxRequests-1) {
			t.Fatal(i, err, res.Close)
		}
		told := <-s.obs.ch
		if told.Selector != method+" /x.zip HTTP/1.1" || told.Err != nil ||
			told.Bytes != int64(2*(1-i%2)) || told.Protocol != "http" ||
			told.Host != "gopher.example" || told.Port != 70 ||
			told.Remote.String() != c.LocalAddr().String() {
			t.Fatalf("%d: told %+v", i, told)
		}
	}
	if _, err := c.in.ReadByte(); err != io.EOF {
		t.Errorf("after the last: %v", err)
	}
}

// Requests that are none, too long or with bodies get an answer and a close.
func TestAbuse(t *testing.T) {
	s := start(t, nil)
	for request, want := range map[string]string{
		"GET /a.txt HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nGET /":            "413",
		"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n":   "413",
		"DELETE / HTTP/1.1\r\nHost: x\r\n\r\n":                                        "405",
		"GET / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("y", 20_000) + "\r\n\r\n": "431",
		"GET / HTTP/1.1\r\n\r\n":                              "400",
		"GET http://other/../etc HTTP/1.1\r\nHost: x\r\n\r\n": "404",
		"GET /\x01 HTTP/1.1\r\nHost: x\r\n\r\n":               "400",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n":                    "",
		"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n":               "200",
		"GET / HTTP/9.9\r\nHost: x\r\n\r\n":                   "505",
	} {
		c := s.dial()
		c.say(request)
		_ = c.Conn.(*net.TCPConn).CloseWrite()
		got, _ := io.ReadAll(c)
		_, status, _ := bytes.Cut(got, []byte(" "))
		if !bytes.HasPrefix(status, []byte(want)) ||
			want != "" && bytes.Contains(got, []byte("passwd")) {
			t.Errorf("%.60q: %.80q, want %s", request, got, want)
		}
		if told := <-s.obs.ch; want != "" && fmt.Sprint(told.HTTPStatus()) != want {
			t.Errorf("%.60q: the log says %d", request, told.HTTPStatus())
		}
		_ = c.Close()
	}

	// The second request of a connection is the broken one.
	c := s.dial()
	c.say("GET /a.txt HTTP/1.1\r\nHost: x\r\n\r\nGET /\r\n\r\n")
	_, _ = io.ReadAll(c)
	first, second := <-s.obs.ch, <-s.obs.ch
	if first.HTTPStatus() != 200 || second.HTTPStatus() != 400 || second.Selector != "-" ||
		second.Kind() != server.BadRequest {
		t.Errorf("told %+v, then %+v", first, second)
	}
}

// refusing is an Admission that refuses everything.
type refusing struct{}

func (refusing) Admit(*server.Request) error {
	return &server.Error{Kind: server.Busy}
}
func (refusing) AdmitNow(*server.Request) bool { return false }

// No error answers a request for robots.txt: the connection is closed without a byte.
func TestRobotsIsNeverAnError(t *testing.T) {
	for _, addressOnly := range []bool{false, true} {
		s := start(t, func(s *served) {
			s.host.Admission, s.pages.AddressOnly = refusing{}, addressOnly
		})
		for _, path := range []string{"/robots.txt", "/0/robots.txt", "/robots.txt?x"} {
			c := s.dial()
			c.say("GET " + path + " HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\n\r\n")
			if got, _ := io.ReadAll(c); len(got) > 0 {
				t.Errorf("%s: %.60q", path, got)
			}
			if told := <-s.obs.ch; told.Kind() != server.Busy {
				t.Errorf("%s: told %+v", path, told)
			}
			_ = c.Close()
		}
	}
}

// -rate counts every request but those for robots.txt, not every connection.
func TestRate(t *testing.T) {
	s := start(t, func(s *served) { s.srv.Rate, s.srv.Burst = 0.001, 3 })
	c := s.dial()
	for i, want := range []int{200, 200, 200, 200, 200, 429, 200, 429} {
		path := "/x.zip"
		if i == 0 || i == 2 || want == 200 && i > 4 {
			path = "/robots.txt"
		}
		if res, _, err := c.get(path); err != nil || res.StatusCode != want ||
			(res.Header.Get("Retry-After") == "10") != (want == 429) {
			t.Errorf("%d, %v, %v; want %d", res.StatusCode, err, res.Header, want)
		}
		if told := <-s.obs.ch; want == 429 && told.Kind() != server.TooMany {
			t.Errorf("told %+v", told)
		}
	}
}

// Where all places are taken, a connection that waits for another request goes
// first.
func TestIdleGoesFirst(t *testing.T) {
	s := start(t, func(s *served) { s.srv.MaxConns = 2 })
	gone := make(chan error, 2)
	for range 2 {
		c := s.dial()
		if _, _, err := c.get("/x.zip"); err != nil {
			t.Fatal(err)
		}
		go func() {
			_, err := c.in.ReadByte()
			gone <- err
		}()
	}
	other := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	newcomer, err := other.Dial("tcp", s.addr)
	if err != nil {
		t.Skip(err) // where not all of 127.0.0.0/8 is this machine
	}
	defer func() { _ = newcomer.Close() }()
	newClient(t, newcomer).say("GET / HTTP/1.1\r\nHost")
	if err, n := <-gone, s.srv.Counts().Refused["evicted"]; n != 1 {
		t.Errorf("%d have made room for the newcomer, and one has gone: %v", n, err)
	}
}

// A handler that panics costs its own request only, which is told to the log; and the
// client of one that had begun can tell that this is not all.
func TestPanicIsOneRequestsError(t *testing.T) {
	logged := make(lines, 100)
	s := start(t, func(s *served) {
		s.srv.Log = slog.New(slog.NewTextHandler(logged, nil))
		s.srv.HTTP = serving(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/late" {
				w.Header().Set("Content-Length", "1000000")
				_, _ = w.Write(make([]byte, 100_000))
			}
			if r.URL.Path != "/" {
				panic("a fault at " + r.URL.Path)
			}
		}))
	})
	c := s.dial()
	for _, path := range []string{"/early", "/", "/late"} {
		res, n, err := c.get(path)
		if (res.StatusCode == http.StatusInternalServerError) != (path == "/early") ||
			(err != nil) != (path == "/late") {
			t.Errorf("%s: %s, %d bytes, %v", path, res.Status, n, err)
		}
		got := <-s.obs.ch
		if !strings.HasPrefix(got.Selector, "GET "+path+" ") ||
			(server.KindOf(got.Err) == server.Internal) != (path != "/") {
			t.Errorf("%s: the log is told %+v", path, got)
		}
	}
	var all strings.Builder
	for len(logged) > 0 {
		all.WriteString(<-logged)
	}
	s.holds("the log", all.String(), "a fault at /early", "a fault at /late")
}

// lines are those of a log.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// When the server stops, a reply in HTTP/2 is sent whole. There, replies go on only as long as the
// client is heard.
func TestDrainHTTP2(t *testing.T) {
	const size = 32 << 20 // more than client and kernel take at once
	s := unread(t, func(s *served) { withTLS(t)(s); s.srv.DrainTimeout = time.Hour })
	s.write("large.bin", strings.Repeat("\x00", size))
	s.read()
	res, err := offering("h2").Get("https://" + s.addr + "/large.bin")
	treetest.Must(t, err)
	s.stop()
	began, n := time.Now(), int64(0)
	for ; err == nil && n < size/2; time.Sleep(20 * time.Millisecond) { // longer than who waits for a request may
		var part int64
		part, err = io.CopyN(io.Discard, res.Body, size/2/75)
		n += part
	}
	rest, failed := io.Copy(io.Discard, res.Body)
	if err = cmp.Or(err, failed); err != nil || n+rest != size {
		t.Errorf("%d bytes, %v after %v", n+rest, err, time.Since(began))
	}
}

// withTLS lets a server take TLS, and HTTP/2 on it.
func withTLS(t *testing.T) func(*served) {
	t.Helper()
	files, err := keypair.SelfSigned(t.TempDir(), "localhost")
	treetest.Must(t, err)
	pair, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	treetest.Must(t, err)
	return func(s *served) {
		s.srv.TLS = &tls.Config{Certificates: []tls.Certificate{pair},
			NextProtos: []string{"h2", "http/1.1"}}
	}
}

// offering returns a browser that offers a protocol over TLS.
func offering(protocol string) *http.Client {
	return &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: protocol == "h2",
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}}}}
}

// HTTP/2 over TLS, which is answered to those that offer it alone.
func TestHTTP2(t *testing.T) {
	s := start(t, withTLS(t))
	two, one := offering("h2"), offering("http/1.1")
	for range 120 { // more than one connection takes
		res, err := two.Get("https://" + s.addr + "/big.bin")
		treetest.Must(t, err)
		n, err := io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if err != nil || n != 1<<20 || res.ProtoMajor != 2 {
			t.Fatalf("%d bytes of %s, %v", n, res.Proto, err)
		}
	}
	if res, err := one.Get("https://" + s.addr + "/"); err != nil || res.ProtoMajor != 1 {
		t.Error(err)
	}
	one.CloseIdleConnections()

	// Pages for those without TLS, with other URLs, are not kept for those with it.
	s.shows(map[string][]string{"/": {`rel="canonical" href="http://`}})
	req, err := http.NewRequest(http.MethodGet, "https://"+s.addr+"/", nil)
	treetest.Must(t, err)
	req.Host = "LOCALHOST.:70"
	req.Header.Set("Accept", "text/html")
	res, err := two.Do(req)
	treetest.Must(t, err)
	body, err := io.ReadAll(res.Body)
	treetest.Must(t, err)
	s.holds("over TLS", string(body), `rel="canonical" href="https://`)
	two.CloseIdleConnections()
}

// TestHTTP2Streams: each request of a connection may hold a file open, so that a client is
// told at once how many it may have (SETTINGS_MAX_CONCURRENT_STREAMS, RFC 9113 section 6.5.2).
func TestHTTP2Streams(t *testing.T) {
	s := start(t, withTLS(t))
	c, err := tls.Dial("tcp", s.addr,
		&tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	treetest.Must(t, err)
	defer func() { _ = c.Close() }()
	newClient(t, c).say("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
	head := make([]byte, 9)
	if _, err := io.ReadFull(c, head); err != nil || head[3] != 4 { // the first frame is SETTINGS
		t.Fatalf("%x, %v", head, err)
	}
	settings := make([]byte, binary.BigEndian.Uint16(head[1:]))
	_, err = io.ReadFull(c, settings)
	treetest.Must(t, err)
	if !bytes.Contains(settings, []byte{0, 3, 0, 0, 0, server.MaxStreams}) {
		t.Errorf("the number of streams is not bounded: %x", settings)
	}
}
