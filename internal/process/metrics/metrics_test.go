package metrics

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/gophd/gophd/internal/source/status"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

func stats(t *testing.T) *status.Stats {
	t.Helper()
	tree, err := site.Open(t.TempDir(), site.Config{})
	treetest.Must(t, err)
	s := status.New("1.2.3")
	s.Server, s.Hosts = &server.Server{}, []*status.HostStats{{Name: "a.example", Site: tree}}
	s.Hosts[0].Reloaded(site.Reload{Start: time.Unix(1000, 0), Took: 250 * time.Millisecond})
	s.Observe(server.Served{Protocol: "gemini", Selector: "/x", Bytes: 29, Err: server.ErrNotFound})
	return s
}

// TestConventions lets Prometheus' own linter judge the names and help texts.
func TestConventions(t *testing.T) {
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(collector{stats(t)})
	problems, err := testutil.GatherAndLint(r)
	treetest.Must(t, err)
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// pipes is a listener in memory.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// TestIdle: a connection that stops is closed, at whatever point.
func TestIdle(t *testing.T) {
	for begin, within := range map[string]time.Duration{
		"":                 6 * time.Second,
		"GET /metrics HTT": 6 * time.Second,
		"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n":                       3 * time.Minute,
		"GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx": 3 * time.Minute,
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			l, done := make(pipes), make(chan error, 1)
			go func() { done <- Serve(ctx, l, stats(t)) }()
			client, conn := net.Pipe()
			l <- conn
			began := time.Now()
			_, _ = io.WriteString(client, begin)
			_ = client.SetReadDeadline(began.Add(time.Hour))
			_, _ = io.Copy(io.Discard, client)
			if d := time.Since(began); d > within {
				t.Errorf("%.16q: closed after %v", begin, d)
			}
			stop()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestServe(t *testing.T) {
	addr := treetest.Serve(t, func(ctx context.Context, l net.Listener) error {
		return Serve(ctx, l, stats(t))
	})
	for path, want := range map[string]int{"/metrics": 200, "/": 404, "/debug/pprof/": 404} {
		resp, err := http.Get("http://" + addr + path)
		treetest.Must(t, err)
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != want {
			t.Errorf("%s: %s, %v", path, resp.Status, err)
		}
		if path != "/metrics" {
			continue
		}
		for _, line := range []string{
			`gophd_build_info{version="1.2.3"} 1`,
			`gophd_requests_total{host="a.example",outcome="not_found",protocol="gemini"} 1`,
			`gophd_requests_total{host="a.example",outcome="ok",protocol="gopher"} 0`,
			`gophd_response_bytes_total{host="a.example"} 29`,
			`gophd_connections{state="reading"} 0`,
			`gophd_refused_total{reason="rate_limit"} 0`,
			`gophd_reports{host="a.example",severity="error"} 0`,
			`gophd_last_reload_timestamp_seconds{host="a.example"} 1000`,
			`gophd_last_reload_duration_seconds{host="a.example"} 0.25`,
			`gophd_reloads_total{host="a.example"} 1`,
		} {
			if !strings.Contains(string(body), line+"\n") {
				t.Errorf("no %s", line)
			}
		}
	}
}
