package status

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/gopher"
	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// open serves a tree in which /secret/ is denied, with a status page for
// 127.0.0.0/8, and returns the page and where it is served.
func open(t *testing.T, change ...func(*Page)) (*Page, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{".robots": "Disallow: /secret/\nNonsense\n", "secret/plan.txt": "x", "a.txt": "a", "README": "r\n"} {
		if i := strings.LastIndexByte(name, '/'); i > 0 {
			if err := os.MkdirAll(dir+"/"+name[:i], 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stats := New("1.2.3")
	counts := &HostStats{Name: "gopher.example"}
	tree, err := site.Open(dir, site.Config{Reloaded: counts.Reloaded})
	if err != nil {
		t.Fatal(err)
	}
	page := &Page{Stats: stats, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	for _, f := range change {
		f(page)
	}
	host := &answer.Host{Site: tree, Cache: answer.NewCache(1 << 20), Before: []answer.Source{page}}
	srv := &server.Server{Handler: &gopher.Front{Host: host}, Observer: stats, RequestTimeout: time.Hour}
	counts.Site = tree
	stats.Server, stats.Hosts = srv, []*HostStats{counts}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 2)
	go func() { done <- srv.Serve(ctx, l) }()
	go func() { done <- tree.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-done, <-done); err != nil {
			t.Error(err)
		}
	})
	if _, err := tree.Snapshot(ctx); err != nil {
		t.Fatal(err)
	}
	return page, l.Addr().String()
}

func ask(t *testing.T, addr, selector string) string {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(2 * time.Minute))
	_, _ = io.WriteString(c, selector+"\r\n")
	all, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

const notFound = "3Not found: nothing here has that name\t\terror.host\t1\r\n.\r\n"

// until waits for numbers: a request is counted after its reply.
func until(t *testing.T, s *Stats, ok func(Numbers) bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(s.Numbers()); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the numbers are %+v", s.Numbers())
		}
	}
}

// says waits until all that is wanted stands on a page: the numbers of a request
// change one after the other.
func says(t *testing.T, page func() string, wanted ...string) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		got := page()
		i := slices.IndexFunc(wanted, func(want string) bool { return !strings.Contains(got, want) })
		if i < 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("no %q in\n%s", wanted[i], got)
		}
	}
}

func TestPage(t *testing.T) {
	p, addr := open(t)
	for selector, want := range map[string]string{"/a.txt": "a", "/none": notFound, "/server-statu": notFound} {
		if got := ask(t, addr, selector); got != want {
			t.Errorf("%s: %q", selector, got)
		}
	}
	_ = ask(t, addr, "robots.txt")
	until(t, p.Stats, func(n Numbers) bool { return n.Hosts[0].Fetches == 1 })
	_ = ask(t, addr, "/secret/plan.txt")
	until(t, p.Stats, func(n Numbers) bool {
		return n.All.Outcomes()[server.OK] == 3 && n.All.Outcomes()[server.NotFound] == 2 && n.Hosts[0].Fetches == 1 && n.Hosts[0].Rude == 1 && n.Hosts[0].Reloads == 1
	})
	for _, selector := range []string{"/server-status", "server-status"} {
		says(t, func() string { return ask(t, addr, selector) },
			"gophd 1.2.3 (go", "\n  requests: ", "\n  not served: 2, at most ", "\n  for robots.txt: 1, at most 1 a minute\n  ", "  ok           ", "  not_found    2  █", "  accepted   ", "  fetched                        1\n",
			"  then asked for what it denies  1\n  127.0.0.1                      1\n", "\nReloads\n  done ", "\n  failed ", `  .robots:2: error: `,
			"  rate of the address         0\n",
		)
	}
}

// TestStranger: for everybody else there is no such page.
func TestStranger(t *testing.T) {
	p, addr := open(t, func(p *Page) {
		p.Allow = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("::1/128")}
	})
	for range 3 { // from the second on it could come from memory
		if got := ask(t, addr, "/server-status"); got != notFound {
			t.Errorf("got %q", got)
		}
	}
	for a, want := range map[string]bool{"192.0.2.9": true, "::ffff:192.0.2.9": true, "::1": true, "::2": false, "127.0.0.1": false} {
		if p.allows(netip.MustParseAddr(a)) != want {
			t.Errorf("%s is allowed: %v", a, !want)
		}
	}
	if p.allows(netip.Addr{}) {
		t.Error("an unknown address is allowed")
	}
}

