package wirecmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/treetest"
)

const root = "1Phlog\t/phlog/\th.example\t70\r\niHello\t\t\t\r\n.\r\n"

// tidy is a server that does what is asked of one.
func tidy(c net.Conn) {
	in := bufio.NewReaderSize(c, 4096)
	line, err := in.ReadSlice('\n')
	if errors.Is(err, io.EOF) && len(line) == 0 {
		return
	}
	reply := "3Not found\t\terror.host\t1\r\n.\r\n"
	switch sel, _, _ := strings.Cut(strings.TrimRight(string(line), "\r\n"), "\t"); {
	case err != nil && len(line) > 1:
	case sel == "" || sel == "/":
		reply = root
	case sel == "robots.txt" || sel == "/robots.txt":
		reply = "User-agent: *\nDisallow: /x/\n"
	}
	_, _ = io.WriteString(c, reply)
	_ = c.(*net.TCPConn).CloseWrite()
	_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	_, _ = io.Copy(io.Discard, in)
}

// sloppy sends back what comes, with what lies outside, and never closes.
func sloppy(c net.Conn) {
	buf := make([]byte, 9000)
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		_, _ = fmt.Fprintf(c, "1etc\t/etc\th\t70\n1usr\t/usr\th\t70\n1proc\tproc\th\t70\n<html>%s", buf[:n])
	}
}

func asked(t *testing.T, w *Wire, address string) map[string]finding {
	t.Helper()
	all, err := w.ask(t.Context(), address)
	treetest.Must(t, err)
	found := map[string]finding{}
	for _, f := range all {
		found[f.Request] = f
	}
	if len(found) != len(probes) || len(found) < 40 {
		t.Errorf("%d findings, %d requests", len(found), len(probes))
	}
	return found
}

// TestJudged: a server that does all as it should has nothing wrong, one that does
// nothing so has what it does wrong named.
func TestJudged(t *testing.T) {
	for name, f := range asked(t, &Wire{Timeout: time.Second}, treetest.Conns(t, tidy)) {
		if f.Grade == "wrong" || f.Meaning == "" || f.Document == "" {
			t.Errorf("tidy: %s: %+v", name, f)
		}
	}
	found := asked(t, &Wire{Timeout: 100 * time.Millisecond}, treetest.Conns(t, sloppy))
	for _, name := range []string{
		"the root: an empty line", "its lines: four fields, a port", "its last line is a dot",
		"the server closes", "URL:javascript:",
		".. to the root of the disk", "%2e%2e/", `..\`, "control bytes", "4,000 bytes",
		"64 KiB without an end", "HTTP",
	} {
		if f := found[name]; f.Grade != "wrong" {
			t.Errorf("sloppy: %s: %+v", name, f)
		}
	}
}

// TestOneItem: an error item is not the root's menu, though that has one item, too.
func TestOneItem(t *testing.T) {
	root := &response{data: []byte("0About\t/about.txt\th\t70\r\n.\r\n")}
	for data, want := range map[string]grade{"3Bad request\t\terror.host\t1\r\n.\r\n": note,
		"hello\r\nthere\r\n": note, "0About us\t/about.txt\th\t70\r\n.\r\n": good} {
		r := &response{data: []byte(data), closed: true}
		r.is = r.kinds(root)
		if g, _ := probes[len(probes)-1].judge(r); g != want {
			t.Errorf("%q: %v", data, g)
		}
	}
}

// TestHarmless: no request is longer than 64 KiB.
func TestHarmless(t *testing.T) {
	for _, p := range probes {
		if len(p.send) > 64<<10 {
			t.Errorf("%s: %d bytes", p.name, len(p.send))
		}
		if p.name == "" || p.doc == "" || (p.form == nil) == (p.want == 0) {
			t.Errorf("%+v", p)
		}
	}
}

// TestRun: a fault is a status and a grade for programs; what cannot be asked is an error.
func TestRun(t *testing.T) {
	address := treetest.Conns(t, func(c net.Conn) { _, _ = io.WriteString(c, "hello\n") })
	var out strings.Builder
	w := &Wire{Timeout: time.Second, Out: &out, JSON: true}
	if err := w.Run(t.Context(), []string{address}); !errors.Is(err, exit.ErrNo) ||
		!strings.Contains(out.String(), `"grade": "wrong"`) {
		t.Errorf("%v\n%.200s", err, out.String())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range []error{w.Run(t.Context(), nil), w.Run(t.Context(), []string{"[::1"}),
		(&Wire{}).Run(t.Context(), []string{address}), w.Run(ctx, []string{address})} {
		if err == nil {
			t.Error("no error")
		}
	}
}
