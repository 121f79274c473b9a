package answer_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/internal/process/keypair"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// way is one on which a request comes to a handler.
type way struct {
	name string
	ask  func(request string) string
}

// ways serves a handler on all of them.
func ways(t testing.TB, h server.Handler) []way {
	t.Helper()
	s := func() *server.Server {
		return &server.Server{Handler: h, Host: "h", Port: 70, MaxConnsPerIP: -1,
			RequestTimeout: time.Hour}
	}
	plain := s()
	plain.TLS = certificate(t)
	addr := listen(t, plain)
	proxied := s()
	proxied.TrustProxy = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	behind := listen(t, proxied)
	return []way{
		{"plain", func(request string) string { return exchange(t, dial(t, addr), request) }},
		{"TLS", func(request string) string {
			return exchange(t, dialTLS(t, addr), request)
		}},
		{"proxy", func(request string) string {
			return exchange(t, dial(t, behind),
				"PROXY TCP4 192.0.2.1 198.51.100.1 1234 70\r\n"+request)
		}},
		{"inetd", func(request string) string {
			client, conn := net.Pipe()
			_ = client.SetDeadline(time.Now().Add(2 * time.Minute))
			go s().ServeConn(t.Context(), conn)
			return exchange(t, client, request)
		}},
	}
}

// certificate is what a server needs for TLS.
func certificate(t testing.TB) *tls.Config {
	t.Helper()
	files, err := keypair.SelfSigned(t.TempDir(), "localhost")
	must(t, err)
	cert, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	must(t, err)
	return &tls.Config{Certificates: []tls.Certificate{cert}}
}

func dialTLS(t testing.TB, addr string) net.Conn {
	return tls.Client(dial(t, addr), &tls.Config{InsecureSkipVerify: true})
}

// exchange sends a request and returns all that comes back.
func exchange(t testing.TB, c net.Conn, request string) string {
	t.Helper()
	if _, err := io.WriteString(c, request); err != nil {
		t.Error(err)
	}
	got, err := io.ReadAll(c)
	if err != nil {
		t.Error(err)
	}
	_ = c.Close()
	return string(got)
}

// A reply that names the server is kept for each name of it.
func TestCacheByHost(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/x.txt": "x"})
	h := newFiles(run(t, dir), 1<<20)
	for _, host := range []string{"one", "two"} {
		kept := func() bool {
			r := request(t, "/d/")
			r.Host = host
			must(t, h.ServeGopher(&reply{}, r))
			a, ok := h.Quick(r)
			return ok && string(a.Body) == "0x.txt\t/d/x.txt\t"+host+"\t70\r\n.\r\n"
		}
		if !eventually(kept) {
			t.Errorf("%s: not kept", host)
		}
	}
}

// A spelling that the policy closes is closed though its reply was kept. The files are
// older than the test: a reply of young ones is not kept for long.
func TestKeptReplyOfSpellingThatCloses(t *testing.T) {
	for spelling, rule := range map[string]string{"/m/%6bept.go": "Disallow: /m/kept.go\n",
		"/m/feed": "Disallow: /m/feed/\n", "m/kept.go": "Disallow: /m/kept.go\n" + manyRules()} {
		dir := t.TempDir()
		h := newFiles(runWith(t, dir, site.Config{Mounts: map[string]string{"m": "."}}), 1<<20)
		read := func() string { got, _ := get(t, h, spelling); return got }
		if !eventually(func() bool {
			read()
			_, ok := h.Quick(request(t, spelling))
			return ok
		}) {
			t.Fatal(spelling, "not kept")
		}
		open := read()
		write(t, dir, map[string]string{".robots": rule})
		if !eventually(func() bool { return read() != open }) {
			t.Errorf("%s is still answered: %q", spelling, open)
		}
	}
}

// manyRules are too many for the spellings without a slash, too.
func manyRules() string {
	var b strings.Builder
	for i := range 900 {
		fmt.Fprintf(&b, "Disallow: /%d%s\n", i, strings.Repeat("x", 450))
	}
	return b.String()
}

// All hosts and fronts together keep as much as the cache may hold.
func TestCacheIsShared(t *testing.T) {
	dir := t.TempDir()
	for i := range 100 {
		write(t, dir, map[string]string{fmt.Sprintf("%d.txt", i): string(make([]byte, 50<<10))})
	}
	cache := answer.NewCache(4 << 20)
	tree := run(t, dir)
	var hosts []*Files
	for range 3 {
		h := &Files{&answer.Host{Site: tree, Cache: cache}}
		hosts = append(hosts, h)
		for i := range 100 {
			if _, err := get(t, h, fmt.Sprintf("/%d.txt", i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	sum := 0
	for _, h := range hosts {
		for i := range 100 {
			if a, ok := h.Quick(request(t, fmt.Sprintf("/%d.txt", i))); ok {
				sum += len(a.Body)
			}
		}
	}
	if sum > 4<<20 || sum < 2<<20 {
		t.Errorf("%d bytes are kept of 4 MiB", sum)
	}
}

// The cache is asked first, on whatever way a request comes, and whatever query it
// has.
func TestCacheOnEveryPath(t *testing.T) {
	tree := &faulty{MapFS: fstest.MapFS{"d/x.txt": {Data: []byte("x")}, "y.txt": {Data: []byte("y")}}}
	s := site.FS(tree, site.Config{})
	treetest.Run(t, s.Run)
	_, err := s.Snapshot(t.Context())
	must(t, err)
	h := newFiles(s, 1<<20)
	const drawn = "0x.txt\t/d/x.txt\th\t70\r\n.\r\n"
	for sel, want := range map[string]string{"/d/": drawn, "/y.txt": "y"} {
		if got, err := get(t, h, sel); err != nil || got != want {
			t.Errorf("%s: %q, %v", sel, got, err)
		}
		overTLS := request(t, sel) // kept by itself, since it may link gophers://
		overTLS.TLS = true
		must(t, h.ServeGopher(&reply{}, overTLS))
	}
	tree.fails = errors.New("not from the cache")
	var mux server.ServeMux
	mux.Handle("/", h)
	mux.Handle("/other/", server.HandlerFunc(func(server.ResponseWriter, *server.Request) error {
		return server.ErrNotFound
	}))
	for name, handler := range map[string]server.Handler{"alone": h, "mux": &mux} {
		for _, way := range ways(t, handler) {
			for line, want := range map[string]string{
				"/d/": drawn, "/d/\tquery": drawn, "/y.txt": "y", "/y.txt\ta b": "y",
				"/d/\tq\t": drawn, "/d/\t+": drawn, "/d/\t$": drawn, "/y.txt\t!": "y",
			} {
				if got := way.ask(line + "\r\n"); got != want {
					t.Errorf("%s, %s: %q got %q, want %q", name, way.name, line, got, want)
				}
			}
		}
	}
}

// A panic in a making is an error of the requests that wait for it, and of no others.
func TestPanicInTheMaking(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"x.txt": "x"})
	h := newFiles(run(t, dir), 0)
	broken := &answer.Format{Draw: func(*answer.Asked, *answer.Value) ([]byte, error) { panic("drawing") }}
	func() {
		defer func() {
			if p, ok := recover().(error); !ok ||
				!strings.Contains(p.Error(), "TestPanicInTheMaking") {
				t.Errorf("got %v", p)
			}
		}()
		_, _ = h.Ask(request(t, "/"), broken)
	}()
	if got, err := get(t, h, "/"); err != nil || !strings.Contains(got, "x.txt") {
		t.Errorf("afterwards: %q, %v", got, err)
	}
}
