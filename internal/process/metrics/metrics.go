// Package metrics exports gophd's counters to Prometheus, with metrics of the process and the
// Go runtime. Package status documents the counters.
package metrics

import (
	"context"
	"errors"
	"net"
	"net/http"
	"runtime"
	"slices"
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

// Describe sends nothing, which makes this an unchecked collector.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c collector) Collect(to chan<- prometheus.Metric) {
	// Labels are names and values in turn.
	metric := func(typ prometheus.ValueType, name, help string, v float64, labels ...string) {
		var names, values []string
		for pair := range slices.Chunk(labels, 2) {
			names = append(names, pair[0])
			values = append(values, pair[1])
		}
		to <- prometheus.MustNewConstMetric(prometheus.NewDesc("gophd_"+name, help, names, nil), typ, v,
			values...)
	}
	count := func(name, help string, n int64, labels ...string) {
		metric(prometheus.CounterValue, name, help, float64(n), labels...)
	}
	gauge := func(name, help string, v float64, labels ...string) {
		metric(prometheus.GaugeValue, name, help, v, labels...)
	}

	n := c.stats.Numbers()
	gauge("build_info", "Always 1, with the version.", 1, "version", c.stats.Version)
	count("accepted_connections_total", "Connections that were accepted.", n.Accepted)
	for state, open := range map[string]int{
		"reading":   n.Reading,
		"writing":   n.Writing,
		"lingering": n.Lingering,
	} {
		gauge("connections", "Open connections, by state.", float64(open), "state", state)
	}
	for why, times := range n.Refused {
		count("refused_total", "Connections and requests that were refused, by reason.", times,
			"reason", strings.ToLower(strings.ReplaceAll(why, " ", "_")))
	}
	count("access_log_lost_lines_total", "Lines of the access log that were lost.", n.Lost)
	for _, h := range n.Hosts {
		for protocol, outcomes := range h.Requests {
			for kind, times := range outcomes {
				count("requests_total", "Requests, by host, protocol and outcome.", times, "host", h.Name,
					"protocol", protocol, "outcome", server.Kind(kind).String())
			}
		}
		count("response_bytes_total", "Bytes of replies that were sent.", h.Bytes, "host", h.Name)
		count("robots_fetches_total", "Requests for robots.txt.", h.Fetches, "host", h.Name)
		count("robots_rude_requests_total",
			"Requests for what robots.txt denies, by clients that had fetched it.", h.Rude, "host", h.Name)
		gauge("robots_bytes", "Size of robots.txt.", float64(h.RobotsBytes), "host", h.Name)
		if h.Policy != "" {
			gauge("policy_info", "1, labelled with the SHA-256 of the policy and of robots.txt.", 1,
				"host", h.Name, "sha256", h.Policy, "file_sha256", h.File)
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
			gauge("reports", "Reports on the annotations, by severity.", float64(times), "host", h.Name,
				"severity", string(severity))
		}
		count("reloads_total", "How often something was read again.", h.Reloads, "host", h.Name)
		count("reload_failures_total", "How often that failed, and the old policy stayed.", h.Failures,
			"host", h.Name)
		if h.Reloads > 0 {
			gauge("last_reload_timestamp_seconds", "When something was last read again, since 1970.",
				float64(h.Last.Start.UnixMilli())/1000, "host", h.Name)
			gauge("last_reload_duration_seconds", "How long that took.", h.Last.Took.Seconds(), "host",
				h.Name)
		}
		for action, times := range map[string]int64{
			"slowed":  h.Enforced.Slowed,
			"refused": h.Enforced.Refused,
		} {
			count("robots_enforced_requests_total", "Requests of robots that were slowed or refused.",
				times, "host", h.Name, "action", action)
		}
	}
}
