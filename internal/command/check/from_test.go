package check

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/internal/command/exit"
)

// translated returns what -from prints about a configuration.
func translated(t *testing.T, server, text string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, tree{"conf": text})
	var out strings.Builder
	c := &Check{From: server, Out: &out}
	err := c.Check(t.Context(), []string{filepath.Join(dir, "conf")})
	return out.String(), err
}

// TestFrom: options are read from all forms in which services are configured, none is read
// wrongly, and what is not understood is said, with its line.
func TestFrom(t *testing.T) {
	const doubts = "\nNot understood:\n\n"
	try := func(server, text, flags string, more ...string) {
		got, err := translated(t, server, text)
		if want := "gophd " + flags + "\n\nIn /etc/"; !strings.HasPrefix(got, want) {
			t.Errorf("%s: %v, got\n%s\nwant\n%s", text, err, got, want)
		}
		for _, part := range append(more, ": read: ") {
			if !strings.Contains(got, part) {
				t.Errorf("%s: no %q in\n%s", text, part, got)
			}
		}
		if doubtful := slices.Contains(more, doubts); doubtful != errors.Is(err, exit.ErrNo) ||
			doubtful != strings.Contains(got, doubts) {
			t.Errorf("%s: %v\n%s", text, err, got)
		}
	}
	try("gophernicus", "# comment -z\nOPTIONS='-r /srv/old -h gopher.example -nu -nd -p7070 -R /a=/b -l /var/log/g -c /cgi/'\n",
		"-root /srv/old -host gopher.example -listen :7070 -mount /a=/srv/old/b -access-log /var/log/g -fastcgi /cgi=/run/fcgiwrap.socket",
		":\n\nGOPHD_ROOT=/srv/old\nGOPHD_HOST=gopher.example\nGOPHD_MOUNT=/a=/srv/old/b\nGOPHD_ACCESS_LOG=/var/log/gophd/g\nGOPHD_FASTCGI=/cgi=/run/fcgiwrap.socket\n\nUnits", doubts)
	try("gophernicus", "[Service]\nEnvironmentFile=-/etc/default/gophernicus\nExecStart=/usr/sbin/gophernicus -u gopherspace \\\n -w 70 $OPTIONS\n",
		"-users '/home/*/gopherspace' -root /var/gopher -dates",
		":\n\nGOPHD_USERS=/home/*/gopherspace\nGOPHD_ROOT=/var/gopher\nGOPHD_DATES=true\n\nUnits")
	try("gophernicus", "gopher stream tcp nowait nobody /usr/sbin/gophernicus gophernicus -r /g -h x -nd -nu\n", "-root /g -host x", ":\n\nGOPHD_ROOT=/g\nGOPHD_HOST=x\n\nUnits")
	try("gophernicus", "[Socket]\nListenStream=192.0.2.1:71\n",
		"-listen 192.0.2.1:71 -root /var/gopher -users '/home/*/public_gopher' -dates",
		":\n\nGOPHD_ROOT=/var/gopher\nGOPHD_USERS=/home/*/public_gopher\nGOPHD_DATES=true\n\nUnits", doubts)
	try("pygopherd", "[Socket]\nListenStream=7070\nListenStream=\n", "-listen :7070", doubts)
	try("gophor", "gophor -root /g\nListenStream=\nListenStream = /run/gophor\n", "-root /g", doubts,
		"understood:\n\nconf:3: ListenStream /run/gophor: gophd has no counterpart\n")
	try("geomyidae", "GEOMYIDAE_ARGS=\"-d -u gopher -g daemon -i 192.0.2.1 -i 192.0.2.2 -p 7070 -b /g -t /k /c\"\n",
		"-user gopher:daemon -listen 192.0.2.1:7070 -listen 192.0.2.2:7070 -root /g -tls-key /k -tls-cert /c", ":\n\nGOPHD_ROOT=/g\nGOPHD_TLS_KEY=/k\nGOPHD_TLS_CERT=/c\n\nUnits")
	try("geomyidae", "PID=$(pidof -o %PPID /usr/bin/geomyidae)\n/usr/bin/geomyidae -6 -b /g\n",
		"-listen '[::]:70' -root /g", ":\n\nGOPHD_ROOT=/g\n\nUnits")
	try("gophor", "ExecStart=/usr/bin/gophor -root /g -port 70 -fwd-port 7070 -uid ann\n",
		"-root /g -port 7070 -user ann", ":\n\nGOPHD_ROOT=/g\nGOPHD_PORT=7070\n\nUnits")
	try("pygopherd", "[pygopherd]\nport = 7070\nservername = g.example\ninterface = 192.0.2.1\nroot = /g\n#setuid = nobody\nsetgid = daemon\nsetuid = gopher\nencoding = a \\\n  b = c\n",
		"-listen 192.0.2.1:7070 -host g.example -root /g -user gopher:daemon",
		":\n\nGOPHD_HOST=g.example\nGOPHD_ROOT=/g\n\nUnits")
	try("motsognir", "GopherRoot=/g/\nUserDir=/home/%s/public_gopher/\nbind=\nGopherCgiSupport=1\nGopherPhpSupport=0\nbind=::FFFF:192.0.2.1\n",
		"-root /g -users '/home/*/public_gopher' -fastcgi '*.cgi=/run/fcgiwrap.socket' -listen '[::FFFF:192.0.2.1]:70'",
		":\n\nGOPHD_ROOT=/g\nGOPHD_USERS=/home/*/public_gopher\nGOPHD_FASTCGI=*.cgi=/run/fcgiwrap.socket\n\nUnits", doubts)
	try("spacecookie", `{"hostname": "g.example", "root": "/g", "listen": {"addr": "::1", "port": 7070}, "log": {"hide-ips": true}}`,
		"-host g.example -root /g -listen '[::1]:7070' -log-ips none",
		":\n\nGOPHD_HOST=g.example\nGOPHD_ROOT=/g\nGOPHD_LOG_IPS=none\n\nUnits", doubts)
	try("gophernicus", "services:\n  gopher:\n    image: example/gophernicus\n    command: -h a.example -r /srv/g -nd\n    ports:\n      - 70:70\n", "-host a.example -root /srv/g -users '/home/*/public_gopher'")
	try("gophernicus", "services:\n  gophernicus:\n    command:\n      - -h\n      - a.example\n      - -r\n      - /srv/g\n      - -nu\n    ports:\n      - 70:70\n", "-host a.example -root /srv/g -dates")
	try("gophernicus", "command: [\"/usr/sbin/gophernicus\", \"-h\", \"a.example\",\n  \"-r\", \"/srv/two words\", \"-nu\", \"-nd\"]\n", "-host a.example -root '/srv/two words'")
	try("gophernicus", "socat TCP-LISTEN:70,fork EXEC:\"gophernicus -h a.example -r /srv/g -nu\",nofork\n", "-host a.example -root /srv/g -dates")
	try("gophernicus", "service gopher\n{\n  server = /usr/sbin/in.gophernicus\n  server_args = -h a.example -r /srv/g -nu -nd\n}\n", "-host a.example -root /srv/g")
	try("geomyidae", "FROM alpine\nENTRYPOINT [\"geomyidae\",\"-d\",\"-b\",\"/srv/current\",\"-p\",\"7070\"]\n", "-root /srv/current -listen :7070")
	try("geomyidae", "# geomyidae\nrc_flags=\"-b /srv/g -h g.example -4 -i 10.0.0.1\"\n",
		"-root /srv/g -host g.example -listen 10.0.0.1:70")
	try("geomyidae", "  systemd.services.gopher.serviceConfig.ExecStart = \"${pkgs.geomyidae}/bin/geomyidae -b /srv/g -p 7070\";\n", "-root /srv/g -listen :7070")
	try("geomyidae", "ExecStart = lib.escapeShellArgs [ \"geomyidae\" \"-b\" \"/srv/g\" ];\n",
		"-root /srv/g")
	try("geomyidae", "rc_flags=\"-b /srv/g\"\n", "-root /srv/g", doubts)
	try("geomyidae", "geomyidae -b /srv/g -h $HOST\n", "-root /srv/g", doubts)
	try("geomyidae", "geomyidae -b \"/srv/g -p 7070\n", "-root /srv/g -listen :7070", doubts)
	try("gophernicus", "gophernicus -r /g --shiny -nu -nd\n", "-root /g", doubts)
	try("spacecookie", "  services.spacecookie = {\n    enable = true;\n    port = 7070;\n    settings = {\n      hostname = \"g.example\";\n      root = \"/srv/g\";\n    };\n  };\n  services.nginx.enable = true;\n", "-listen :7070 -host g.example -root /srv/g")
	try("pygopherd", "[pygopherd]\nport = 70\nroot = /g\nwhat is this\n", "-root /g", doubts)
	try("agate", "[Service]\nExecStart=/usr/bin/agate --content /srv/gemini --addr [::]:1965 --addr 0.0.0.0:1965 --hostname g.example --lang en\n",
		"-root /srv/gemini -gemini '[::]:1965' -gemini 0.0.0.0:1965 -host g.example")
	try("agate", "CMD [\"agate\", \"--content\", \"/content\", \"--hostname\", \"g.example\", \"--serve-secret\"]\n", "-root /content -host g.example -gemini :1965")
	try("gmid", "dir = \"/etc/keys\" # keys\nuser \"gmid\"\nserver \"g.example\" {\n\tlisten on * port 1966\n\troot \"/srv/g\"\n\tcert $dir \"/g.pem\"; key $dir \"/g.key\"\n\tlocation \"*.gmi\" { lang \"it\" }\n}\nserver \"h.example\" {\n\troot \"/srv/h\"\n\tauto index on\n}\n",
		"-user gmid -gemini :1966 -host g.example -root /srv/g -tls-cert /etc/keys/g.pem -tls-key /etc/keys/g.key -vhost h.example=/srv/h")
	try("gmid", "server \"g.example\" {\n\troot \"/srv/g\"\n\tsparkle 7\n}\n",
		"-host g.example -root /srv/g -gemini :1965", doubts)

	// What has no counterpart is named with its line; units are made for what needs them.
	try("Gophernicus",
		"# Options\nOPTIONS=\"-r /home/ann/hole -nu -nd -p 7070 --shiny -w 70 -f /filters\"\n",
		"-root /home/ann/hole -listen :7070 -fastcgi '*.php=/run/fcgiwrap.socket'", doubts,
		"\nconf:2: --shiny: gophd has no counterpart\n",
		"\nconf:2: -w 70: there is nothing like them\n",
		"\nconf:2: -f /filters: with php-fpm; other",
		"\nsystemctl disable --now gophernicus.socket\n",
		"gophd-root.conf /etc/systemd/system/gophd.service.d/\n",
		"\nprintf '%s\\n' '[Socket]' ListenStream= ListenStream=7070 >/etc/systemd/system/gophd.socket.d/port.conf\n", "SupplementaryGroups=www-data")
}

