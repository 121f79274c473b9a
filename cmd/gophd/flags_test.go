package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/internal/command/exit"
)

// flagsOf02 are the flags of version 0.2.0. One that goes must warn throughout 0.3.
const flagsOf02 = "root vhost strict-text info-prefix search-memory search-all dates charset cache listen inetd host port http " +
	"trust-proxy tls-cert tls-key tls-self-signed request-timeout stall-timeout drain max-conns max-conns-per-ip enforce enforce-spare " +
	"rate burst watch poll poll-remote quiet v log-format access-log log-ips status metrics user sandbox sandbox-parent users users-min-uid mount fastcgi search"

func TestFlagsAreStillThere(t *testing.T) {
	var names []string
	for _, f := range newApp().Flags {
		names = append(names, f.Names()...)
	}
	for name := range strings.FieldsSeq(flagsOf02) {
		if !slices.Contains(names, name) {
			t.Errorf("-%s is gone", name)
		}
	}
}

// The tables of moving-in.txt name flags that exist.
func TestMovingInNamesFlags(t *testing.T) {
	page, err := os.ReadFile("../../content/manual/moving-in.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"-NAME": true}
	for _, f := range newApp().Flags {
		known["-"+f.Names()[0]] = true
	}
	rows := regexp.MustCompile(`(?m)^    \S.*?  +(\S.*)$`).FindAllStringSubmatch(string(page), -1)
	for _, row := range rows {
		for _, flag := range regexp.MustCompile(`(?:^|[ (])(-[A-Za-z-]+)`).FindAllStringSubmatch(row[1], -1) {
			if !known[flag[1]] {
				t.Errorf("no %s: %s", flag[1], row[0])
			}
		}
	}
	if len(rows) < 100 {
		t.Errorf("%d rows", len(rows))
	}
}

// TestEnvironment: a variable is read as people write it, or refused with what to write.
func TestEnvironment(t *testing.T) {
	for _, tt := range []struct{ variable, args, message, hint string }{
		{"GOPHD_SEARCH=yes", "", "", ""},
		{"GOPHD_STRICT_TEXT=Off", "-dates=on", "", ""},
		{"GOPHD_SEARCH=maybe", "", `GOPHD_SEARCH is "maybe"`, "want yes or no"},
		{"GOPHD_POLL=5", "", `GOPHD_POLL is "5"`, "want a DURATION, such as 90s"},
		{"GOPHD_BURST=many", "", `GOPHD_BURST is "many"`, "want a number"},
		{"", "-search=maybe", `-search is "maybe"`, "want yes or no"},
		{"", "-poll 5", `-poll is "5"`, "want a DURATION, such as 90s"},
		{"GOPHD_HOTS=x", "", "unknown variable GOPHD_HOTS", "did you mean GOPHD_HOST?"},
		{"GOPHD_PORT=tcp://10.96.0.7:70", "", "", ""},
		{"GOPHD_PORT_70_TCP_ADDR=10.96.0.7", "", "", ""},
		{"GOPHD_SERVICE_HOST=10.96.0.7", "", "", ""},
		{"GOPHD_WEB_SERVICE_PORT=70", "", "", ""},
		{"GOPHD_TRUST_PROXY=10.0.0.0/99", "", `-trust-proxy "10.0.0.0/99"`, "10.0.0.0/8"},
		{"", "-burst 5", "-burst without -rate", "-rate 2 -burst 5"},
		{"", "-quiet -v", "-quiet and -v", "leave one of them out"},
		{"", "-mount /x=/nope", "-mount /x=/nope: no such file or directory", "mkdir -p /nope"},
		{"", "-vhost foo=/nope", "-vhost foo=/nope: no such file or directory", "mkdir -p /nope"},
	} {
		t.Run(tt.variable+tt.args, func(t *testing.T) {
			if name, value, ok := strings.Cut(tt.variable, "="); ok {
				t.Setenv(name, value)
			}
			args := append([]string{"gophd", "check-config", "-listen", "127.0.0.1:0", "-sandbox", "off"}, strings.Fields(tt.args)...)
			var stderr strings.Builder
			status := run(t.Context(), append(args, t.TempDir()), strings.NewReader(""), &strings.Builder{}, &stderr)
			got := stderr.String()
			switch {
			case tt.message == "" && status != exit.OK, tt.message != "" && status == exit.OK:
				t.Errorf("status %d:\n%s", status, got)
			case !strings.Contains(got, tt.message) || !strings.Contains(got, tt.hint) || strings.Contains(got, "strconv.") || strings.Contains(got, "netip."):
				t.Errorf("want %q and %q:\n%s", tt.message, tt.hint, got)
			}
		})
	}
}

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
		{"-tls-cert a.pem", "-tls-cert without its -tls-key"},
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
