// Package metrics exports gophd's counters to Prometheus, with metrics of the process and the
// Go runtime. Package status documents the counters.
package metrics

import (
	"context"
	"errors"
	"net"
	"net/http"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/source/status"
	"github.com/gophd/gophd/server"
)

// Files lists the paths that the sandbox must keep readable for the metrics of the process.
func Files() []string {
	if runtime.GOOS != "linux" {
		return nil
	}
	return []string{"/proc/self", "/proc/stat"}
}

// Serve serves /metrics on l until ctx ends, and closes l.
func Serve(ctx context.Context, l net.Listener, s *status.Stats) error {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector{s}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics",
		promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
	h := &http.Server{
		Handler:        mux,
		MaxHeaderBytes: 1 << 14,
		ReadTimeout:    5 * time.Second,
		WriteTimeout:   30 * time.Second,
		IdleTimeout:    2 * time.Minute,
	}
	stop := context.AfterFunc(ctx, func() { _ = h.Close() })
	defer stop()
	if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// collector reads the counters at each scrape.
type collector struct{ stats *status.Stats }

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("gophd_"+name, help, labels, nil)
}

var (
	build    = desc("build_info", "Always 1, with the version.", "version")
	requests = desc("requests_total", "Requests, by host, protocol and outcome.", "host",
		"protocol", "outcome")
	sent        = desc("response_bytes_total", "Bytes of replies that were sent.", "host")
	accepted    = desc("accepted_connections_total", "Connections that were accepted.")
	connections = desc("connections", "Open connections, by state.", "state")
	refused     = desc("refused_total",
		"Connections and requests that were refused, by reason.", "reason")
	fetches = desc("robots_fetches_total", "Requests for robots.txt.", "host")
	rude    = desc("robots_rude_requests_total",
		"Requests for what robots.txt denies, by clients that had fetched it.", "host")
	robotsBytes = desc("robots_bytes", "Size of robots.txt.", "host")
	policyInfo  = desc("policy_info",
		"1, labelled with the SHA-256 of the policy and of robots.txt.", "host",
		"sha256", "file_sha256")
	reports  = desc("reports", "Reports on the annotations, by severity.", "host", "severity")
	reloads  = desc("reloads_total", "How often something was read again.", "host")
	failures = desc("reload_failures_total",
		"How often that failed, and the old policy stayed.", "host")
	lastReload = desc("last_reload_timestamp_seconds",
		"When something was last read again, since 1970.", "host")
	lastTook = desc("last_reload_duration_seconds", "How long that took.", "host")
	enforced = desc("robots_enforced_requests_total",
		"Requests of robots that were slowed or refused.", "host", "action")
	lost = desc("access_log_lost_lines_total", "Lines of the access log that were lost.")
)

// Describe sends nothing, which makes this an unchecked collector.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c collector) Collect(to chan<- prometheus.Metric) {
	count := func(d *prometheus.Desc, n int64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	n := c.stats.Numbers()
	gauge(build, 1, c.stats.Version)
	count(accepted, n.Accepted)
	gauge(connections, float64(n.Reading), "reading")
	gauge(connections, float64(n.Writing), "writing")
	gauge(connections, float64(n.Lingering), "lingering")
	for why, times := range n.Refused {
		count(refused, times, strings.ToLower(strings.ReplaceAll(why, " ", "_")))
	}
	count(lost, n.Lost)
	for _, h := range n.Hosts {
		for protocol, outcomes := range h.Requests {
			for kind, times := range outcomes {
				count(requests, times, h.Name, protocol, server.Kind(kind).String())
			}
		}
		count(sent, h.Bytes, h.Name)
		count(fetches, h.Fetches, h.Name)
		count(rude, h.Rude, h.Name)
		gauge(robotsBytes, float64(h.RobotsBytes), h.Name)
		if h.Policy != "" {
			gauge(policyInfo, 1, h.Name, h.Policy, h.File)
		}
		bySeverity := map[diag.Severity]int{
			diag.Error:   0,
			diag.Warning: 0,
			diag.Notice:  0,
		}
		for _, r := range h.Reports {
			bySeverity[r.Severity]++
		}
		for severity, times := range bySeverity {
			gauge(reports, float64(times), h.Name, string(severity))
		}
		count(reloads, h.Reloads, h.Name)
		count(failures, h.Failures, h.Name)
		if h.Reloads > 0 {
			gauge(lastReload, float64(h.Last.Start.UnixMilli())/1000, h.Name)
			gauge(lastTook, h.Last.Took.Seconds(), h.Name)
		}
		count(enforced, h.Enforced.Slowed, h.Name, "slowed")
		count(enforced, h.Enforced.Refused, h.Name, "refused")
	}
}
