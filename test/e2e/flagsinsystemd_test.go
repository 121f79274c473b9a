package e2e_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gophd/gophd/internal/process/keypair"
)

// setting is a flag as the package's settings file sets it, and a command inside that shows
// what it does. Where nothing shows it at once, the service starts with it.
type setting struct {
	flag, value string
	shows, want string // want is a regular expression of what the command prints
}

// everything has all flags that go together.
var everything = []setting{
	{"root", "/srv/gopher", "gopher 70 /about.txt", "about this hole"},
	{"alias", "alias.test", "http 70 alias.test /about.txt", `200 OK(?s:.*)about this hole`},
	{"vhost", "vhost.test=/srv/vhost", "http 70 vhost.test /only.txt?raw", "the other site"},
	{"mount", "extra=/srv/extra", "gopher 70 /extra/x.txt", "mounted"},
	{"users", "/home/*/public_gopher", "gopher 70 /~bob/a.txt", "text of bob"},
	{"users-min-uid", "2000", "gopher 70 /~ann/a.txt", "^3Not found"},
	{"fastcgi", "*.dcgi=/run/program.sock", "gopher 70 /hello.dcgi", "a program's line"},
	{"info-prefix", "yes", "gopher 70 /prefixed/", `(?m)^itext line\t`},
	{"strict-text", "yes", "gopher 70 /about.txt", `\r\n\.\r\n$`},
	{"dates", "yes", "gopher 70 /listing/", `\d{4}-\d\d-\d\d`},
	{"charset", "latin1", "gophd get -insecure gemini://127.0.0.1:1966/latin.txt", "Grüße"},
	{"cache", "1MiB", "", ""},
	{"search", "yes", "gopher 70 '/search\\tzebra'", `/about\.txt\t`},
	{"search-all", "yes", "gopher 70 '/search\\thidden'", `/phlog/drafts/`},
	{"search-dir", "/var/lib/gophd", "ls /var/lib/gophd", "search.db"},
	{"search-memory", "64MiB", "", ""},
	{"sitemap", "yes", "gopher 70 /sitemap.xml", "<urlset"},

	{"listen", ":7071", "gopher 7071 /about.txt", "about this hole"},
	{"host", "hole.test", "gopher 70 /", `\thole\.test\t`},
	{"port", "7777", "gopher 70 /", `\t7777\r`},
	{"http", "view", "http 70 hole.test /", "<!DOCTYPE html>"},
	{"http-theme", "terminal", "http 70 hole.test /", `theme-terminal|monospace`},
	{"http-lang", "de", "http 70 hole.test /", `<html lang="de"`},
	{"trust-proxy", "127.0.0.0/8",
		`gopher 70 'PROXY TCP4 192.0.2.77 127.0.0.1 1 70\r\n/about.txt'; cat /var/log/gophd/access.log`, ` 192\.0\.2\.0 `},
	{"tls-cert", "/run/credentials/gophd.service/gophd.crt",
		"gophd get -insecure gophers://127.0.0.1/0/about.txt", "about this hole"},
	{"tls-key", "/run/credentials/gophd.service/gophd.key",
		"gophd get -insecure gophers://127.0.0.1/0/about.txt", "about this hole"},
	{"gemini", ":1966", "gophd get -insecure gemini://127.0.0.1:1966/about.txt", "about this hole"},
	{"spartan", ":3001", "gophd get spartan://127.0.0.1:3001/about.txt", "about this hole"},
	{"nex", ":1901", "gophd get nex://127.0.0.1:1901/about.txt", "about this hole"},
	{"finger", ":7979", "gophd get finger://127.0.0.1:7979/", "Users with a place here"},

	{"request-timeout", "1m", "", ""},
	{"stall-timeout", "2m", "", ""},
	{"drain", "5s", "", ""},
	{"max-conns", "400", "", ""},
	{"burst", "500", "", ""},
	{"rate", "1000", "", ""},
	{"max-conns-per-ip", "0", "", ""},
	{"watch", "poll", "gopher 70 /server-status", "."},
	{"poll", "1s", `echo fresh >/srv/gopher/fresh.txt; gopher 70 /fresh.txt`, "fresh"},
	{"poll-remote", "1m", "", ""},

	{"access-log", "/var/log/gophd/access.log", "cat /var/log/gophd/access.log", "about.txt"},
	{"log-ips", "masked", "cat /var/log/gophd/access.log", ` 127\.0\.0\.0 `},
	{"log-format", "json", "journalctl -t gophd -o cat --no-pager", `"msg":"serving"`},
	{"v", "yes", "journalctl -t gophd -o cat --no-pager", `"msg":"request"`},
	{"status", "127.0.0.1", "gopher 70 /server-status", "Connections"},
	{"metrics", "localhost:9170", "http 9170 localhost /metrics",
		"gophd_accepted_connections_total"},

	{"sandbox", "require", "journalctl -t gophd -o cat --no-pager", `"msg":"sandbox"`},
	{"sandbox-parent", "yes", "", ""},
}

