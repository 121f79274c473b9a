package main

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
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
		{"", "-poll 5", `-poll is "5"`, "want a DURATION, such as 90s"},
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

// TestWrongStarts: each wrong start has the right message, a hint with what to type, and
// status 2.
func TestWrongStarts(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"hole", "logs", "home/ann/gopher",
		"home/bob/gopher", "shut/hole"} {
		must(t, os.MkdirAll(name, 0o755))
	}
	must(t, os.WriteFile("hole/a.txt", nil, 0o644))
	// As root, another account is kept out.
	must(t, errors.Join(os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755),
		os.Chmod("shut", 0)))
	t.Cleanup(func() { _ = os.Chmod("shut", 0o755) })
	account := ""
	if os.Geteuid() == 0 {
		account = "-user nobody "
	}
	for _, tt := range []struct{ args, message, hint string }{
		{account + "-listen 127.0.0.1:0 shut/hole",
			"opening the content tree: shut/hole: permission denied",
			"must be able to enter " + dir + "/shut: chmod a+x " + dir + "/shut"},
		{account + "-listen 127.0.0.1:0 -mount /m=shut/hole hole",
			"-mount /m=shut/hole: permission denied",
			"must be able to enter " + dir + "/shut: chmod a+x " + dir + "/shut"},
		{"-max-conns -1 hole", `-max-conns is "-1"`, "want a number of 0 or more"},
		{"-burst -1 hole", `-burst is "-1"`, "want a number of 0 or more"},
		{"-rate -0.5 hole", `-rate is "-0.5"`, "want requests per second"},
		{"-rate NaN hole", `-rate is "NaN"`, "want requests per second"},
		{"-rate Inf hole", `-rate is "Inf"`, "want requests per second"},
		{"-drain -5s hole", `-drain is "-5s"`, "want a DURATION"},
		{"-port 99999 hole", `-port is "99999"`, "want a number from 0 to 65535"},
		{"-host gopher://example.org hole", `-host "gopher://example.org"`,
			"-host gopher.example.org"},
		{"-host example.org:70 hole", `-host "example.org:70"`, "the port is -port"},
		{"-host a..b hole", `-host "a..b" is no host name`, "-host gopher.example.org"},
		{"-host -x hole", "-host has no value: -x follows it", "-host takes NAME"},
		{"-http hole", `-http is "hole"`, "want one of page, view, off"},
		{"-http=maybe hole", `-http is "maybe"`, "want one of page, view, off"},
		{"-spartan hole", "-spartan has no value: the directory hole follows it", "HOST:PORT"},
		{"-spartan :7071 -nex :7071 hole", "-nex :7071: -spartan listens there, too", "-nex :1900"},
		{"-listen :7071 -nex :7071 hole", "-nex :7071: -listen listens there, too", "-nex :1900"},
		{"-users home/ann/gopher home/bob/gopher hole", "the shell has replaced the pattern",
			"-users '/home/*/public_gopher'"},
		{"-users /home/ann hole", "-users: users", "-users '/home/*/public_gopher'"},
		{"-users /home/*/x -users /srv/*/x hole", "-users counts once: /home/*/x and /srv/*/x",
			"leave one of them out"},
		{"-users gemini=/home/*/y -users gemini=/home/*/z hole",
			"-users counts once: /home/*/y and /home/*/z", "leave one of them out"},
		{"-users gemini=/home/*/y hole", "-users gemini=/home/*/y: there is no -users /home/*",
			"-users '/home/*/public_gopher'"},
		{"-root hole -root hole", "-root counts once: hole and hole", "leave one of them out"},
		{"-dates yes hole", `"yes" is no directory`, "takes no value: -dates"},
		{"-mount /a/b=hole -listen 127.0.0.1:0 hole",
			"-mount /a/b=hole: there is no directory a in hole", "mkdir"},
		{"-mount /robots.txt=hole hole", "gophd itself answers /robots.txt", "-mount /pub=hole"},
		{"-mount hole hole", `-mount "hole"`, "-mount PREFIX=DIR"},
		{"-tls-self-signed hole/a.txt -listen 127.0.0.1:0 logs", "hole/a.txt is no directory",
			"-tls-self-signed DIR"},
		{"-access-log logs -listen 127.0.0.1:0 hole", "logs is a directory",
			"-access-log logs/access.log"},
		{"-http-lang german -http view hole", `-http-lang "german"`, "-http-lang en"},
		{"-http-theme paper hole", "-http-theme without -http view",
			"-http view -http-theme paper"},
		{"-enforce-spare 10.0.0.0/8 hole", "-enforce-spare without -enforce",
			"-enforce slow -enforce-spare 10.0.0.0/8"},
		{"-users /home/*/gopher -users-min-uid 0 hole", "-users-min-uid 0: 0 is the uid of root",
			"-users-min-uid 1 or more"},
		{"-users-min-uid 500 hole", "-users-min-uid without -users",
			"-users '/home/*/public_gopher' -users-min-uid 500"},
		{"-search-all hole", "-search-all without -search", "-search -search-all"},
		{"-search-memory 1GiB hole", "-search-memory without -search",
			"-search -search-memory 1GiB"},
		{"-burst 5 hole", "-burst without -rate", "-rate 2 -burst 5"},
		{"-trust-proxy 10.0.0.0/99 hole", `-trust-proxy is "10.0.0.0/99"`, "10.0.0.0/8"},
		{"-trust-proxy haproxy.example hole", `-trust-proxy is "haproxy.example"`,
			"an address or a block"},
		{"-tls-cert a.pem hole", "-tls-cert without its -tls-key",
			"one -tls-key for each -tls-cert"},
		{"init hole", "hole is not empty: a.txt is in it",
			"to serve this one as it is: gophd hole"},
		{"get http://example.org/", `unknown scheme "http"`,
			"gopher, gophers, gemini, spartan, nex and finger"},
	} {
		args := strings.Fields(tt.args)
		if args[0] != "init" && args[0] != "get" {
			args = append([]string{"-sandbox", "off"}, args...)
		}
		_, errs, status := gophd(args...)
		message, hint, _ := strings.Cut(errs, "gophd: hint: ")
		if status != exit.Usage || !strings.Contains(message, tt.message) ||
			!strings.Contains(hint, tt.hint) {
			t.Errorf("%s: status %d\n%s", tt.args, status, errs)
		}
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
