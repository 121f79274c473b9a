package main

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/daemon"
	"github.com/gophd/gophd/internal/source/sitesearch"
	"github.com/gophd/gophd/internal/watch"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// TestDefaults: a server that gophd starts has the defaults of the packages below it.
func TestDefaults(t *testing.T) {
	var f daemon.Flags
	for _, o := range serveFlags(&f) {
		must(t, o.Apply(flag.NewFlagSet("", flag.ContinueOnError)))
	}
	is := []any{f.RequestTimeout, f.StallTimeout, f.Drain, f.MaxConnsPerIP, f.Burst, f.UsersMinUID,
		f.Poll, f.PollRemote, f.SearchMemory}
	want := []any{server.DefaultRequestTimeout, server.DefaultStallTimeout,
		server.DefaultDrainTimeout, server.DefaultMaxConnsPerIP, server.DefaultBurst,
		site.DefaultUsersMinUID, watch.DefaultPoll, watch.DefaultPollRemote,
		int64(sitesearch.DefaultMemory)}
	if !slices.Equal(is, want) {
		t.Errorf("got %v, want %v", is, want)
	}
}

// The tables of moving-in.txt name flags that exist.
func TestMovingInNamesFlags(t *testing.T) {
	page, err := os.ReadFile("../../content/manual/moving-in.txt")
	must(t, err)
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

// TestCheckConfig: what keeps gophd from starting is reported all at once, whether it lies in an
// option, a variable or the machine; a variable is read as people write it, or refused with what
// to write. What 0.3.0 accepted is a warning; so is -user root, which is no better than no -user.
func TestCheckConfig(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, tt := range []struct {
		variable, args string
		status         int
		want           []string
	}{
		{"GOPHD_SEARCH=yes", "", exit.OK, nil},
		{"GOPHD_STRICT_TEXT=Off", "-dates=on", exit.OK, nil},
		{"GOPHD_SEARCH=maybe", "", exit.Usage, []string{`GOPHD_SEARCH is "maybe"`, "want yes or no"}},
		{"GOPHD_POLL=5", "", exit.Usage, []string{`GOPHD_POLL is "5"`, "want a DURATION, such as 90s"}},
		{"GOPHD_BURST=many", "", exit.Usage, []string{`GOPHD_BURST is "many"`, "want a number"}},
		{"", "-search=maybe", exit.Usage, []string{`-search is "maybe"`, "want yes or no"}},
		{"GOPHD_HOTS=x", "", exit.Usage, []string{"unknown variable GOPHD_HOTS",
			"did you mean GOPHD_HOST?"}},
		{"GOPHD_PORT=tcp://10.96.0.7:70", "", exit.OK, nil},
		{"GOPHD_PORT_70_TCP_ADDR=10.96.0.7", "", exit.OK, nil},
		{"GOPHD_SERVICE_HOST=10.96.0.7", "", exit.OK, nil},
		{"GOPHD_WEB_SERVICE_PORT=70", "", exit.OK, nil},
		{"GOPHD_TRUST_PROXY=10.0.0.0/99", "", exit.Usage,
			[]string{`GOPHD_TRUST_PROXY is "10.0.0.0/99"`, "10.0.0.0/8"}},
		{"GOPHD_SEARCH=", "", exit.OK, nil},
		{"GOPHD_QUIET=yes", "-v", exit.OK, nil},
		{"GOPHD_POLL=5m", "-poll 6m", exit.OK, nil},

		{"", "-mount x -vhost y -port 1 -host a:b -tls-cert c", exit.Usage,
			[]string{`-mount "x"`, `-vhost "y"`, `-host "a:b"`, "-tls-cert without"}},
		{"", "-listen 192.0.2.1:7070 -mount /m=/nope -access-log /nope/log -tls-self-signed .",
			exit.Usage, []string{"-mount /m=/nope: no such", "-access-log /nope/log: writing to /nope",
				"gophd.key is in the directory of -root", "cannot assign requested address"}},

		{"GOPHD_HOST=a..b", "", exit.OK, []string{"is no host name"}},
		{"GOPHD_HTTP_LANG=german", "-http view", exit.OK, []string{"GOPHD_HTTP_LANG="}},
		{"GOPHD_ENFORCE_SPARE=10.0.0.0/8", "", exit.OK,
			[]string{"GOPHD_ENFORCE_SPARE without GOPHD_ENFORCE"}},
		{"GOPHD_USERS_MIN_UID=500", "", exit.OK, []string{"GOPHD_USERS_MIN_UID without GOPHD_USERS"}},
		{"GOPHD_MOUNT=/about-robots=" + t.TempDir(), "", exit.OK, []string{"gophd itself answers"}},
		{"GOPHD_METRICS=:0", "", exit.OK, []string{"may read the metrics"}},
		{"GOPHD_STATUS=0.0.0.0/0", "", exit.OK, []string{"may see the status page"}},
		{"GOPHD_USER=root", "", exit.OK, []string{"serving as root"}},
	} {
		t.Run(tt.variable+tt.args, func(t *testing.T) {
			if tt.variable == "GOPHD_USER=root" && os.Geteuid() != 0 {
				t.Skip("only root can become root")
			}
			if name, value, ok := strings.Cut(tt.variable, "="); ok {
				t.Setenv(name, value)
			}
			args := []string{"check-config", "-sandbox", "off"}
			if !strings.Contains(tt.args, "-listen") {
				args = append(args, "-listen", "127.0.0.1:0")
			}
			_, got, status := gophd(append(append(args, strings.Fields(tt.args)...), ".")...)
			if status != tt.status || strings.Contains(got, "strconv.") ||
				strings.Contains(got, "netip.") {
				t.Errorf("status %d:\n%s", status, got)
			}
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
		})
	}
}
