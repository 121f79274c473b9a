package main

import (
	"strings"
	"testing"

	"github.com/gophd/gophd/internal/exit"
)

func TestNetworkFlagsThatAreWrong(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"-max-conns -1", "-max-conns -1"},
		{"-max-conns-per-ip -1", "-max-conns-per-ip -1"},
		{"-burst -1", "-burst -1"},
		{"-rate -0.5", "-rate -0.5"},
		{"-rate NaN", "-rate NaN"},
		{"-rate Inf", "-rate +Inf"},
		{"-drain -5s", "-drain -5s"},
		{"-poll -1m", "-poll -1m0s"},
		{"-request-timeout -1s", "-request-timeout -1s"},
		{"-stall-timeout -1s", "-stall-timeout -1s"},
		{"-port 99999", "-port 99999"},
		{"-port -1", "-port -1"},
		{"-host gopher://example.org", `-host "gopher://example.org"`},
		{"-host example.org:70", `-host "example.org:70"`},
		{"-host example.org/x", `-host "example.org/x"`},
		{"-http maybe", `unknown -http "maybe"`},
		{"-search-all", "-search-all without -search"},
		{"-search-memory 1GiB", "-search-memory without -search"},
		{"-trust-proxy 10.0.0.0/99", "-trust-proxy"},
		{"-trust-proxy haproxy.example", "-trust-proxy"},
		{"-tls-cert a.pem", "1 of -tls-cert, 0 of -tls-key"},
		{"-tls-cert no.pem -tls-key no.pem", "no.pem"},
	} {
		var stderr strings.Builder
		args := append([]string{"gophd", "-root", t.TempDir(), "-listen", "127.0.0.1:0", "-sandbox", "off"}, strings.Fields(tt.args)...)
		status := run(t.Context(), args, strings.NewReader(""), &strings.Builder{}, &stderr)
		got := stderr.String()
		if status != exit.Usage && !strings.Contains(tt.args, "no.pem") || status == exit.OK || !strings.Contains(got, tt.want) || !strings.Contains(got, "gophd: hint: ") {
			t.Errorf("%s: status %d, %s", tt.args, status, got)
		}
	}
}
