package status

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/tally"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// open counts for sites in which all robots are denied /secret/ and a name of the site.
func open(t testing.TB, names ...string) *Page {
	t.Helper()
	s := New("1.2.3")
	s.Server = &server.Server{}
	for _, name := range names {
		dir := t.TempDir()
		host := &HostStats{Name: name}
		treetest.Write(t, dir, map[string]string{".robots": "Disallow: /secret/\nDisallow: /" +
			name + "/\nNonsense\n"})
		tree, err := site.Open(dir, site.Config{})
		treetest.Must(t, err)
		host.Site = tree
		_, stop, err := tree.Read(t.Context())
		treetest.Must(t, err)
		t.Cleanup(func() { _ = stop() })
		s.Hosts = append(s.Hosts, host)
	}
	return &Page{Stats: s, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"),
		netip.MustParsePrefix("::1/128")}, ShowIP: netip.Addr.String}
}

func (p *Page) ask(from string) (*answer.Value, error) {
	return p.Answer(&answer.Asked{Request: &server.Request{Remote: netip.AddrPortFrom(netip.MustParseAddr(from), 1)}})
}

// request counts a request for a selector of the first site.
func (p *Page) request(from, selector string, err error) {
	p.Stats.Observe(server.Served{Protocol: "gopher", Selector: selector, Bytes: 10, Err: err,
		Remote: netip.AddrPortFrom(netip.MustParseAddr(from), 1)})
}

// TestPage: the page has the numbers, as text and drawn without style or script. Nothing of
// a stranger is markup.
func TestPage(t *testing.T) {
	p := open(t, "a.example")
	p.ShowIP = func(netip.Addr) string { return "<b>someone</b>" }
	p.Stats.Hosts[0].Reloaded(site.Reload{Err: errors.New("a disk")})
	p.Stats.Lost = func() int64 { return 7 }
	p.Stats.Searchable = func() (texts, left int) { return 5, 6 }
	p.request("127.0.0.1", "/a.txt", nil)
	p.request("127.0.0.1", "robots.txt", nil)
	p.request("127.0.0.1", "/none", server.ErrNotFound)
	p.request("127.0.0.1", "/secret/plan.txt", nil)
	a, err := p.ask("127.0.0.1")
	treetest.Must(t, err)
	for page, wanted := range map[string][]string{
		string(a.Body): {
			"gophd 1.2.3 (go", "\n  requests: 4, at most ",
			"\n  not served: 1, at most 1 a minute\n",
			"\n  for robots.txt: 1, at most 1 a minute\n  ..",
			"  ok           3  ████████████████████\n", "  not_found    1  ██████\n",
			"  over gopher  4\n", "  bytes sent   40\n", "  accepted   0\n",
			"  rate limit           0\n",
			"  fetched                        1\n  then asked for what it denies  1\n  <b>someone</b>                 1\n",
			"\nReloads\n  done     1\n  failed   1\n", "\n  error: \"a disk\"\n",
			"\n  .robots:3: warning: ", "  did not fit into the index  6\n", "  lines lost  7\n",
		},
		a.HTML: {
			"<p>gophd 1.2.3 (go", "<b>4</b> requests", "<b>1</b> for robots.txt",
			`aria-label="not served in the last hour, by minutes: 1, at most 1 a minute"`,
			`width=".8" height="24"/>`,
			`<th scope="row">not_found</th><td><svg`, "&lt;b&gt;someone&lt;/b&gt;</th><td>1</td>",
			">.robots:3: warning: ", `<th scope="row">busy</th><td>0</td>`,
		},
	} {
		for _, want := range wanted {
			if !strings.Contains(page, want) {
				t.Errorf("no %q in\n%s", want, page)
			}
		}
	}
	for _, no := range []string{"<b>someone", "style", "script", "onload"} {
		if strings.Contains(a.HTML, no) {
			t.Errorf("%q in\n%s", no, a.HTML)
		}
	}
	refused := Numbers{Counts: server.Counts{Refused: map[string]int64{"too many": 3},
		Refusers: []server.Refuser{{Block: netip.MustParseAddr("192.0.2.1"), Times: 2}}}}
	if got := string(p.sheet(refused, time.Now()).text()); !strings.Contains(got,
		"\nRefused\n  too many        3\n  <b>someone</b>  2\n") {
		t.Errorf("who was refused is not in\n%s", got)
	}
}

// TestStranger: for everybody else there is no such page.
func TestStranger(t *testing.T) {
	p := open(t, "a.example")
	for from, want := range map[string]bool{"127.0.0.9": true, "::ffff:127.0.0.9": true,
		"::1": true, "::2": false, "192.0.2.1": false} {
		if _, err := p.ask(from); errors.Is(err, server.ErrDeclined) == want {
			t.Errorf("%s is allowed: %v", from, !want)
		}
	}
	if _, err := p.Answer(&answer.Asked{Request: &server.Request{}}); !errors.Is(err,
		server.ErrDeclined) {
		t.Error("an unknown address is allowed")
	}
	for sel, want := range map[string]bool{"/server-status": true, "server-status": true,
		"/server-statu": false} {
		if p.Answers(sel) != want {
			t.Errorf("%s is the page: %v", sel, !want)
		}
	}
}

