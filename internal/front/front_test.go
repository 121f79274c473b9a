// Package front tests the fronts together: one tree, asked over each of them.
package front

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/feed"
	"github.com/gophd/gophd/answer/gopher"
	"github.com/gophd/gophd/internal/front/smallnet"
	"github.com/gophd/gophd/internal/front/web"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
	"github.com/gophd/gophd/test/e2e/harness"
)

// hole is a random tree that is served over all fronts.
type hole struct {
	t      *testing.T
	files  map[string]string
	before []answer.Source
	snap   *site.Snapshot
	at     map[string]string // the fronts' addresses
}

// parts are what names are made of: plain, with blanks, escapes, delimiters of URLs and
// of markup, letters of other languages, and what is never served.
var parts = []string{"a", "b.txt", "c d.txt", "e%41", "f?g", "h#i.txt", "j&k", "ü.txt", "l\"m",
	"n<o>", "~ann", "p.png", "2026-01-02-q.txt", "r.gmi", "s'", "t;u=v", "w+x.txt", "=y",
	".hidden", "z.cgi", "1", "0"}

func (h *hole) serve(t *testing.T) {
	t.Helper()
	h.t = t
	dir := t.TempDir()
	treetest.Write(t, dir, h.files)
	s, err := site.Open(dir, site.Config{Watch: site.WatchOff})
	treetest.Must(t, err)
	treetest.Run(t, s.Run)
	h.snap, err = s.Snapshot(t.Context())
	treetest.Must(t, err)
	host := &answer.Host{Site: s, Fronts: map[string]int{"gemini": 1965}, Before: h.before,
		Beside: []answer.Source{&feed.Feeds{HTML: web.Entry}}, Cache: answer.NewCache(1 << 20)}
	h.at = map[string]string{}
	for name, protocol := range map[string]func(*smallnet.Protocols) *server.Protocol{"gopher": nil,
		"gemini": (*smallnet.Protocols).Gemini, "spartan": (*smallnet.Protocols).Spartan,
		"nex": (*smallnet.Protocols).Nex} {
		h.at[name] = serve(t, host, "h", protocol)
	}
	h.at["http"] = h.at["gopher"]
}

// serve serves a host over one front.
func serve(t *testing.T, host *answer.Host, name string,
	protocol func(*smallnet.Protocols) *server.Protocol, proxies ...netip.Prefix) (addr string) {
	named := func(r *server.Request) *server.Request {
		own := *r
		own.Host, own.Port = name, 70
		return &own
	}
	pages := &web.Pages{Host: host}
	browsers := &web.HTTPServer{Site: func(r *server.Request, _ string) (http.Handler,
		*server.Request) {
		return pages, named(r)
	}}
	s := &server.Server{Handler: &gopher.Front{Host: host}, HTTP: browsers.Serve, Host: name,
		Port: 70, MaxConnsPerIP: -1, TrustProxy: proxies}
	small := &smallnet.Protocols{Hosts: func(r *server.Request, _ string) (*answer.Host,
		*server.Request, bool) {
		return host, named(r), true
	}}
	return treetest.Serve(t, func(ctx context.Context, l net.Listener) error {
		if protocol == nil {
			return s.Serve(ctx, l)
		}
		p := protocol(small)
		p.TLS = false // which is the server's business
		return s.ServeProtocol(ctx, l, p)
	})
}

// fill makes the files of a directory, some maps that link them, and annotations.
func (h *hole) fill(rng *rand.Rand, dir string, depth int) {
	var names []string
	for range 2 + rng.IntN(4) {
		name := parts[rng.IntN(len(parts))]
		if slices.Contains(names, name) {
			continue
		}
		names = append(names, name)
		if depth > 0 && rng.IntN(3) == 0 {
			h.fill(rng, dir+name+"/", depth-1)
		} else {
			h.files[dir+name] = fmt.Sprintf("This is %d.\n", rng.IntN(1000))
		}
	}
	switch rng.IntN(4) {
	case 0:
		h.files[dir+"gophermap"] = "!A title\n  drawn\t\n0About\t/about-robots\n*\n"
	case 1:
		h.files[dir+"index.gmi"] = "# An index\n"
	}
	if rng.IntN(2) == 0 {
		var b strings.Builder
		for range 1 + rng.IntN(3) {
			if rng.IntN(3) == 0 {
				fmt.Fprintf(&b, "User-agent: %s\n", []string{"*", "webproxy", "mybot"}[rng.IntN(3)])
			}
			pattern := (&url.URL{Path: "/" + names[rng.IntN(len(names))]}).EscapedPath()
			fmt.Fprintf(&b, "%s: %s%s\n", []string{"Disallow", "Disallow", "Allow"}[rng.IntN(3)],
				pattern, []string{"", "", "/"}[rng.IntN(3)]) // a final $ is beyond robots of Gemini, which a report says
		}
		h.files[dir+".robots"] = b.String()
	}
}