// TestFromNothing: what has no options of a server, or does not exist, is an error.
func TestFromNothing(t *testing.T) {
	for _, text := range []string{"nothing at all here\n", "",
		"[Unit]\nDescription=Another\nExecStart=/usr/bin/other -h x\n"} {
		var e *exit.CommandError
		if got, err := translated(t, "gophernicus", text); !errors.As(err, &e) ||
			e.Status != exit.No || got != "" {
			t.Errorf("%q: %v\n%s", text, err, got)
		}
	}
	if _, err := translated(t, "apache", ""); err == nil {
		t.Error("a server that is none")
	}
	c := &Check{From: "gophernicus"}
	if err := c.translate(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestPageHasTheTable: what people read is what -from does.
func TestPageHasTheTable(t *testing.T) {
	page, err := os.ReadFile("../../../content/manual/moving-in.txt")
	must(t, err)
	for _, s := range formers {
		title := strings.Replace(s.name, "motsognir", "Motsognir", 1)
		_, part, _ := strings.Cut(string(page), "\n\n\n"+title+"\n\n")
		part, _, _ = strings.Cut(part, "\n\n\n")
		if want := table(s.name); !strings.Contains("\n"+part+"\n\n", "\n\n"+want+"\n") {
			t.Errorf("the part about %s in moving-in.txt lacks its table:\n%s", title, want)
		}
	}
}

// table returns the rows of a server as the page has them.
func table(server string) string {
	const column, width = 22, 66
	var lines []string
	for row := range strings.Lines(fromTable) {
		f := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		if f[0] != server {
			continue
		}
		line := fmt.Sprintf("    %-16s  ", f[1]+f[2])
		if len(line) > column+8 {
			lines = append(lines, strings.TrimRight(line, " "))
			line = strings.Repeat(" ", column)
		}
		for word := range strings.FieldsSeq(strings.Trim(f[3]+"; "+f[4], "; ")) {
			if len(line)+len(word) > width && strings.TrimSpace(line) != "" {
				lines = append(lines, strings.TrimRight(line, " "))
				line = strings.Repeat(" ", column)
			}
			line += word + " "
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.Join(lines, "\n")
}

// TestRows: each row of the table is read from the form that it has on the command line or
// in a configuration.
func TestRows(t *testing.T) {
	values := tree{"NAME": "name", "PORT": "7071", "N": "7", "DIR": "/dir",
		"OLD": "old", "NEW": "new", "HOMES": "/homes", "ADDR": "192.0.2.1:7",
		"ADDRESS": "192.0.2.1"}
	for _, name := range serverNames() {
		s, err := formerNamed(name)
		must(t, err)
		if len(s.rows) < 6 {
			t.Errorf("%s: %d rows", name, len(s.rows))
		}
		for _, r := range s.rows {
			for _, option := range r.options {
				m := &move{server: s}
				if given := (setting{1, option, fill(r.value, values)}); !r.without {
					m.one(given)
					flags, _ := m.flags()
					if len(m.doubts) > 0 || len(flags) == 0 && len(r.flags) > 0 ||
						r.say != "" && len(m.notes) == 0 {
						t.Errorf("%s: %s: %+v", name, given, m)
					}
				}
			}
		}
	}
}
