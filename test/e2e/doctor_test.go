package e2e_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gophd/gophd/internal/process/keypair"
)

// TestPackageDoctor plants one fault at a time where systemd runs: gophd doctor must name
// it, and the command that it prints must mend it when it is typed.
func TestPackageDoctor(t *testing.T) {
	s := packaged(t)
	s.do("sh", "-ec", `
		systemctl disable --now gophernicus.socket
		dpkg -i /root/gophd.deb
		for name in ann bob; do
			useradd -m $name; chmod 711 /home/$name; mkdir -p /home/$name/public_gopher/sub
			echo text >/home/$name/public_gopher/a.txt; echo 'Disallow: /sub/' >/home/$name/public_gopher/.robots
			chown -R $name: /home/$name
		done
		touch -d yesterday /srv/gopher/*
		cp -a /srv/gopher /root/gopher; cp -a /home /root/home; cp /etc/default/gophd /root/settings`)
	must(t, os.Mkdir(filepath.Join(s.root, "root/cert"), 0o700))
	_, err := keypair.SelfSigned(filepath.Join(s.root, "root/cert"), "x.example")
	must(t, err)
	const (
		reset = `
			cp /root/settings /etc/default/gophd
			rm -rf /srv/gopher /srv/elsewhere /home/* /var/lib/private/gophd/* /etc/credstore /etc/systemd/system/gophd.*.d /var/log/gophd/*
			cp -a /root/gopher /srv/gopher; cp -a /root/home/* /home/
			systemctl unmask gophd.socket; systemctl disable gophd-gemini.socket
			systemctl daemon-reload; systemctl reset-failed; systemctl stop gophd-gemini.socket
			systemctl restart gophd.socket gophd.service`
		again = "\nsystemctl restart gophd.service || true\n"
		users = `
			mkdir -p /etc/systemd/system/gophd.service.d; cp /usr/share/gophd/systemd/gophd-users.conf /etc/systemd/system/gophd.service.d/
			echo 'GOPHD_USERS=/home/*/public_gopher' >>/etc/default/gophd
			systemctl daemon-reload` + again
		cert = `
			mkdir /srv/elsewhere; cp /root/cert/x.example.crt /srv/elsewhere/gophd.crt; cp /root/cert/x.example.key /srv/elsewhere/gophd.key`
		tls = `
			echo GOPHD_TLS_CERT=/srv/elsewhere/gophd.crt >>/etc/default/gophd
			echo GOPHD_TLS_KEY=/srv/elsewhere/gophd.key >>/etc/default/gophd` + again
	)
	for _, tt := range []struct{ name, fault, said string }{
		{"a user's annotation is closed", users + "chmod 600 /home/bob/public_gopher/.robots",
			`annotations: ~bob/\.robots`},
		{"a user's directory is closed", users + "chmod 700 /home/bob/public_gopher",
			`homes: .* cannot list /home/bob/public_gopher `},
		{"a directory below it is closed", users + "chmod 700 /home/bob/public_gopher/sub",
			`/home/bob/public_gopher/sub`},
		{"a home is closed", users + "chmod 700 /home/bob", `homes: .* cannot enter /home/bob `},
		{"a key is for root alone", cert + "\nchmod 600 /srv/elsewhere/gophd.key" + tls,
			`keys: reading /srv/elsewhere/gophd\.key: permission denied`},
		{"no certificate", "true" + tls, `keys: .*/srv/elsewhere/gophd\.crt`},
		{"a flag of a front in the unit",
			"printf 'GOPHD_GEMINI=:1965\nGOPHD_TLS_SELF_SIGNED=/var/lib/gophd\n' >>/etc/default/gophd" + again, `sandbox: .* cannot listen at :1965`},
		{"a front that refuses",
			"echo GOPHD_TLS_SELF_SIGNED=/var/lib/gophd >>/etc/default/gophd" + again +
				"systemctl enable gophd-gemini.socket",
			`service: gophd-gemini\.socket is enabled and does not listen`},
		{"the root leads into /home",
			"mv /srv/gopher /home/hole; ln -s /home/hole /srv/gopher" + again,
			`directories: .*the unit hides /srv/gopher`},
		{"the log is root's", "echo GOPHD_ACCESS_LOG=/var/log/gophd/access.log >>/etc/default/gophd; install -m 600 /dev/null /var/log/gophd/access.log" + again, `writable: .*/var/log/gophd/access\.log`},
		{"two commands", "mkdir -p /etc/systemd/system/gophd.service.d; printf '[Service]\nExecStart=/usr/bin/gophd\n' >/etc/systemd/system/gophd.service.d/own.conf; systemctl daemon-reload" + again, `unit: systemd does not load gophd\.service`},
		{"a masked socket", "systemctl disable --now gophd.socket; systemctl stop gophd; systemctl mask gophd.socket", `unit: gophd\.socket is masked`},
		{"a unit that was not read again",
			"mkdir -p /etc/systemd/system/gophd.service.d; printf '[Service]\nLimitNOFILE=1000\n' >/etc/systemd/system/gophd.service.d/own.conf", `unit: gophd\.service was changed`},
		{"a map is closed", "echo hello >/srv/gopher/gophermap; chmod 600 /srv/gopher/gophermap",
			`content: /srv/gopher/gophermap: .* cannot read it`},
		{"an empty root", "rm -rf /srv/gopher/* /srv/gopher/.robots",
			`directories: the root is empty`},
		{"export", "echo 'export GOPHD_HOST=127.0.0.1' >>/etc/default/gophd",
			`settings: .*export GOPHD_HOST= sets nothing`},
		{"lower case", "echo 'gophd_host=127.0.0.1' >>/etc/default/gophd",
			`settings: .*gophd_host= sets nothing`},
		{"an unknown setting", "echo 'GOPHD_HOTS=127.0.0.1' >>/etc/default/gophd" + again,
			`settings: unknown variable GOPHD_HOTS`},
		{"a wrong value", "echo 'GOPHD_POLL=often' >>/etc/default/gophd" + again,
			`settings: GOPHD_POLL is "often"`},
		{"a user's typo", users + "echo 'Dissalow: /x/' >>/home/bob/public_gopher/.robots",
			`annotations: ~bob/\.robots`},
		{"a ~ in the settings", "echo 'GOPHD_ROOT=~/hole' >>/etc/default/gophd" + again,
			`directories: .*~/hole: no such file`},
		{"a certificate that lacks a host",
			cert + "\nchmod 644 /srv/elsewhere/*" + tls +
				"mkdir -p /srv/b; echo GOPHD_VHOST=b.example=/srv/b >>/etc/default/gophd" + again,
			`certificate: no certificate is for b\.example`},
		{"a key in the tree", "printf -- '-----BEGIN PRIVATE KEY-----\n' >/srv/gopher/old.pem",
			`content: everybody can fetch old\.pem`},
		{"a log where the unit lets nobody write",
			"echo GOPHD_ACCESS_LOG=/var/log/other.log >>/etc/default/gophd" + again,
			`writable: .*/var/log/other\.log`},
		{"a log in the tree", "echo GOPHD_ACCESS_LOG=/srv/gopher/access.log >>/etc/default/gophd" +
			again, `outside: .*/srv/gopher/access\.log`},
		{"a service that does not run",
			"systemctl disable --now gophd.socket; systemctl stop gophd.service",
			`port: nothing listens at port 70`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &systemd{t, s.root, s.pid}
			s.do("sh", "-ec", reset)
			if out, err := s.try("gophd", "doctor"); err != nil {
				t.Fatalf("before: %v\n%s", err, out)
			}
			s.do("sh", "-ec", tt.fault)
			out, err := s.try("gophd", "doctor")
			found := regexp.MustCompile(`(?m)^fault: .*` + tt.said +
				`.*\n  type: (.*)$`).FindStringSubmatch(out)
			if err == nil || found == nil {
				t.Fatalf("no fault %q: %v\n%s", tt.said, err, out)
			}
			t.Log(strings.TrimSpace(found[0]))
			typed, err := s.try("sh", "-c", found[1])
			if strings.HasPrefix(found[1], "gophd robots check ") { // shows it
				if !strings.Contains(typed, "Dissalow") {
					t.Errorf("%s shows\n%s", found[1], typed)
				}
				return
			}
			if err != nil {
				t.Errorf("%s: %v\n%s", found[1], err, typed)
			}
			if after, err := s.try("gophd", "doctor"); err != nil {
				t.Errorf("after %s:\n%s\nbefore:\n%s", found[1], after, out)
			}
		})
	}

	// What is no fault.
	for name, setting := range map[string]string{
		"the unit's own account":      "GOPHD_USER=gophd",
		"a line that continues":       "GOPHD_HOST=\\\n127.0.0.1",
		"blanks, which systemd takes": "GOPHD_HOST = 127.0.0.1",
	} {
		s.do("sh", "-ec", reset)
		s.do("sh", "-ec", `printf '%s\n' "$1" >>/etc/default/gophd; systemctl restart gophd`, "sh", setting)
		if out, err := s.try("gophd", "doctor"); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