// selectors returns the canonical selectors of all files and directories.
func (h *hole) selectors() []string {
	all := map[string]bool{"/": true, "/robots.txt": true, "/caps.txt": true, "/nowhere": true}
	for name := range h.files {
		all["/"+name] = true
		for i, c := range name {
			if c == '/' {
				all["/"+name[:i+1]] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// exchange sends a request over a front and returns the reply.
func (h *hole) exchange(front, request string) string {
	h.t.Helper()
	c, err := net.Dial("tcp", h.at[front])
	treetest.Must(h.t, err)
	defer func() { _ = c.Close() }()
	_, err = io.WriteString(c, request)
	treetest.Must(h.t, err)
	reply, err := io.ReadAll(c)
	treetest.Must(h.t, err)
	return string(reply)
}

// reply is the answer of a front to a selector.
type reply struct {
	harness.Reply
	page bool // the front has made it of a menu
}

// ask asks a front for the resource of a path, which is escaped.
func (h *hole) ask(front, path string) (r reply) {
	h.t.Helper()
	plain, err := url.PathUnescape(path)
	treetest.Must(h.t, err)
	if front == "gopher" {
		path = plain
	}
	at := harness.Fronts{}
	r.Reply = at.Parse(front, []byte(h.exchange(front, at.Request(front, "h", path, true)+"\r\n")))
	switch front {
	case "gopher":
		r.page = strings.HasSuffix(r.Body, "\r\n.\r\n")
	case "gemini", "spartan":
		r.page = strings.Contains(r.Head, "text/gemini") && !strings.HasSuffix(plain, ".gmi")
	default:
		r.page = strings.HasSuffix(plain, "/")
		r.Served = r.Served || front == "nex" && r.Body == "" // a menu of nothing
	}
	r.page = r.page && r.Served
	return r
}

// follow asks and goes where it is sent.
func (h *hole) follow(front, path string) reply {
	h.t.Helper()
	r := h.ask(front, path)
	for n := 0; r.To != "" && n < 3; n++ {
		r = h.ask(front, r.To)
	}
	return r
}

var link = map[string]*regexp.Regexp{
	"gemini":  regexp.MustCompile(`(?m)^=> (/\S*)`),
	"spartan": regexp.MustCompile(`(?m)^=> (/\S*)`),
	"nex":     regexp.MustCompile(`(?m)^=> (/\S*)`),
	"http":    regexp.MustCompile(`(?:href|src|action)="(/[^"]*)"`),
}

// TestPorts: URLs have the port that the client has asked for, wherever the server listens: a
// gateway may lead there from another port.
func TestPorts(t *testing.T) {
	h := &hole{files: map[string]string{"2026-01-02-a.txt": "A text.\n"}}
	h.serve(t)
	_, bound, _ := net.SplitHostPort(h.at["gemini"])
	for _, row := range []struct{ front, request, want string }{
		{"http", "GET /feed.xml HTTP/1.0\r\nHost: h\r\n\r\n", "http://h/2026-01-02-a.txt"},
		{"http", "GET /feed.xml HTTP/1.0\r\nHost: h:8080\r\n\r\n",
			"http://h:8080/2026-01-02-a.txt"},
		{"http", "GET /2026-01-02-a.txt HTTP/1.0\r\nHost: h:80\r\nAccept: text/html\r\n\r\n",
			"http://h/2026-01-02-a.txt"},
		{"http", "GET /feed.xml HTTP/1.0\r\n\r\n", "http://h:70/2026-01-02-a.txt"},
		{"gemini", "gemini://h/feed.xml\r\n", "gemini://h/2026-01-02-a.txt"},
		{"gemini", "gemini://h:" + bound + "/feed.xml\r\n",
			"gemini://h:" + bound + "/2026-01-02-a.txt"},
		{"gopher", "/feed.xml\r\n", "gopher://h/0/2026-01-02-a.txt"},
	} {
		if got := h.exchange(row.front, row.request); !strings.Contains(got, `"`+row.want+`"`) {
			t.Errorf("%s: %q: no %s in\n%s", row.front, row.request, row.want, got)
		}
	}
}

// links returns the paths that a page links on this site.
func links(front, page string) (list []string) {
	if front == "gopher" {
		for line := range strings.Lines(page) {
			it, err := menu.ParseItem(strings.TrimRight(line, "\r\n"))
			if err == nil && it.Host == "h" && !answer.IsInfo(it) {
				list = append(list, selector.URIPath(it.Selector))
			}
		}
		return list
	}
	for _, m := range link[front].FindAllStringSubmatch(page, -1) {
		to := m[1]
		if front == "http" {
			to = strings.NewReplacer("&amp;", "&", "&#34;", `"`, "&#39;", "'", "&lt;", "<", "&gt;",
				">", "&#43;", "+").Replace(to)
		}
		list = append(list, cmp.Or(strings.Split(to, "#")[0], "/"))
	}
	return list
}

// TestOneTreeOverAllFronts asks random trees over every front: what one serves all serve,
// with the same bytes, robots.txt is one file, each link of a page that was made leads to an
// answer, and each item of Gopher is a link of Gemini.
func TestOneTreeOverAllFronts(t *testing.T) {
	seed := rand.Uint64()
	if s, err := strconv.ParseUint(os.Getenv("TEST_GOPHD_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("seed %d", seed)
	pages := 0
	for n := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, n))
		h := &hole{files: map[string]string{}}
		h.fill(rng, "", 3)
		h.serve(t)
		for _, sel := range h.selectors() {
			want := h.ask("gopher", selector.URIPath(sel))
			for front := range h.at {
				got := h.follow(front, selector.URIPath(sel))
				if got.Served != want.Served {
					t.Errorf("%s: %q is served: %v; over Gopher: %v", front, sel,
						got.Served, want.Served)
				}
				isFile := want.Served && !want.page && !strings.HasSuffix(sel, "/")
				if isFile && got.Body != want.Body && sel != "/caps.txt" {
					t.Errorf("%s: %q is %.60q; over Gopher %.60q", front, sel, got.Body, want.Body)
				}
				if !got.page {
					continue
				}
				pages++
				linked := links(front, got.Body)
				for _, to := range linked {
					if !h.follow(front, to).Served {
						t.Errorf("%s: the page %q links %q, which is not served", front, sel, to)
					}
				}
				for _, to := range links("gopher", want.Body) {
					if front == "gemini" && !slices.Contains(linked, to) {
						t.Errorf("%s: the page %q does not link %q", front, sel, to)
					}
				}
			}
		}
		h.robots()
		if t.Failed() {
			t.Fatalf("tree %d of it: %q\n%s", n, h.files, h.snap.Robots)
		}
	}
	if pages < 60 {
		t.Errorf("only %d pages", pages)
	}
}

// robots reads robots.txt over Gemini and HTTP as robots there do, for the paths as these
// have them: escaped.
func (h *hole) robots() {
	file := h.ask("gopher", "/robots.txt").Body
	kennedy, ok := readers.Named("gemini")
	if !ok {
		h.t.Fatal("no reader is Gemini's")
	}
	overGemini := kennedy.Read([]byte(h.ask("gemini", "/robots.txt").Body))
	overHTTP := robots.Parse(robots.RFC9309, []byte(h.ask("http", "/robots.txt").Body))
	twoKinds := overHTTP.For(robots.Robot{Names: []string{"somebot"},
		Categories: []string{"webproxy", "indexer"}})
	if !bytes.Equal([]byte(file), h.snap.Robots) {
		h.t.Errorf("robots.txt is another file: %s", file)
	}
	for _, sel := range h.selectors() {
		name, dir, err := selector.Path(sel)
		if err != nil || selector.IsRobots(sel) {
			continue
		}
		denied := !h.snap.Compiled.Explain("*", name, dir).Allowed
		path := selector.URIPath(sel)
		other := (&url.URL{Path: sel}).EscapedPath() // as some programs write it
		if denied && other != path && overHTTP.Allowed("*", other) && h.ask("http", other).Served {
			h.t.Errorf("HTTP: %q is denied, and robots may fetch %s, which is served", sel, other)
		}
		if denied && other != path && overGemini.Allowed("somebot", other) &&
			h.ask("gemini", other).Served {
			h.t.Errorf("Gemini: %q is denied, and robots may fetch %s, which is served", sel, other)
		}
		if allowed := overHTTP.Allowed("*", path); allowed == denied {
			h.t.Errorf("HTTP: %q is denied: %v, and %s allows it: %v", sel, denied, path, allowed)
		}
		if denied && overGemini.Allowed("somebot", path) {
			h.t.Errorf("Gemini: %q is denied, and its robots may fetch %s", sel, path)
		}
		if denied && twoKinds.Allowed(path) {
			h.t.Errorf("a proxy that indexes may fetch %s, which is denied to everybody", path)
		}
	}
}

// An apostrophe may be escaped or not in a URL. To robots these are two paths.
func TestSpellingsOfDeniedPaths(t *testing.T) {
	h := &hole{files: map[string]string{"it's/.robots": "Disallow: /\n", "it's/x.txt": "x",
		"it's all/x.txt": "x"}}
	h.serve(t)
	h.robots()
	for path, served := range map[string]bool{"/it's/x.txt": true, "/it%27s/x.txt": false,
		"/it%27s%20all/x.txt": true} {
		for _, front := range []string{"gemini", "spartan", "http"} {
			if r := h.ask(front, path); r.Served != served || !served && r.To != "/it's/x.txt" {
				t.Errorf("%s: %s: %+v", front, path, r)
			}
		}
	}
}
