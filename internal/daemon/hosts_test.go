package daemon

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/internal/process/systemd"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
	"github.com/gophd/gophd/test/e2e/harness"
)

// page is a site that a browser gets.
type page string

func (page) ServeHTTP(http.ResponseWriter, *http.Request) {}

// hostsOf are two hosts, of which the first may have a name.
func hostsOf(name string, first, two *virtualHost) *hosts {
	return &hosts{Settings: &Settings{Flags: Flags{Host: name}, server: &server.Server{Host: name},
		hosts: []*virtualHost{first, two}, names: map[string]*virtualHost{two.name: two}}}
}

// TestBrowsersChooseTheirHost: by the name of TLS or of a proxy, by Host among the names
// that were configured, by address; another name is nobody's once the first has one.
func TestBrowsersChooseTheirHost(t *testing.T) {
	first, two := &virtualHost{web: page("first")},
		&virtualHost{name: "two.example", web: page("two")}
	here := netip.MustParseAddrPort("127.0.0.2:70")
	for _, c := range []struct{ first, tls, host, want string }{
		{"one.example", "", "two.example", "two"}, {"one.example", "", "TWO.Example", "two"},
		{"", "", "two.example", "two"},
		{"one.example", "", "one.example", "first"}, {"one.example", "", "", "first"},
		{"one.example", "", "127.0.0.1", "first"},
		{"one.example", "", "[::1]", "first"}, {"one.example", "", "localhost", "first"},
		{"one.example", "", "evil.example", ""}, {"one.example", "", "two.example.evil", ""},
		{"one.example", "", "../two.example", ""},
		{"", "", "evil.example", "first"}, // nobody has said what the first is called
		{"one.example", "two.example", "two.example", "two"},
		{"one.example", "other.example", "two.example", "two"},
		{"one.example", "other.example", "", "first"},
		{"one.example", "other.example", "other.example", ""},
		{"", "other.example", "other.example", "first"},
		{"one.example", "@127.0.0.2", "127.0.0.2", "two"},
		{"one.example", "@127.0.0.2", "one.example", "first"},
		{"one.example", "@127.0.0.2", "evil.example", ""},
		// TLS and the request name different sites.
		{"one.example", "two.example", "one.example", ""}, {"", "two.example", "evil.example", ""},
		{"one.example", "two.example", "127.0.0.1", ""},
		{"one.example", "two.example", "localhost", ""},
		{"one.example", "one.example", "two.example", ""},
		{"one.example", "two.example", "", "two"},
	} {
		h := hostsOf(c.first, first, two)
		h.byAddr = map[netip.AddrPort]named{here: {two, two.name}}
		r := &server.Request{Local: netip.MustParseAddrPort("127.0.0.1:70"), ServerName: c.tls}
		if c.tls == "@127.0.0.2" {
			r.Local, r.ServerName = here, ""
		}
		web, own := h.browsed(r, c.host)
		if got := fmt.Sprint(web); web == nil && c.want != "" || web != nil && got != c.want ||
			c.want == "two" && own.Host != two.name {
			t.Errorf("%+v: %v as %q", c, web, own.Host)
		}
	}
}

// TestGeminiAnswersForTheURLsHost: the host of the URL answers, and only if TLS has named no
// other site.
func TestGeminiAnswersForTheURLsHost(t *testing.T) {
	first, two := &virtualHost{}, &virtualHost{name: "b.example"}
	for _, c := range []struct {
		own, sni, url string
		want          *virtualHost // nil: status 53
	}{
		{"a.example", "b.example", "localhost", nil}, {"a.example", "b.example", "127.0.0.1", nil},
		{"a.example", "b.example", "a.example", nil},
		{"a.example", "a.example", "b.example", nil}, {"", "b.example", "localhost", nil},
		{"a.example", "", "c.example", nil},
		{"a.example", "b.example", "b.example", two}, {"a.example", "", "b.example", two},
		{"a.example", "a.example", "a.example", first},
		{"a.example", "", "a.example", first}, {"a.example", "", "localhost", first},
		{"a.example", "localhost", "a.example", first},
		{"a.example", "b.example", "", two}, // Nex and Finger name nobody
	} {
		h := hostsOf(c.own, first, two)
		r := &server.Request{Local: netip.MustParseAddrPort("127.0.0.1:1965"), ServerName: c.sni}
		if got, ok := h.called(r, c.url, false); ok != (c.want != nil) ||
			ok && got.virtualHost != c.want {
			t.Errorf("%+v: %v, %v", c, got, ok)
		}
	}
}

