package check

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
)

// A move is what gophd is given in place of an old server.
type move struct {
	server *former
	values map[string]string // of words in capitals
	flags  []template        // in the order of the old options
	notes  []string          // what is to be read
}

// template is a flag whose value has words in capitals.
type template struct {
	flag, value string
	values      map[string]string // of the option; other options have the rest
}

// maxConf bounds a configuration, in bytes.
const maxConf = 1 << 20

// From returns the flags, settings and units of gophd for the options or the configuration
// of another server.
func From(name, file string) (string, error) {
	s, err := formerNamed(name)
	if err != nil {
		return "", err
	}
	f, err := files.OpenFile(file, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxConf))
	if err != nil {
		return "", err
	}
	given, err := s.read(s, string(text))
	if err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	m := &move{server: s, values: map[string]string{}}
	m.all(path.Base(file), given)
	return m.text(), nil
}

// all goes through what the old server was given, and what it was not.
func (m *move) all(file string, given []setting) {
	for _, g := range given {
		at := file
		if g.line > 0 {
			at = fmt.Sprintf("%s:%d", file, g.line)
		}
		m.one(at, g)
	}
	for _, r := range m.server.rows {
		if r.without && !slices.ContainsFunc(given, func(g setting) bool { return slices.Contains(r.options, g.option) }) {
			m.add(r, nil)
			m.note("without "+r.options[0], r.say)
		}
	}
}

// one finds the row for a setting.
func (m *move) one(at string, g setting) {
	named := false
	for _, r := range m.server.rows {
		if r.without || !slices.Contains(r.options, g.option) {
			continue
		}
		named = true
		if values := r.values(g.value); values != nil {
			m.add(r, values)
			m.note(at+": "+g.String(), fill(r.say, values))
			return
		}
	}
	if g.option == "ListenStream" {
		m.listen(g.value)
	} else if !named {
		m.note(at+": "+g.String(), "gophd has no counterpart")
	}
}

// listen notes where a socket unit listens.
func (m *move) listen(addr string) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		m.add(optionRow{flags: []string{"-listen", ":PORT"}}, map[string]string{"PORT": addr})
		return
	}
	m.add(optionRow{flags: []string{"-listen", "ADDRESS:PORT"}}, map[string]string{"ADDRESS": host, "PORT": port})
}

func (m *move) note(about, say string) {
	if say != "" {
		m.notes = append(m.notes, diag.Printable(about)+": "+diag.Printable(say))
	}
}

// add adds the flags of a row.
func (m *move) add(r optionRow, values map[string]string) {
	for name, value := range values {
		if m.values[name] == "" {
			m.values[name] = value
		}
	}
	for i := 0; i < len(r.flags); i++ {
		flag := template{flag: r.flags[i], values: values}
		if i+1 < len(r.flags) && r.flags[i+1][0] != '-' {
			i++
			flag.value = r.flags[i]
		}
		m.flags = append(m.flags, flag)
	}
}

// fill puts values in the places of their words.
func fill(text string, values map[string]string) string {
	return capitals.ReplaceAllStringFunc(text, func(word string) string { return cmp.Or(values[word], word) })
}

// once are flags that are given once.
var once = []string{"-root", "-host", "-port", "-users", "-user", "-access-log"}

// finish puts in all values, and leaves no flag twice.
func (m *move) finish() (flags [][2]string) {
	known := map[string]string{"PORT": "70", "ROOT": m.values["DIR"], "SOCKET": "/run/fcgiwrap.socket"}
	maps.Copy(known, m.values)
	address := slices.ContainsFunc(m.flags, func(t template) bool { return t.flag == "-listen" && t.value[0] != ':' })
	for _, t := range m.flags {
		if known["GROUP"] == "" {
			t.value = strings.TrimSuffix(t.value, ":GROUP")
		}
		all := maps.Clone(known)
		maps.Copy(all, t.values)
		f := [2]string{t.flag, fill(t.value, all)}
		if f[0] != "-listen" {
			f[1] = strings.ReplaceAll(f[1], "//", "/")
		} else if i := strings.LastIndex(f[1], ":"); t.value[0] == ':' && address || f[1] == ":70" {
			continue // another flag has the address; or it is where gophd listens
		} else {
			f[1] = net.JoinHostPort(strings.Trim(f[1][:i], "[]"), f[1][i+1:])
		}
		if slices.Contains(flags, f) || slices.Contains(once, f[0]) && slices.ContainsFunc(flags, func(g [2]string) bool { return g[0] == f[0] }) {
			continue
		}
		flags = append(flags, f)
	}
	return flags
}

