package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/ask"
	"github.com/gophd/gophd/internal/command/doctor"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/daemon"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/test/e2e/harness"
)

func init() {
	syscall.Umask(0o022)
} // the modes of a machine are those that it was given

// machine is the file system of a machine with the package, whose server answers at addr.
type machine struct {
	*testing.T
	root, addr string
	units      map[string]string // what systemctl show prints of them
	sockets    string            // what systemctl list-sockets prints
}

// command is systemctl of the machine.
func (m *machine) command(_ context.Context, words ...string) ([]byte, error) {
	switch {
	case words[0] == "systemctl" && words[1] == "list-sockets":
		return []byte(m.sockets), nil
	case words[0] == "systemctl" && words[1] == "show" && words[2] == "--value":
		return []byte(map[bool]string{true: "loaded",
			false: "not-found"}[words[5] == "geomyidae.service"]), nil
	case words[0] == "systemctl" && words[1] == "show":
		var all []string
		for _, name := range []string{"gophd.service", "gophd.socket"} {
			all = append(all, "Id="+name+"\n"+m.units[name])
		}
		return []byte(strings.Join(all, "\n")), nil
	case words[0] == "journalctl":
		return []byte("gophd: reading x: no such file\ngophd: hint: make it\n"), nil
	}
	return nil, errors.New("no such program")
}

func (m machine) write(name, text string) {
	m.Helper()
	treetest.Write(m.T, m.root, map[string]string{name: text})
}

// set adds a setting to those of the package. ROOT is the machine's.
func (m machine) set(lines ...string) {
	text, _ := os.ReadFile(filepath.Join(m.root, "etc/default/gophd"))
	added := strings.ReplaceAll(strings.Join(lines, "\n"), "ROOT/", m.root+"/")
	m.write("etc/default/gophd", string(text)+added+"\n")
}

// set makes a fault by settings.
func set(lines ...string) func(*machine) { return func(m *machine) { m.set(lines...) } }

// held makes a process hold the port of the server.
func (m machine) held(pid int, program, group string) {
	dir := fmt.Sprintf("proc/%d/", pid)
	m.write(dir+"comm", program+"\n")
	m.write(dir+"cgroup", "0::"+group+"\n")
	m.write(dir+"uid_map", "0 0 4294967295\n")
	must(m.T, os.MkdirAll(filepath.Join(m.root, dir, "fd"), 0o755))
	must(m.T, os.Symlink("socket:[77]", filepath.Join(m.root, dir, "fd/3")))
}

// at makes the server of the machine answer at an address.
func (m *machine) at(addr string) {
	m.addr = addr
	port := netip.MustParseAddrPort(addr).Port()
	m.units["gophd.socket"] = "LoadState=loaded\nActiveState=active\nListen=" + addr + " (Stream)\n"
	m.write("proc/net/tcp", fmt.Sprintf("  sl  local_address rem_address   st\n   0: 0100007F:%04X 00000000:0000 0A 0:0 00:0 0 0 0 77 1\n", port))
}

var must = treetest.Must

// newMachine is one without a fault. Its server is a gophd in this process.
func newMachine(t *testing.T) *machine {
	m := &machine{T: t, root: t.TempDir(), units: map[string]string{}}
	must(t, os.Chmod(m.root, 0o755))
	m.units["gophd.service"] = "LoadState=loaded\nActiveState=active\nResult=success\nPrivateNetwork=yes\nFragmentPath=/lib/systemd/system/gophd.service\n" +
		"Environment=GOPHD_ROOT=" + m.root + "/srv/gopher\nEnvironmentFiles=/etc/default/gophd (ignore_errors=yes)\nExecStart={ path=/usr/bin/gophd ; argv[]=/usr/bin/gophd ; ignore_errors=no }\n"
	must(t, os.MkdirAll(filepath.Join(m.root, "var/log/gophd"), 0o755))
	m.set("# settings", "GOPHD_HOST=gopher.example.org", "GOPHD_HTTP=view", "GOPHD_SEARCH=yes",
		"GOPHD_ACCESS_LOG=ROOT/var/log/gophd/access.log")
	m.write("srv/gopher/.robots", "Disallow: /drafts/\n")
	m.write("srv/gopher/about.txt", "about\n")
	m.write("srv/gopher/drafts/next.txt", "next\n")
	must(t, os.Chtimes(filepath.Join(m.root, "srv/gopher/about.txt"), time.Time{},
		time.Now().Add(-time.Hour)))
	m.held(100, "gophd", "/system.slice/gophd.service")
	return m
}

