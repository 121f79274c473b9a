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

// TestEveryFlag: every flag has a name for its value.
func TestEveryFlag(t *testing.T) {
	for _, o := range options(newApp()) {
		if value := o.value; !o.toggle && strings.ToUpper(value) != value {
			t.Errorf("-%s: its value has no name: %s", o.name, o.usage)
		}
	}
}

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

// TestEnvironment: a variable is read as people write it, or refused with what to write.
func TestEnvironment(t *testing.T) {
	for _, tt := range []struct{ variable, args, message, hint string }{
		{"GOPHD_SEARCH=yes", "", "", ""},
		{"GOPHD_STRICT_TEXT=Off", "-dates=on", "", ""},
		{"GOPHD_SEARCH=maybe", "", `GOPHD_SEARCH is "maybe"`, "want yes or no"},
		{"GOPHD_POLL=5", "", `GOPHD_POLL is "5"`, "want a DURATION, such as 90s"},
		{"GOPHD_BURST=many", "", `GOPHD_BURST is "many"`, "want a number"},
		{"", "-search=maybe", `-search is "maybe"`, "want yes or no"},
		{"GOPHD_HOTS=x", "", "unknown variable GOPHD_HOTS", "did you mean GOPHD_HOST?"},
		{"GOPHD_PORT=tcp://10.96.0.7:70", "", "", ""},
		{"GOPHD_PORT_70_TCP_ADDR=10.96.0.7", "", "", ""},
		{"GOPHD_SERVICE_HOST=10.96.0.7", "", "", ""},
		{"GOPHD_WEB_SERVICE_PORT=70", "", "", ""},
		{"GOPHD_TRUST_PROXY=10.0.0.0/99", "", `GOPHD_TRUST_PROXY is "10.0.0.0/99"`, "10.0.0.0/8"},
		{"GOPHD_SEARCH=", "", "", ""},
		{"GOPHD_QUIET=yes", "-v", "", ""},
		{"GOPHD_POLL=5m", "-poll 6m", "", ""},
	} {
		t.Run(tt.variable+tt.args, func(t *testing.T) {
			if name, value, ok := strings.Cut(tt.variable, "="); ok {
				t.Setenv(name, value)
			}
			args := append([]string{"check-config", "-listen", "127.0.0.1:0", "-sandbox", "off"},
				strings.Fields(tt.args)...)
			_, got, status := gophd(append(args, t.TempDir())...)
			switch {
			case tt.message == "" && status != exit.OK, tt.message != "" && status == exit.OK:
				t.Errorf("status %d:\n%s", status, got)
			case !strings.Contains(got, tt.message) || !strings.Contains(got, tt.hint) ||
				strings.Contains(got, "strconv.") || strings.Contains(got, "netip."):
				t.Errorf("want %q and %q:\n%s", tt.message, tt.hint, got)
			}
		})
	}
}

// TestCheckConfigPrintsAll: a check reports all that keeps gophd from starting, of the
// options or of the machine.
func TestCheckConfigPrintsAll(t *testing.T) {
	t.Chdir(t.TempDir())
	for args, want := range map[string][]string{
		"-mount x -vhost y -port 1 -host a:b -tls-cert c .":                                 {`-mount "x"`, `-vhost "y"`, `-host "a:b"`, "-tls-cert without"},
		"-listen 192.0.2.1:7070 -mount /m=/nope -access-log /nope/log -tls-self-signed . .": {"-mount /m=/nope: no such", "-access-log /nope/log: writing to /nope", "gophd.key is in the directory of -root", "cannot assign requested address"},
	} {
		_, errs, status := gophd(append([]string{"check-config", "-sandbox", "off"},
			strings.Fields(args)...)...)
		for _, message := range want {
			if status != exit.Usage || !strings.Contains(errs, message) {
				t.Errorf("%s: status %d, want %q\n%s", args, status, message, errs)
			}
		}
	}
}

// TestStartWarns: settings that 0.3.0 accepted are warnings; so is -user root, which is no better
// than no -user.
func TestStartWarns(t *testing.T) {
	for variable, message := range map[string]string{
		"GOPHD_HOST=a..b":                          "is no host name",
		"GOPHD_HTTP_LANG=german":                   "GOPHD_HTTP_LANG=",
		"GOPHD_ENFORCE_SPARE=10.0.0.0/8":           "GOPHD_ENFORCE_SPARE without GOPHD_ENFORCE",
		"GOPHD_USERS_MIN_UID=500":                  "GOPHD_USERS_MIN_UID without GOPHD_USERS",
		"GOPHD_MOUNT=/about-robots=" + t.TempDir(): "gophd itself answers",
		"GOPHD_METRICS=:0":                         "may read the metrics",
		"GOPHD_STATUS=0.0.0.0/0":                   "may see the status page",
		"GOPHD_USER=root":                          "serving as root",
	} {
		if variable == "GOPHD_USER=root" && os.Geteuid() != 0 {
			continue // only root can become root
		}
		name, value, _ := strings.Cut(variable, "=")
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			_, errs, status := gophd("check-config", "-listen", "127.0.0.1:0", "-sandbox", "off",
				"-http", "view", t.TempDir())
			if status != exit.OK || !strings.Contains(errs, message) {
				t.Errorf("status %d\n%s", status, errs)
			}
		})
	}
}