// dropInDir returns the directory of the drop-ins of a unit, and the command that makes it.
func dropInDir(unit string) (dir, command string) {
	dir = "/etc/systemd/system/" + unit + ".d"
	return dir, diag.Command("mkdir", "-p", dir) + "\n"
}

// copied returns the commands that install a drop-in of the package for the service.
func copied(file string) string {
	dir, command := dropInDir("gophd.service")
	return command + diag.Command("cp", "/usr/share/gophd/systemd/"+file, dir+"/") + "\n"
}

// written returns the commands that write a drop-in.
func written(unit, file string, lines ...string) string {
	dir, command := dropInDir(unit)
	return command + diag.Command(append([]string{"printf", `%s\n`}, lines...)...) + " >" + diag.Command(dir+"/"+file) + "\n"
}

// text returns the move for people.
func (m *move) text() string {
	command := []string{"gophd"}
	ports := []string{"[Socket]", "ListenStream="}
	var settings, units, sockets strings.Builder
	lists := map[string][]string{}
	var order []string
	for _, f := range m.finish() {
		command = append(command, f[0])
		if f[1] != "" {
			command = append(command, f[1])
		}
		switch name := "GOPHD_" + strings.ToUpper(strings.ReplaceAll(f[0][1:], "-", "_")); f[0] {
		case "-listen":
			ports = append(ports, "ListenStream="+strings.TrimPrefix(f[1], ":"))
		case "-user": // the unit has an account of its own
			m.note("-user", "not with the unit: it runs as an account of its own, which reads what everyone may read")
		default:
			if f[0] == "-access-log" {
				f[1] = "/var/log/gophd/" + path.Base(f[1])
				m.note("-access-log", "under the unit, gophd may write below /var/log/gophd only")
			}
			if lists[name] == nil {
				order = append(order, name)
			}
			lists[name] = append(lists[name], cmp.Or(f[1], "true"))
			if f[0] == "-fastcgi" {
				sockets.WriteString(f[1])
			}
		}
	}
	for _, name := range order {
		fmt.Fprintf(&settings, "%s=%s\n", name, strings.Join(lists[name], ","))
	}
	if lists["GOPHD_USERS"] != nil {
		units.WriteString(copied("gophd-users.conf"))
	} else if root := strings.Join(lists["GOPHD_ROOT"], ""); strings.HasPrefix(root, "/home/") || strings.HasPrefix(root, "/root/") {
		units.WriteString(copied("gophd-root.conf"))
	}
	if sockets.Len() > 0 {
		units.WriteString(written("gophd.service", "programs.conf", "[Service]", "SupplementaryGroups=www-data"))
	}
	if len(ports) > 2 {
		units.WriteString(written("gophd.socket", "port.conf", ports...))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nIn /etc/default/gophd:\n\n%s\nUnits, as root:\n\n%s%s\n%s\n%s\n", diag.Command(command...), &settings, &units,
		diag.Command("systemctl", "daemon-reload"), diag.Command("systemctl", "disable", "--now", m.server.unit()), diag.Command("systemctl", "enable", "--now", "gophd.socket"))
	for i, note := range m.notes {
		if i == 0 {
			b.WriteString("\nTo read:\n\n")
		}
		b.WriteString(note + "\n")
	}
	return b.String()
}