// serve starts the server.
func (m *machine) serve() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(m.T, err)
	m.at(l.Addr().String())
	_ = l.Close()
	conf, err := parseSettings([]string{"-sandbox", "off", "-http", "view", "-search", "-host",
		"gopher.example.org", "-listen", m.addr, filepath.Join(m.root, "srv/gopher")}, nil)
	must(m.T, err)
	settings, err := conf.Settings()
	must(m.T, err)
	treetest.Run(m.T, func(ctx context.Context) error {
		return daemon.Run(ctx, settings, io.Discard)
	})
	treetest.Until(m.T, "the server answers", func() bool {
		robots, err := ask.Dialer{}.All(m.Context(), m.addr, false, "robots.txt\r\n", 1<<20)
		return err == nil && len(robots) > 0
	})
}

// instead makes the server answer requests that begin with prefix by reply.
func (m *machine) instead(prefix, reply string) {
	server := m.addr
	m.at(treetest.Conns(m.T, func(c net.Conn) {
		request := make([]byte, 4096)
		n, _ := c.Read(request)
		if strings.HasPrefix(string(request[:n]), prefix) {
			_, _ = io.WriteString(c, reply)
			return
		}
		up, err := net.Dial("tcp", server)
		if err != nil {
			return
		}
		defer func() { _ = up.Close() }()
		_, _ = up.Write(request[:n])
		_, _ = io.Copy(c, up)
	}))
}

// otherTree serves a tree, and examines another one with the same names and rules.
func (m *machine) otherTree() {
	m.serve()
	treetest.Write(m.T, filepath.Join(m.root, "srv/other"), map[string]string{
		".robots": "Disallow: /drafts/\n", "about.txt": "something else\n", "drafts/next.txt": ""})
	must(m.T, os.Chtimes(filepath.Join(m.root, "srv/other/about.txt"), time.Time{},
		time.Now().Add(-time.Hour)))
	m.set("GOPHD_ROOT=ROOT/srv/other")
}

// examine runs gophd doctor on the machine.
func (m *machine) examine(only string) []doctor.Finding {
	m.Helper()
	var out strings.Builder
	d := &doctor.Doctor{
		Parse: parseSettings, JSON: true, Only: only, Out: &out, Machine: m.root,
		Command: m.command, Addrs: []netip.Addr{netip.MustParseAddr("198.51.100.7")},
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			switch host {
			case "gopher.example.org":
				return []netip.Addr{netip.MustParseAddr("198.51.100.7")}, nil
			case "elsewhere.example":
				return []netip.Addr{netip.MustParseAddr("203.0.113.1")}, nil
			}
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		},
	}
	err := d.Run(m.Context())
	var all []doctor.Finding
	must(m.T, json.Unmarshal([]byte(strings.ReplaceAll(out.String(), m.root, "")), &all))
	bad := slices.ContainsFunc(all, func(f doctor.Finding) bool { return !f.OK && !f.Unknown })
	if bad != errors.Is(err, exit.ErrNo) || !bad && err != nil {
		m.Errorf("a fault: %t, and the error is %v", bad, err)
	}
	return all
}

// pair writes a certificate for a name that ends at a time, and its key.
func (m *machine) pair(cert, key, name string, ends time.Time) tls.Certificate {
	pair := harness.Certificate(m.T, name, ends)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	must(m.T, err)
	m.write(cert, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})))
	m.write(key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})))
	return pair
}

// shows makes the server of the machine show a certificate and say nothing.
func (m *machine) shows(pair tls.Certificate) {
	m.at(treetest.Conns(m.T, func(c net.Conn) {
		_ = tls.Server(c, &tls.Config{Certificates: []tls.Certificate{pair}}).Handshake()
	}))
}

// keepEnvironment undoes what parseSettings does to the variables of this process.
func keepEnvironment(t *testing.T) {
	before := os.Environ()
	t.Cleanup(func() {
		os.Clearenv()
		for _, v := range before {
			name, value, _ := strings.Cut(v, "=")
			_ = os.Setenv(name, value)
		}
	})
}

func TestDoctorFindsNothing(t *testing.T) {
	keepEnvironment(t)
	m := newMachine(t)
	m.serve()
	treetest.Until(t, "the index is filled", func() bool {
		found := m.examine("search")
		return len(found) == 1 && found[0].OK
	})
	var names []string
	for _, f := range m.examine("") {
		if names = append(names, f.Check); !f.OK {
			t.Errorf("%+v", f)
		}
	}
	for _, want := range []string{"unit", "settings", "sandbox", "directories", "port", "name",
		"writable", "annotations", "robots.txt", "noindex", "search"} {
		if !slices.Contains(names, want) {
			t.Errorf("nothing is said of %s: %q", want, names)
		}
	}
}