// TestRude: who has not read the file is not rude, and who asks for what is allowed is not.
// The list of those who have read it is bounded; the latest are remembered.
func TestRude(t *testing.T) {
	p := open(t, "a.example")
	h := p.Stats.Hosts[0]
	for _, r := range [][2]string{
		{"192.0.2.1", "/secret/plan.txt"},                                       // has not read it
		{"192.0.2.2", "robots.txt"}, {"192.0.2.2", "/a.txt"}, {"192.0.2.2", ""}, // are allowed
		{"2001:db8::1", "/0/robots.txt"}, {"2001:db8::2", "/secret/plan.txt"},
		{"2001:db8::2", "/secret/"}, // of one /56
	} {
		p.request(r[0], r[1], nil)
	}
	want := tally.Count[netip.Addr]{Key: netip.MustParseAddr("2001:db8::"), Times: 2}
	if n := p.Stats.Numbers().Hosts[0]; n.Rude != 2 || len(n.Rudest) != 1 || n.Rudest[0] != want {
		t.Errorf("rude: %d, %v", n.Rude, n.Rudest)
	}
	a := netip.MustParseAddr("10.0.0.0")
	for range 5 * maxFetchers {
		a = a.Next()
		p.request(a.String(), "robots.txt", nil)
	}
	p.request(a.String(), "/secret/", nil)
	if n := len(h.recent) + len(h.earlier); n > 2*maxFetchers || h.counts.Rude != 3 {
		t.Errorf("%d are remembered; the last is rude: %v", n, h.counts.Rude == 3)
	}
}

// TestHour: each minute has its own count, and what is older than an hour is gone.
func TestHour(t *testing.T) {
	p := open(t, "a.example")
	now := time.Unix(60*1000, 0)
	for _, minute := range []struct{ ago, times int }{{60, 7}, {59, 1}, {1, 4}, {0, 8}} {
		for range minute.times {
			p.Stats.Hosts[0].observe(server.Served{},
				now.Add(-time.Duration(minute.ago)*time.Minute))
		}
	}
	for later, want := range map[time.Duration]string{0: "▁" + strings.Repeat(".", 57) + "▄█",
		70: strings.Repeat(".", 60)} {
		if got := p.sheet(p.Stats.Numbers(),
			now.Add(later*time.Minute)).Charts[asked].Line(); got != want {
			t.Errorf("%d minutes later: %s, want %s", later, got, want)
		}
	}
}

// TestNoticesAreOneNumber: notices, about which nothing can be done, fill no page, and of
// other reports the first are listed.
func TestNoticesAreOneNumber(t *testing.T) {
	var h HostNumbers
	for i := range 30 {
		for _, s := range []diag.Severity{diag.Notice, diag.Warning} {
			h.Reports = append(h.Reports,
				policy.Report{Diagnostic: diag.Diagnostic{Code: string(s), Severity: s, Line: i}})
		}
	}
	text := fmt.Sprintln(reloads(h)...)
	if strings.Count(text, "("+string(diag.Warning)+")") != maxReports ||
		strings.Contains(text, "("+string(diag.Notice)+")") ||
		!strings.Contains(text, "reports 30") || !strings.HasSuffix(text, "check -v) 30\n") {
		t.Errorf("got %s", text)
	}
}

// TestHostsAreApart: a request counts for its host and its protocol, and that host's
// robots.txt judges it.
func TestHostsAreApart(t *testing.T) {
	p := open(t, "a", "b")
	for host, protocol := range map[string]string{"a": "gopher", "b": "nex", "192.0.2.9": "nex"} { // the last is the first host's
		for _, sel := range []string{"robots.txt", "/b/", "/secret/"} {
			p.Stats.Observe(server.Served{Protocol: protocol, Host: host, Selector: sel,
				Remote: netip.MustParseAddrPort("192.0.2.1:1")})
		}
	}
	n := p.Stats.Numbers()
	if a, b := n.Hosts[0], n.Hosts[1]; a.Rude != 2 || b.Rude != 2 || a.Fetches != 2 ||
		b.Fetches != 1 {
		t.Errorf("a: %+v\nb: %+v", a, b)
	}
	text := string(p.sheet(n, time.Now()).text())
	for _, want := range []string{"robots.txt · a\n", "robots.txt · b\n", "Reloads · b\n",
		"  for a        6\n  for b        3\n  over gopher  3\n  over nex     6\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
}

func BenchmarkObserve(b *testing.B) {
	p := open(b, "a.example")
	served := server.Served{Protocol: "gopher", Selector: "/a.txt",
		Remote: netip.MustParseAddrPort("192.0.2.1:1")}
	b.ReportAllocs()
	for b.Loop() {
		p.Stats.Observe(served)
	}
}