// TestAliases: each name is one host's, and what a host writes has the name that the client
// asked for.
func TestAliases(t *testing.T) {
	f := Flags{Root: "/r", Host: "h.example", VHosts: []string{"two.example=/two"},
		Aliases: []string{"www.h.example", "abc.onion=h.example", "www.two.example=TWO.example."},
		Listen:  []string{":70", "127.0.0.1:0=abc.onion", "localhost:0=two.example"}}
	c, err := f.Settings()
	if err != nil || len(c.hosts) != 2 || len(c.endpoints) != 3 {
		t.Fatal(c, err)
	}
	d := &daemon{conf: c}
	var listeners []listener
	var ports []uint16
	for _, e := range c.endpoints[1:] {
		l, err := d.listen(t.Context(), e.flag, e.typed, e.addr)
		treetest.Must(t, err)
		defer func() { _ = l.Close() }()
		listeners = append(listeners, listener{e.protocol, l, e.host})
		ports = append(ports, uint16(l.Addr().(*net.TCPAddr).Port))
	}
	h := c.newHosts(listeners)
	for _, c := range []struct {
		port      uint16
		sni, name string
		want      string // the directory, and the name in what is written
	}{
		{70, "", "", "/r h.example"}, {70, "", "www.h.example", "/r www.h.example"},
		{70, "www.h.example", "", "/r www.h.example"},
		{70, "h.example", "www.h.example", "/r www.h.example"},
		{ports[0], "", "", "/r abc.onion"}, {ports[0], "", "abc.onion", "/r abc.onion"},
		{ports[1], "", "", "/two two.example"},
		{70, "www.two.example", "two.example", "/two two.example"},
		{70, "", "www.two.example", "/two www.two.example"},
		{70, "www.two.example", "www.h.example", "none"}, {70, "", "www.three.example", "none"},
	} {
		r := &server.Request{Local: netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), c.port),
			ServerName: c.sni, Host: "h.example"}
		got := "none"
		if to, ok := h.called(r, c.name, false); ok {
			got = to.dir + " " + to.own(r).Host
		}
		if got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	for _, wrong := range []Flags{
		{Host: "a.example", VHosts: []string{"A.example=/x"}},
		{VHosts: []string{"a.example=/x", "a.example.=/y"}},
		{Host: "a.example", Aliases: []string{"a.example"}},
		{VHosts: []string{"a.example=/x"}, Aliases: []string{"a.example"}},
		{Aliases: []string{"b.example", "b.example"}}, {Aliases: []string{"b.example=c.example"}},
		{Aliases: []string{"b.example="}}, {Aliases: []string{"b example"}},
		{Aliases: []string{""}}, {Listen: []string{":7071=abc.onion"}},
	} {
		wrong.Root = "/r"
		if _, err := wrong.Settings(); err == nil {
			t.Errorf("%+v is no error", wrong)
		}
	}
}

// TestRereadingIsDoneOnce: systemd is told that the reload is over when every host was read
// since it was asked for, and after it was told that one had begun.
func TestRereadingIsDoneOnce(t *testing.T) {
	m := harness.NewManager(t)
	t.Setenv("NOTIFY_SOCKET", m.Name)
	notify, err := systemd.NewNotifier()
	treetest.Must(t, err)
	one, two := &virtualHost{tree: &site.Site{}},
		&virtualHost{name: "two.example", tree: &site.Site{}}
	d := &daemon{conf: &Settings{hosts: []*virtualHost{one, two}}, notify: notify,
		log: slog.New(slog.DiscardHandler)}
	read := func(h *virtualHost, start time.Time) {
		d.reloaded(h, site.Reload{Everything: true, Start: start})
	}
	before := time.Now()
	read(one, before) // nobody has asked
	d.reread(syscall.SIGHUP)
	read(one, before)
	read(two, time.Now())
	d.reread(syscall.SIGHUP)
	read(one, time.Now())
	read(two, time.Now())
	read(two, time.Now())
	notify.Stopping()
	var said []string
	for range 4 {
		state, _, _ := strings.Cut(m.Next(), "\n")
		said = append(said, state)
	}
	if got := fmt.Sprint(said); got != "[RELOADING=1 RELOADING=1 READY=1 STOPPING=1]" {
		t.Errorf("said %s", got)
	}
}

// TestOptionsHoldForEachHost: each option of menus and listings gets from the flags to
// every host, and to the search.
func TestOptionsHoldForEachHost(t *testing.T) {
	f := Flags{Root: t.TempDir(), VHosts: []string{"two.example=" + t.TempDir()}, StrictText: true,
		Cache: 1 << 20, HTTP: "page", LogFormat: "text",
		Sandbox: "off", Watch: site.WatchOff, Burst: server.DefaultBurst, Search: true,
		Version: "1.2.3"}
	f.SearchAll = true
	f.InfoPrefix, f.Dates, f.Charset = true, true, menu.CharsetLatin1
	build := menu.BuildOptions{InfoPrefix: true, Dates: true, Charset: menu.CharsetLatin1}
	fields := reflect.ValueOf(build)
	for i := range fields.NumField() {
		if fields.Field(i).IsZero() {
			t.Errorf("%s is not set here", fields.Type().Field(i).Name)
		}
	}
	conf, err := f.Settings()
	treetest.Must(t, err)
	d := newDaemon(conf, io.Discard)
	d.srv = conf.server
	defer d.close()
	treetest.Must(t, d.openHosts())
	all := []answer.HostOptions{conf.search.HostOptions}
	for _, h := range conf.hosts {
		all = append(all, h.front.Host.HostOptions)
		if !h.front.StrictText {
			t.Errorf("%q has no -strict-text", h.name)
		}
	}
	for i, got := range all {
		got.Hosts = nil // of a line "%"
		if want := (answer.HostOptions{BuildOptions: build,
			Version: f.Version}); !reflect.DeepEqual(got, want) {
			t.Errorf("%d: %+v, want %+v", i, got, want)
		}
	}
	if !conf.search.SearchAll {
		t.Error("-search-all gets lost")
	}
}
