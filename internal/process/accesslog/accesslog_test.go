package accesslog

import (
	"bytes"
	"errors"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/server"
)

var client = netip.MustParseAddrPort("192.0.2.7:1234")

func TestLine(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 39, 30, 0, time.FixedZone("", 3600))
	for _, c := range []struct {
		served server.Served
		want   string
	}{
		{server.Served{Protocol: "gopher", Host: "a.example", Port: 70, Selector: "/phlog/",
			Remote: client, Bytes: 1234},
			`a.example:70 192.0.2.7 gopher - [20/Nov/2026:12:39:30 +0100] "/phlog/" 200 1234 "-" "-"`},
		{server.Served{Selector: "", Err: &server.Error{Kind: server.BadRequest}},
			`-:0 - - - [20/Nov/2026:12:39:30 +0100] "" 400 - "-" "-"`},
		{server.Served{Protocol: "http", Host: "a.example", Port: 70, Selector: "GET /x HTTP/1.1",
			Remote: client, Bytes: 27, Err: server.ErrNotFound, Agent: "A \"B\"/1",
			Referer: "https://b.example/\n"},
			`a.example:70 192.0.2.7 http - [20/Nov/2026:12:39:30 +0100] "GET /x HTTP/1.1" 404 27 "https://b.example/\x0a" "A \"B\"/1"`},
		{server.Served{Selector: "/x", Remote: client, Err: &server.Error{Kind: server.Gone}},
			`-:0 192.0.2.7 - - [20/Nov/2026:12:39:30 +0100] "/x" 499 - "-" "-"`},
		{server.Served{Selector: "/x", Remote: client, Bytes: 30, Err: errors.New("disk on fire")},
			`-:0 192.0.2.7 - - [20/Nov/2026:12:39:30 +0100] "/x" 500 30 "-" "-"`},
		{server.Served{Selector: "/\" 200 1 \\\n\r\t\x1b[2J\x00\x7fé", Remote: client},
			`-:0 192.0.2.7 - - [20/Nov/2026:12:39:30 +0100] "/\" 200 1 \\\x0a\x0d\x09\x1b[2J\x00\x7f\xc3\xa9" 200 - "-" "-"`},
	} {
		if got := line(c.served, at, Full); got != c.want+"\n" {
			t.Errorf("got  %swant %s", got, c.want)
		}
	}
	named := server.Served{Host: "a.example", Port: 70, Remote: client, Agent: "Ann's browser",
		Referer: "https://b.example/ann"}
	if got := line(named, at, None); strings.Contains(strings.ToLower(got), "ann") ||
		strings.Contains(got, "192") {
		t.Errorf("without addresses: %s", got)
	}
}

// FuzzQuoted: whatever comes from outside stays inside its quotes, on one line
// of visible ASCII.
func FuzzQuoted(f *testing.F) {
	for _, s := range []string{"", "/phlog/", `"`, `\`, `\"`, "\n", "\xff\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := quoted(s)
		for i := 0; i < len(got); i++ {
			switch {
			case got[i] < ' ' || got[i] > '~':
				t.Fatalf("%q has byte %#x", got, got[i])
			case got[i] == '"':
				t.Fatalf("%q has a bare quote", got)
			case got[i] == '\\':
				i++ // what it protects
			}
		}
		if strings.HasSuffix(got, `\`) && !strings.HasSuffix(got, `\\`) {
			t.Fatalf("%q ends in a bare backslash", got)
		}
	})
}

func TestIPs(t *testing.T) {
	for _, c := range []struct{ addr, full, masked string }{
		{"192.0.2.7", "192.0.2.7", "192.0.2.0"},
		{"::ffff:192.0.2.7", "::ffff:192.0.2.7", "192.0.2.0"},
		{"2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6", "2001:db8:1::"},
		{"fe80::1%eth0", "fe80::1%eth0", "fe80::"},
	} {
		a := netip.MustParseAddr(c.addr)
		if got := [3]string{Full.Name(a), Masked.Name(a), None.Name(a)}; got != [3]string{c.full,
			c.masked, "-"} {
			t.Errorf("%s: %q", c.addr, got)
		}
	}
	if got := Full.Name(netip.Addr{}); got != "-" {
		t.Errorf("unknown: %q", got)
	}
}

func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	var complaints bytes.Buffer
	l, err := Open("/dev/full", Full, slog.New(slog.NewTextHandler(&complaints, nil)))
	treetest.Must(t, err)
	for range 3 {
		l.Observe(server.Served{Selector: "/x", Remote: client})
	}
	l.Close()
	if l.Lost() != 3 || strings.Count(complaints.String(), "no space left on device") != 1 {
		t.Errorf("%d lines lost; %s", l.Lost(), complaints.String())
	}
}

func BenchmarkObserve(b *testing.B) {
	l, err := Open(os.DevNull, Full, slog.New(slog.DiscardHandler))
	treetest.Must(b, err)
	defer l.Close()
	s := server.Served{Selector: "/phlog/2026/", Remote: client, Bytes: 1000}
	b.ReportAllocs()
	for b.Loop() {
		l.Observe(s)
	}
}

// TestFIFO: nobody reads yet. The start does not wait, nor does the end, and who
// comes to read gets the lines.
func TestFIFO(t *testing.T) {
	name := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Skip(err)
	}
	l, err := Open(name, Full, slog.New(slog.DiscardHandler))
	treetest.Must(t, err)
	l.Observe(server.Served{Selector: "/early"})
	r, err := os.Open(name)
	treetest.Must(t, err)
	defer func() { _ = r.Close() }()
	b := make([]byte, 4096)
	if n, err := r.Read(b); err != nil || !strings.Contains(string(b[:n]), `"/early"`) {
		t.Errorf("read %q, %v", b[:n], err)
	}
	l.Close()
}