// TestRude: who has not read the file is not rude, and who asks for what is
// allowed is not.
func TestRude(t *testing.T) {
	p, _ := open(t)
	observe := func(from, selector string) {
		p.Stats.Observe(server.Served{Selector: selector, Remote: netip.AddrPortFrom(netip.MustParseAddr(from), 1)})
	}
	observe("192.0.2.1", "/secret/plan.txt") // has not read it
	observe("192.0.2.2", "robots.txt")
	observe("192.0.2.2", "/a.txt") // is allowed
	observe("2001:db8::1", "/0/robots.txt")
	observe("2001:db8::2", "/secret/plan.txt") // of the same /56
	observe("2001:db8::2", "/secret/")
	n := p.Stats.Numbers()
	if n.Hosts[0].Rude != 2 || len(n.Hosts[0].Rudest) != 1 || n.Hosts[0].Rudest[0].Key != netip.MustParseAddr("2001:db8::") || n.Hosts[0].Rudest[0].Times != 2 {
		t.Errorf("rude: %d, %v", n.Hosts[0].Rude, n.Hosts[0].Rudest)
	}
}

// TestFetchersAreBounded: a flood of addresses costs bounded memory, and the
// latest are remembered.
func TestFetchersAreBounded(t *testing.T) {
	var r rudeness
	a := netip.MustParseAddr("10.0.0.0")
	for range 5 * maxFetchers {
		a = a.Next()
		r.fetched(a)
	}
	if n := len(r.recent) + len(r.earlier); n > 2*maxFetchers || !r.knows(a) {
		t.Errorf("%d are remembered, the last: %v", n, r.knows(a))
	}
}

// TestRefusersOnPage: who was refused most often stands on the page.
func TestRefusersOnPage(t *testing.T) {
	p, addr := open(t, func(p *Page) { p.ShowIP = func(netip.Addr) string { return "masked" } })
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = c.Write([]byte{0x16, 3, 1, 0, 5}) // TLS, which is not offered
	_, _ = io.ReadAll(c)
	_ = c.Close()
	until(t, p.Stats, func(n Numbers) bool { return len(n.Refusers) == 1 })
	says(t, func() string { return ask(t, addr, "/server-status") }, "  TLS is not offered          1\n", "  masked                      1\n")
}

func BenchmarkObserve(b *testing.B) {
	dir := b.TempDir()
	tree, err := site.Open(dir, site.Config{})
	if err != nil {
		b.Fatal(err)
	}
	s := New("")
	s.Server, s.Hosts = &server.Server{}, []*HostStats{{Name: "a.example", Site: tree}}
	served := server.Served{Selector: "/a.txt", Remote: netip.MustParseAddrPort("192.0.2.1:1")}
	b.ReportAllocs()
	for b.Loop() {
		s.Observe(served)
	}
}

// TestHTML: what is drawn is the same, without style or script, and nothing of a
// stranger is markup.
func TestHTML(t *testing.T) {
	p, addr := open(t, func(p *Page) { p.ShowIP = func(netip.Addr) string { return "<b>someone</b>" } })
	_ = ask(t, addr, "robots.txt")
	until(t, p.Stats, func(n Numbers) bool { return n.Hosts[0].Fetches == 1 })
	_ = ask(t, addr, "/secret/plan.txt")
	_ = ask(t, addr, "/none")
	until(t, p.Stats, func(n Numbers) bool { return n.Hosts[0].Rude == 1 && n.All.Outcomes()[server.NotFound] == 1 })
	from := func(addr string) (*answer.Value, error) {
		return p.Answer(&answer.Asked{Request: &server.Request{Remote: netip.AddrPortFrom(netip.MustParseAddr(addr), 1)}})
	}
	var body string
	says(t, func() string { a, _ := from("127.0.0.1"); body = a.HTML; return body },
		"<p>gophd 1.2.3 (go", "<b>3</b> requests", "<b>1</b> for robots.txt", `aria-label="not served in the last hour, by minutes: 1, at most 1 a minute"`,
		`" y="0" width=".8" height="24"/>`, `<th scope="row">not_found</th><td><svg`, "&lt;b&gt;someone&lt;/b&gt;</th><td>1</td>", ">.robots:2: error: ",
	)
	for _, no := range []string{"<b>someone", "style", "script", "onload"} {
		if strings.Contains(body, no) {
			t.Errorf("%q in\n%s", no, body)
		}
	}
	if a, err := from("192.0.2.1"); !errors.Is(err, server.ErrDeclined) {
		t.Errorf("a stranger gets %+v, %v", a, err)
	}
}