// TestDoctorFindsFaults makes one fault at a time.
func TestDoctorFindsFaults(t *testing.T) {
	keepEnvironment(t)
	for _, tt := range []struct {
		name        string
		fault       func(*machine)
		check, text string
		command     string
	}{
		{"nothing installed", func(m *machine) {
			m.units["gophd.service"] = "LoadState=not-found\n"
		},
			"unit", "systemd has no gophd.service", "sudo make install"},
		{"units that were not copied", func(m *machine) {
			m.units["gophd.service"] = "LoadState=not-found\n"
			m.write("usr/local/share/gophd/systemd/gophd.service", "")
		}, "unit", "there is no gophd.service", "cp /usr/local/share/gophd/systemd/gophd.service "},
		{"another server", func(m *machine) {
			must(m.T, os.RemoveAll(filepath.Join(m.root, "proc/100")))
			m.at("127.0.0.1:70")
			m.held(1, "systemd", "/init.scope")
			m.sockets = "/run/initctl systemd-initctl.socket systemd-initctl.service\n[::]:70 gophernicus.socket\n"
		}, "port", "gophernicus.socket",
			"systemctl disable --now gophernicus.socket && systemctl enable --now gophd.socket"},
		{"another process", func(m *machine) {
			must(m.T, os.RemoveAll(filepath.Join(m.root, "proc/100")))
			m.at("127.0.0.1:70")
			m.held(8, "geomyidae", "/system.slice/geomyidae.service")
		}, "port", "port 70 is held by geomyidae",
			"systemctl disable --now geomyidae.service && systemctl enable --now gophd.socket"},
		{"nothing listens", func(m *machine) { m.at("127.0.0.1:70"); m.write("proc/net/tcp", "") },
			"port", "nothing listens at port 70", "systemctl enable --now gophd.socket"},
		{"a name of another machine", set("GOPHD_HOST=elsewhere.example"),
			"name", "another machine: 203.0.113.1", "sed -i -e 's/^GOPHD_HOST=/#&/' -e '$aGOPHD_HOST=NAME' /etc/default/gophd"},
		{"a name of none", set("GOPHD_HOST=nowhere.example"),
			"name", "nowhere.example, which cannot be looked up", "GOPHD_HOST=NAME"},
		{"an unknown setting", set("GOPHD_HOTS=x"),
			"settings", "unknown variable GOPHD_HOTS",
			"sed -i 's/^GOPHD_HOTS=/GOPHD_HOST=/' /etc/default/gophd"},
		{"a wrong setting", set("GOPHD_POLL=often"),
			"settings", `GOPHD_POLL is "often"`, "sed -i 's/^GOPHD_POLL=/#&/' /etc/default/gophd"},
		{"no root", set("GOPHD_ROOT=ROOT/srv/nope"),
			"directories", "/srv/nope: no such file or directory", "gophd init /srv/nope"},
		{"a port in the unit", set("GOPHD_METRICS=localhost:9170"),
			"sandbox", "cannot listen at localhost:9170 (-metrics)", "gophd-metrics.conf"},
		{"a certificate that has ended", func(m *machine) {
			m.set("GOPHD_TLS_SELF_SIGNED=ROOT/var/lib/gophd")
			m.pair("var/lib/gophd/gophd.crt", "var/lib/gophd/gophd.key", "gopher.example.org",
				time.Now().AddDate(0, 0, -2))
		}, "certificate", "expired on", "rm /var/lib/gophd/gophd.crt"},
		{"a certificate that lacks an alias", func(m *machine) {
			m.set("GOPHD_TLS_SELF_SIGNED=ROOT/var/lib/gophd", "GOPHD_ALIAS=other.example")
			m.shows(m.pair("var/lib/gophd/gophd.crt", "var/lib/gophd/gophd.key",
				"gopher.example.org", time.Now().AddDate(0, 3, 0)))
		}, "certificate", "no certificate is for other.example", "GOPHD_TLS_SELF_SIGNED=/var/lib"},
		{"a renewal that was not seen", func(m *machine) {
			m.set("GOPHD_TLS_CERT=/run/credentials/gophd.service/gophd.crt",
				"GOPHD_TLS_KEY=/run/credentials/gophd.service/gophd.key")
			m.pair("etc/credstore/gophd.crt", "etc/credstore/gophd.key", "gopher.example.org",
				time.Now().AddDate(0, 3, 0))
			m.shows(harness.Certificate(m.T, "gopher.example.org", time.Now().AddDate(0, 1, 0)))
		}, "certificate", "another certificate than /etc/credstore/gophd.crt",
			"systemctl restart gophd"},
		{"an old robots.txt", func(m *machine) {
			m.at(treetest.Conns(m.T, document("# robots.txt made by gophd\nUser-agent: *\n")))
		},
			"robots.txt", "differs from the annotations in ", "systemctl reload gophd"},
		{"another server answers", func(m *machine) {
			m.at(treetest.Conns(m.T, document("User-agent: *\nDisallow:\n")))
		},
			"robots.txt", "is not gophd", "gophd doctor -only port"},
		{"noindex where it is not meant", func(m *machine) {
			m.serve()
			m.instead("HEAD ", "HTTP/1.1 200 OK\r\nX-Robots-Tag: noindex\r\n\r\n")
		}, "noindex", "the page of / has noindex: true; the annotations say: false",
			"systemctl reload gophd"},
		{"an annotation that is a link out of the tree", func(m *machine) {
			m.write("srv/gopher/drafts/x", "")
			must(m.T, os.Symlink("/etc/shadow", filepath.Join(m.root, "srv/gopher/drafts/.robots")))
		}, "annotations", "leads out of the tree", "rm /srv/gopher/drafts/.robots"}, // chmod would open /etc/shadow
		{"no socket of a program", func(m *machine) {
			m.set("GOPHD_FASTCGI=/cgi-bin=/run/gophd-programs.sock")
			text, err := os.ReadFile("../../examples/fastcgi/gophd-programs.socket")
			must(m.T, err)
			m.write("etc/systemd/system/gophd-programs.socket", string(text))
		}, "programs", "/run/gophd-programs.sock is not there",
			"systemctl enable --now gophd-programs.socket"},
		{"an index behind the tree", func(m *machine) {
			m.serve()
			m.instead("/search\t", "iNothing found\t\terror.host\t1\r\n.\r\n")
		},
			"search", "/about.txt is not found by its name", "systemctl start gophd.socket gophd.service"},
		{"a server of another tree, for search", (*machine).otherTree, "search",
			"has another /about.txt", "systemctl start gophd.socket gophd.service"},
		{"a server of another tree, for noindex", (*machine).otherTree, "noindex",
			"has another /about.txt", "systemctl start gophd.socket gophd.service"},
		{"a setting of a shell", set("export GOPHD_HOST=x"), "settings", "gophd:6: export GOPHD_HOST= sets nothing", "sed -i '6s/"},
		{"a unit with two commands", func(m *machine) {
			m.units["gophd.service"] += "LoadError=bad\nDropInPaths=/etc/systemd/system/gophd.service.d/own.conf\n"
			m.units["gophd.service"] = strings.Replace(m.units["gophd.service"], "LoadState=loaded",
				"LoadState=bad-setting", 1)
			m.write("etc/systemd/system/gophd.service.d/own.conf",
				"[Service]\nExecStart=/usr/bin/gophd\n")
		}, "unit", "does not load gophd.service: bad", "sed -i '0,/^ExecStart=./s"},
		{"a service that failed", func(m *machine) {
			m.units["gophd.service"] = strings.Replace(m.units["gophd.service"], "Result=success",
				"Result=exit-code\nExecMainStatus=2", 1)
		}, "service", "status 2): reading x: no such file (hint: make it)", "systemctl start gophd.socket gophd.service"},
		{"a drop-in that systemd has not read", func(m *machine) {
			m.write("etc/systemd/system/gophd.service.d/own.conf", "")
		},
			"unit", "gophd.service was changed", "systemctl daemon-reload"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t)
			m.at("127.0.0.1:1") // nobody answers there
			tt.fault(m)
			before := treeNames(t, m.root)
			all := m.examine(tt.check)
			if !slices.ContainsFunc(all, func(f doctor.Finding) bool {
				return !f.OK && f.Check == tt.check && strings.Contains(f.Text, tt.text) &&
					strings.Contains(f.Type, tt.command)
			}) {
				t.Errorf("want the fault %q and the command %q: %+v", tt.text, tt.command, all)
			}
			if after := treeNames(t, m.root); after != before {
				t.Errorf("it changes the machine:\n%s\n%s", before, after)
			}
		})
	}
}

// treeNames lists all names of a tree with the times of their last change.
func treeNames(t *testing.T, root string) string {
	var b strings.Builder
	must(t, filepath.WalkDir(root, func(name string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil {
			fmt.Fprintln(&b, name, info.ModTime(), info.Size())
		}
		return err
	}))
	return b.String()
}