// limiting has the flags that would be in the way of those above.
var limiting = []setting{
	{"rate", "0.001", "for i in 1 2 3 4 5 6; do asks 203.0.113.1 /about.txt; done",
		"Too many requests"},
	{"burst", "5", "asks 203.0.113.2 /about.txt; asks 203.0.113.2 /about.txt",
		`(?s)about this hole.*about this hole`},
	{"trust-proxy", "127.0.0.0/8", "", ""},
	{"enforce", "refuse", "asks 203.0.113.3 robots.txt; for i in d.txt e.txt f.txt; do asks 203.0.113.3 /phlog/drafts/$i; done", "Not for robots"},
	{"enforce-spare", "203.0.113.4",
		"asks 203.0.113.4 robots.txt; asks 203.0.113.4 /phlog/drafts/", `draft`},
	{"max-conns-per-ip", "1",
		"exec 4<>/dev/tcp/127.0.0.1/70; printf 'PROXY TCP4 203.0.113.5 127.0.0.1 1 70\\r\\n/' >&4; asks 203.0.113.5 /about.txt", "Server busy"},
	{"tls-self-signed", "/var/lib/gophd", "gophd get -insecure gophers://127.0.0.1/0/about.txt",
		"about this hole"},
	{"quiet", "yes", "journalctl -t gophd -o cat --no-pager --since @$(cat /root/since) | grep -c serving", `^0`},
	{"watch", "inotify", `echo later >/srv/gopher/later.txt; asks 203.0.113.6 /later.txt`, "later"},
	{"sandbox", "off", "", ""},
}

// TestPackageFlags sets every flag under the package's unit, as its account.
func TestPackageFlags(t *testing.T) {
	s := packaged(t)
	run(t, "../..", "env", "CGO_ENABLED=0", "go", "build", "-o",
		filepath.Join(s.root, "root/geomyidae"), "./examples/fastcgi/geomyidae")
	_, err := keypair.SelfSigned(filepath.Join(s.root, "etc/credstore"), "127.0.0.1")
	must(t, err)
	write(t, filepath.Join(s.root, "root/ask"), `
gopher() { exec 3<>/dev/tcp/127.0.0.1/$1; printf '%b\r\n' "$2" >&3; timeout 120 cat <&3; }
asks() { gopher 70 "PROXY TCP4 $1 127.0.0.1 1 70\r\n$2"; }
http() { exec 3<>/dev/tcp/127.0.0.1/$1; printf 'GET %s HTTP/1.0\r\nHost: %s\r\nAccept: text/html\r\n\r\n' "$3" "$2" >&3; timeout 120 cat <&3; }
`)
	s.do("sh", "-ec", `
		systemctl disable --now gophernicus.socket
		cd /etc/credstore; mv 127.0.0.1.crt gophd.crt; mv 127.0.0.1.key gophd.key; chmod 600 *
		dpkg -i /root/gophd.deb
		useradd -m -u 1500 ann; useradd -m -u 2500 bob
		for name in ann bob; do
			chmod 711 /home/$name; mkdir /home/$name/public_gopher; echo text of $name >/home/$name/public_gopher/a.txt
			chown -R $name: /home/$name
		done
		mkdir -p /srv/vhost /srv/extra /srv/gopher/listing /srv/gopher/prefixed /srv/gopher/phlog/drafts
		echo the other site >/srv/vhost/only.txt; echo mounted >/srv/extra/x.txt; echo x >/srv/gopher/listing/x.txt
		echo about this hole, with a zebra >/srv/gopher/about.txt; echo a hidden draft >/srv/gopher/phlog/drafts/d.txt
		printf 'itext line\n' >/srv/gopher/prefixed/gophermap
		printf 'Gr\374\337e\n' >/srv/gopher/latin.txt
		printf '#!/bin/sh\necho "a program'"'"'s line"\n' >/srv/gopher/hello.dcgi; chmod 755 /srv/gopher/hello.dcgi
		cp /etc/default/gophd /root/settings
		systemd-run --unit=program -p UMask=0000 /root/geomyidae /run/program.sock
		mkdir -p /etc/systemd/system/gophd.service.d
		cd /usr/share/gophd/systemd; cp gophd-users.conf gophd-listen.conf gophd-metrics.conf /etc/systemd/system/gophd.service.d/
		systemctl daemon-reload`)

	tried := map[string]bool{"help": true, "version": true}
	for _, settings := range [][]setting{everything, limiting} {
		lines := ""
		for _, f := range settings {
			tried[f.flag] = true
			lines += "GOPHD_" + strings.ToUpper(strings.ReplaceAll(f.flag, "-", "_")) +
				"=" + f.value + "\n"
		}
		write(t, filepath.Join(s.root, "root/flags"), lines)
		s.do("sh", "-ec", `
			cat /root/settings /root/flags >/etc/default/gophd; date +%s.%N >/root/since
			systemctl reset-failed; systemctl restart gophd.socket gophd.service`)
		for _, f := range settings {
			if f.shows == "" {
				continue
			}
			var out string
			if want := regexp.MustCompile(f.want); !eventually(func() bool {
				out, _ = s.try("bash", "-c", ". /root/ask; "+f.shows)
				return want.MatchString(out)
			}) {
				t.Errorf("GOPHD_%s=%s: %s: no %q in\n%.2000s", f.flag, f.value,
					f.shows, f.want, out)
			}
		}
		if got := s.property("ActiveState") + s.property("NRestarts"); got != "active0" {
			t.Errorf("the service is %s", got)
		}
	}

	// Two that the unit does not set: its account, and a connection that something else accepted.
	tried["user"], tried["inetd"] = true, true
	out := s.do("bash", "-c", `printf '/about.txt\r\n' | gophd -inetd -user gophd /srv/gopher`)
	if !strings.Contains(out, "about this hole") {
		t.Errorf("-inetd -user gophd: %q", out)
	}

	for _, m := range regexp.MustCompile(`(?m)^  -([a-z-]+)`).FindAllStringSubmatch(s.do("gophd",
		"-help"), -1) {
		if !tried[m[1]] {
			t.Errorf("no row has -%s", m[1])
		}
		delete(tried, m[1])
	}
	for flag := range tried {
		t.Errorf("-%s is no flag", flag)
	}
}