// TestHour: each minute has its own count, and what is older than an hour is gone.
func TestHour(t *testing.T) {
	var h hour
	const now = 1000
	want := "▁" + strings.Repeat(".", 57) + "▄█"
	for minute := int64(now - 60); minute <= now; minute++ {
		for range map[int64]int{now - 60: 7, now - 59: 1, now - 1: 4, now: 8}[minute] {
			h.add(minute, asked)
		}
	}
	if got := h.list(now, asked); chart(got[:]) != want {
		t.Errorf("got  %s\nwant %s", chart(got[:]), want)
	}
	if got := h.list(now+70, asked); chart(got[:]) != strings.Repeat(".", 60) {
		t.Errorf("an hour later: %s", chart(got[:]))
	}
	for percent, want := range map[int64]int{1: 1, 50: 10, 100: 20} {
		if got := strings.Count(share(percent), "█"); got != want {
			t.Errorf("%d percent: %d marks", percent, got)
		}
	}
}

// TestNoticesAreOneNumber: notices, about which nothing can be done, fill no page.
func TestNoticesAreOneNumber(t *testing.T) {
	p := &Page{Stats: &Stats{Hosts: []*HostStats{{}}}}
	of := func(code string, s diag.Severity) policy.Report {
		return policy.Report{Diagnostic: diag.Diagnostic{Code: code, Severity: s}}
	}
	n := HostNumbers{Reports: []policy.Report{
		of("ONE", diag.Notice), of("TWO", diag.Warning), of("THREE", diag.Notice),
	}}
	for range 30 {
		n.Reports = append(n.Reports, of("MANY", diag.Warning))
	}
	var text strings.Builder
	if err := p.sheet(Numbers{Hosts: []HostNumbers{n}}).write(&text); err != nil {
		t.Fatal(err)
	}
	if many := strings.Count(text.String(), "MANY"); many != maxReports-1 || !strings.Contains(text.String(), "  reports  31\n") {
		t.Errorf("%d of 31 reports are listed:\n%s", many+1, &text)
	}
	for word, want := range map[string]bool{"ONE": false, "TWO": true, "THREE": false, "gophd robots check -v)  2\n": true} {
		if strings.Contains(text.String(), word) != want {
			t.Errorf("%s is in it: %v\n%s", word, !want, &text)
		}
	}
}

// TestHostsAreApart: a request counts for its host and its protocol, and that host's
// robots.txt judges it.
func TestHostsAreApart(t *testing.T) {
	s := New("")
	s.Server = &server.Server{}
	for name, note := range map[string]string{"a.example": "", "b.example": "Disallow: /b/\n"} {
		dir := t.TempDir()
		if err := os.WriteFile(dir+"/.robots", []byte("User-agent: *\nDisallow: /both/\n"+note), 0o644); err != nil {
			t.Fatal(err)
		}
		tree, err := site.Open(dir, site.Config{})
		if err != nil {
			t.Fatal(err)
		}
		_, stop, err := tree.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = stop() }()
		s.Hosts = append(s.Hosts, &HostStats{Name: name, Site: tree})
	}
	slices.SortFunc(s.Hosts, func(a, b *HostStats) int { return strings.Compare(a.Name, b.Name) })
	for host, protocol := range map[string]string{"a.example": "gopher", "b.example": "nex", "192.0.2.9": "nex"} { // the last is the first host's
		for _, sel := range []string{"robots.txt", "/b/", "/both/"} {
			s.Observe(server.Served{Protocol: protocol, Host: host, Selector: sel, Bytes: 10, Remote: netip.MustParseAddrPort("192.0.2.1:1")})
		}
	}
	n := s.Numbers()
	a, b := n.Hosts[0], n.Hosts[1]
	if a.Rude != 2 || b.Rude != 2 || a.Fetches != 2 || b.Fetches != 1 || a.Outcomes()[server.OK] != 6 || b.Outcomes()[server.OK] != 3 || n.All.Outcomes()[server.OK] != 9 || n.All.Bytes != 90 {
		t.Errorf("a: %+v\nb: %+v\nall: %+v", a, b, n.All)
	}
	var text strings.Builder
	if err := (&Page{Stats: s}).sheet(n).write(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"robots.txt · a.example\n", "robots.txt · b.example\n", "Reloads · b.example\n", "  over gopher  3\n  over nex     6\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, &text)
		}
	}
}
