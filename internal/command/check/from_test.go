package check

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// moved returns what -from says about a configuration.
func moved(t *testing.T, server, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "conf")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := From(server, file)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestFrom(t *testing.T) {
	for _, test := range []struct{ server, text, flags, settings string }{
		{"gophernicus", "# comment -z\nOPTIONS='-r /srv/old -h gopher.example -nu -nd -p7070 -R /a=/b -l /var/log/g -c /cgi/'\n",
			"-root /srv/old -host gopher.example -listen :7070 -mount /a=/srv/old/b -access-log /var/log/g -fastcgi /cgi=/run/fcgiwrap.socket",
			"GOPHD_ROOT=/srv/old\nGOPHD_HOST=gopher.example\nGOPHD_MOUNT=/a=/srv/old/b\nGOPHD_ACCESS_LOG=/var/log/gophd/g\nGOPHD_FASTCGI=/cgi=/run/fcgiwrap.socket\n"},
		{"gophernicus", "[Service]\nEnvironmentFile=-/etc/default/gophernicus\nExecStart=/usr/sbin/gophernicus -u gopherspace \\\n -w 70 $OPTIONS\n",
			"-users '/home/*/gopherspace' -root /var/gopher -dates", "GOPHD_USERS=/home/*/gopherspace\nGOPHD_ROOT=/var/gopher\nGOPHD_DATES=true\n"},
		{"gophernicus", "gopher stream tcp nowait nobody /usr/sbin/gophernicus gophernicus -r /g -h x -nd -nu\n", "-root /g -host x", "GOPHD_ROOT=/g\nGOPHD_HOST=x\n"},
		{"gophernicus", "[Socket]\nListenStream=192.0.2.1:71\n", "-listen 192.0.2.1:71 -root /var/gopher -users '/home/*/public_gopher' -dates",
			"GOPHD_ROOT=/var/gopher\nGOPHD_USERS=/home/*/public_gopher\nGOPHD_DATES=true\n"},
		{"geomyidae", "GEOMYIDAE_ARGS=\"-d -u gopher -g daemon -i 192.0.2.1 -i 192.0.2.2 -p 7070 -b /g -t /k /c\"\n",
			"-user gopher:daemon -listen 192.0.2.1:7070 -listen 192.0.2.2:7070 -root /g -tls-key /k -tls-cert /c", "GOPHD_ROOT=/g\nGOPHD_TLS_KEY=/k\nGOPHD_TLS_CERT=/c\n"},
		{"geomyidae", "PID=$(pidof -o %PPID /usr/bin/geomyidae)\n/usr/bin/geomyidae -6 -b /g\n", "-listen '[::]:70' -root /g", "GOPHD_ROOT=/g\n"},
		{"gophor", "ExecStart=/usr/bin/gophor -root /g -port 70 -fwd-port 7070 -uid ann\n", "-root /g -port 7070 -user ann", "GOPHD_ROOT=/g\nGOPHD_PORT=7070\n"},
		{"pygopherd", "[pygopherd]\nport = 7070\nservername = g.example\ninterface = 192.0.2.1\nroot = /g\n#setuid = nobody\nsetgid = daemon\nsetuid = gopher\nencoding = a \\\n  b = c\n",
			"-host g.example -listen 192.0.2.1:7070 -root /g -user gopher:daemon", "GOPHD_HOST=g.example\nGOPHD_ROOT=/g\n"},
		{"motsognir", "GopherRoot=/g/\nUserDir=/home/%s/public_gopher/\nbind=\nGopherCgiSupport=1\nGopherPhpSupport=0\nbind=::FFFF:192.0.2.1\n",
			"-root /g -users '/home/*/public_gopher' -fastcgi '*.cgi=/run/fcgiwrap.socket' -listen '[::FFFF:192.0.2.1]:70'",
			"GOPHD_ROOT=/g\nGOPHD_USERS=/home/*/public_gopher\nGOPHD_FASTCGI=*.cgi=/run/fcgiwrap.socket\n"},
		{"spacecookie", `{"hostname": "g.example", "root": "/g", "listen": {"addr": "::1", "port": 7070}, "log": {"hide-ips": true}}`,
			"-host g.example -listen '[::1]:7070' -log-ips none -root /g", "GOPHD_HOST=g.example\nGOPHD_LOG_IPS=none\nGOPHD_ROOT=/g\n"},
	} {
		got := moved(t, test.server, test.text)
		if want := "gophd " + test.flags + "\n\nIn /etc/default/gophd:\n\n" + test.settings + "\nUnits"; !strings.HasPrefix(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", test.text, got, want)
		}
	}
}

// What has no counterpart is named with its line; units are made for what needs them.
func TestFromUnits(t *testing.T) {
	got := moved(t, "Gophernicus", "# Options\nOPTIONS=\"-r /home/ann/hole -nu -nd -p 7070 --shiny -w 70 -f /filters\"\n")
	for _, want := range []string{
		"\nconf:2: --shiny: gophd has no counterpart\n", "\nconf:2: -w 70: there is nothing like them\n", "\nconf:2: -f /filters: with php-fpm; other",
		"\nsystemctl disable --now gophernicus.socket\n", "gophd-root.conf /etc/systemd/system/gophd.service.d/\n", "\nprintf '%s\\n' '[Socket]' ListenStream= ListenStream=7070 >/etc/systemd/system/gophd.socket.d/port.conf\n", "SupplementaryGroups=www-data",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if _, err := From("apache", "conf"); err == nil {
		t.Error("a server that is none")
	}
	file := filepath.Join(t.TempDir(), "none")
	if _, err := From("gophernicus", file); !os.IsNotExist(err) {
		t.Error(err)
	}
}

// Each row of the page's tables is what -from does.
func TestFromFollowsThePage(t *testing.T) {
	values := map[string]string{"NAME": "name", "PORT": "7071", "N": "7", "DIR": "/dir", "OLD": "old", "NEW": "new", "HOMES": "/homes"}
	for name := range formers {
		s, err := formerNamed(name)
		if err != nil || len(s.rows) < 6 {
			t.Fatalf("%s: %d rows, %v", name, len(s.rows), err)
		}
		for _, r := range s.rows {
			for _, option := range r.options {
				value := fill(r.value, values)
				given, conf := setting{option: option, value: value}, ""
				switch {
				case r.without:
				case name == "spacecookie":
					v := map[string]any{option: value}
					if object, field, nested := strings.Cut(option, "."); nested {
						v = map[string]any{object: map[string]any{field: value}}
					}
					text, _ := json.Marshal(v)
					conf = string(text)
				case name == "pygopherd" || name == "motsognir":
					conf = option + " = " + cmp.Or(value, "x") + "\n"
					given.value = cmp.Or(value, "x")
				default:
					conf = "OPTIONS=" + given.String() + "\n"
				}
				if r.without && name == "spacecookie" {
					conf = "{}"
				}
				got := moved(t, name, conf)
				first, _, _ := strings.Cut(got, "\n")
				first = strings.ReplaceAll(first, "'", "")
				for _, word := range r.flags {
					if word = fill(word, values); word[0] == '-' && !strings.Contains(first+" ", " "+word+" ") && !strings.Contains(word, "listen") {
						t.Errorf("%s: %s: no %s in %s", name, given, word, first)
					}
				}
				if say := fill(r.say, r.values(given.value)); say != "" && !strings.Contains(got, ": "+say+"\n") {
					t.Errorf("%s: %s: no %q in\n%s", name, given, say, got)
				}
				if strings.Contains(got, "gophd has no counterpart") {
					t.Errorf("%s: %s: %s", name, given, got)
				}
			}
		}
	}
}
