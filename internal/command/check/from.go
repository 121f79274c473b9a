package check

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/daemon"
)

// The table of -from: a server, options of it, their value, flags of gophd, and what is to be
// read. The tables of moving-in.txt are made from it (go test -update). Words in capitals are
// values, as they are or within an argument. Of a fixed value, as in GopherCgiSupport=1,
// the row is about no other. "without -nu" is for a server that has no -nu.
//
//go:embed from.tsv
var fromTable string

// A former is a server that -from reads.
type former struct {
	name string // of the program, too
	unit string // that listens
	read func(s *former, text string) reading
	rows []optionRow
}

var formers = []former{
	{name: "agate", unit: "agate.service", read: readWords},
	{name: "geomyidae", unit: "geomyidae.service", read: readWords},
	{name: "gmid", unit: "gmid.service", read: readBlocks},
	{name: "gophernicus", unit: "gophernicus.socket", read: readWords},
	{name: "gophor", unit: "gophor.service", read: readWords},
	{name: "motsognir", unit: "motsognir.service", read: readLines},
	{name: "pygopherd", unit: "pygopherd.service", read: readLines},
	{name: "spacecookie", unit: "spacecookie.socket", read: readObject},
}

// serverNames are the servers that -from knows.
func serverNames() (names []string) {
	for _, s := range formers {
		names = append(names, s.name)
	}
	return names
}

// formerNamed returns a server with its rows.
func formerNamed(name string) (*former, error) {
	i := slices.IndexFunc(formers, func(s former) bool { return s.name == strings.ToLower(name) })
	if i < 0 {
		return nil, exit.Usagef(diag.Command("gophd", "check", "-from", "gophernicus", "FILE"),
			"-from does not know %q; it knows %s", name, strings.Join(serverNames(), ", "))
	}
	s := formers[i]
	for line := range strings.Lines(fromTable) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if f[0] != s.name {
			continue
		}
		options, without := strings.CutPrefix(f[1], "without ")
		s.rows = append(s.rows, optionRow{
			left:    f[1] + f[2],
			options: strings.Split(options, ", "),
			value:   strings.Trim(f[2], " ="),
			flags:   strings.Fields(f[3]),
			say:     f[4],
			without: without,
		})
	}
	return &s, nil
}

// An optionRow is a row of the table.
type optionRow struct {
	left    string // option and value as documentation prints them
	options []string
	value   string // "", words in capitals, or a fixed value
	flags   []string
	say     string
	without bool
}

var capitals = regexp.MustCompile(`[A-Z]+`)

// values returns the parts of a value by the row's words in capitals; nil if the row does not
// match the value.
func (r optionRow) values(value string) map[string]string {
	if !capitals.MatchString(r.value) {
		if r.value != "" && !strings.EqualFold(r.value, value) {
			return nil
		}
		return map[string]string{}
	}
	names := capitals.FindAllString(r.value, -1)
	pattern := capitals.ReplaceAllLiteralString(regexp.QuoteMeta(strings.TrimSuffix(r.value,
		"/")), "(.+?)")
	m := regexp.MustCompile("^" + pattern + "$").FindStringSubmatch(strings.TrimSuffix(value, "/"))
	if m == nil {
		return nil
	}
	found := map[string]string{}
	for i, name := range names {
		found[name] = m[i+1]
	}
	return found
}

// A move collects the flags of gophd that replace an old server's options.
type move struct {
	server *former
	values map[string]string // of words in capitals
	flags  []template        // in the order of the old options
	notes  []string          // what is to be read
	doubts []string          // what was not understood
}

// template is a flag whose value has words in capitals.
type template struct {
	flag, value string
	values      map[string]string // of the option; other options have the rest
}

// maxConf bounds a configuration, in bytes.
const maxConf = 1 << 20

// translate returns the flags, settings and units of gophd for the options or the configuration
// of another server, and whether all of the file was understood.
func translate(name, file string) (text string, understood bool, err error) {
	s, err := formerNamed(name)
	if err != nil {
		return "", false, err
	}
	f, err := files.OpenFile(file, os.O_RDONLY, 0)
	if err != nil {
		return "", false, err
	}
	defer func() { _ = f.Close() }()
	conf, err := io.ReadAll(io.LimitReader(f, maxConf))
	if err != nil {
		return "", false, err
	}
	r := s.read(s, strings.ReplaceAll(string(conf), "\r\n", "\n"))
	named := r.named || strings.Contains(strings.ToLower(string(conf)+path.Base(file)), s.name)
	if len(r.settings) == 0 && !r.named {
		return "", false, &exit.CommandError{
			Status: exit.No,
			Err:    fmt.Errorf("%s has no options of %s", file, s.name),
			Hint:   fmt.Sprintf("-from takes the configuration of %s, its unit, or the script that starts it", s.name),
		}
	}
	m := &move{server: s, values: map[string]string{}}
	m.all(path.Base(file), r)
	if !named {
		m.doubt(path.Base(file), "the file does not name "+s.name+": are these its options?")
	}
	return m.text(), len(m.doubts) == 0, nil
}

// all translates the settings of the old server into flags and notes.
func (m *move) all(file string, given reading) {
	at := func(line int) string {
		if line > 0 {
			return fmt.Sprintf("%s:%d", file, line)
		}
		return file
	}

	// Report how many options each line gave, and what was not understood.
	counts := map[int]int{}
	for _, g := range given.settings {
		counts[g.line]++
	}
	for _, line := range slices.Sorted(maps.Keys(counts)) {
		m.note(at(line), "read: "+diag.Count(counts[line], "option", "options"))
	}
	for _, d := range given.doubts {
		m.doubt(at(d.line)+": "+d.value, d.option)
	}

	// Translate each setting, and add the rows for options that are absent.
	for _, g := range given.settings {
		m.one(at(g.line), g)
	}
	for _, r := range m.server.rows {
		if r.without && !slices.ContainsFunc(given.settings, func(g setting) bool {
			return slices.Contains(r.options, g.option)
		}) {
			m.add(r, nil)
			m.note("without "+r.options[0], r.say)
		}
	}
}

// one finds the row for a setting.
func (m *move) one(at string, g setting) {
	if strings.Contains(g.value, "$") {
		m.doubt(at+": "+g.String(), "the value of a variable is not in this file")
		return
	}
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
		m.doubt(at+": "+g.String(), "gophd has no counterpart")
	}
}

// listen adds where a socket unit listens.
func (m *move) listen(addr string) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		m.add(optionRow{flags: []string{"-listen", ":PORT"}}, map[string]string{"PORT": addr})
		return
	}
	m.add(optionRow{flags: []string{"-listen", "ADDRESS:PORT"}}, map[string]string{
		"ADDRESS": host,
		"PORT":    port,
	})
}

func (m *move) note(about, say string) {
	if say != "" {
		m.notes = append(m.notes, diag.Printable(about)+": "+diag.Printable(say))
	}
}

func (m *move) doubt(about, say string) {
	m.doubts = append(m.doubts, diag.Printable(about)+": "+diag.Printable(say))
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
	return capitals.ReplaceAllStringFunc(text, func(word string) string {
		return cmp.Or(values[word], word)
	})
}

// once are the flags that cannot be repeated.
var once = []string{"-root", "-host", "-port", "-users", "-user", "-access-log"}

// finish fills in the values and drops repeated flags.
func (m *move) finish() (flags [][2]string) {
	known := map[string]string{
		"PORT":   "70",
		"ROOT":   m.values["DIR"],
		"SOCKET": "/run/fcgiwrap.socket",
	}
	maps.Copy(known, m.values)
	var all [][2]string
	exact := false // the server listens at an address, not at all of them
	for _, t := range m.flags {
		if known["GROUP"] == "" {
			t.value = strings.TrimSuffix(t.value, ":GROUP")
		}
		values := maps.Clone(known)
		maps.Copy(values, t.values)
		f := [2]string{t.flag, fill(t.value, values)}
		if f[0] == "-listen" {
			i := strings.LastIndex(f[1], ":")
			f[1] = net.JoinHostPort(strings.Trim(f[1][:i], "[]"), f[1][i+1:])
			exact = exact || !everywhere(f[1])
		} else {
			f[1] = strings.ReplaceAll(f[1], "//", "/")
		}
		all = append(all, f)
	}
	for _, f := range all {
		switch {
		case f[0] == "-listen" && (exact && everywhere(f[1]) || f[1] == ":70"): // another flag has the address; or it is the default
		case slices.Contains(flags, f):
		case slices.Contains(once, f[0]) && slices.ContainsFunc(flags, func(g [2]string) bool {
			return g[0] == f[0]
		}):
		default:
			flags = append(flags, f)
		}
	}
	return flags
}

// everywhere reports whether an address binds all interfaces.
func everywhere(addr string) bool {
	host, _, _ := net.SplitHostPort(addr)
	return host == "" || host == "0.0.0.0" || host == "::"
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
	return command + diag.Command(append([]string{"printf", `%s\n`}, lines...)...) + " >" +
		diag.Command(dir+"/"+file) + "\n"
}

// text returns the move for people.
func (m *move) text() string {
	command := []string{"gophd"}
	sockets := []string{"gophd.socket"}
	ports := map[string][]string{} // of sockets
	lists := map[string][]string{} // of variables
	var order []string
	for _, f := range m.finish() {
		command = append(command, f[0])
		if f[1] != "" {
			command = append(command, f[1])
		}
		switch name := daemon.Variable(f[0][1:]); f[0] {
		case "-listen", "-gemini":
			socket := sockets[0]
			if f[0] == "-gemini" {
				socket = "gophd-gemini.socket"
			}
			if !slices.Contains(sockets, socket) {
				sockets = append(sockets, socket)
			}
			if f[1] != ":1965" { // which the socket of Gemini has
				ports[socket] = append(ports[socket], "ListenStream="+strings.TrimPrefix(f[1], ":"))
			}
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
		}
	}

	var settings, units strings.Builder
	for _, name := range order {
		fmt.Fprintf(&settings, "%s=%s\n", name, strings.Join(lists[name], ","))
	}
	if lists["GOPHD_USERS"] != nil {
		units.WriteString(copied("gophd-users.conf"))
	} else if root := strings.Join(lists["GOPHD_ROOT"], ""); strings.HasPrefix(root, "/home/") ||
		strings.HasPrefix(root, "/root/") {
		units.WriteString(copied("gophd-root.conf"))
	}
	if lists["GOPHD_FASTCGI"] != nil {
		units.WriteString(written("gophd.service", "programs.conf", "[Service]",
			"SupplementaryGroups=www-data"))
	}
	for _, socket := range sockets {
		if len(ports[socket]) > 0 {
			units.WriteString(written(socket, "port.conf",
				append([]string{"[Socket]", "ListenStream="}, ports[socket]...)...))
		}
	}
	units.WriteString(diag.Command("systemctl", "daemon-reload") + "\n" +
		diag.Command("systemctl", "disable", "--now", m.server.unit) + "\n")
	units.WriteString(diag.Command(append([]string{"systemctl", "enable", "--now"},
		sockets...)...) + "\n")

	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nIn /etc/default/gophd:\n\n%s\nUnits, as root:\n\n%s",
		diag.Command(command...), &settings, &units)
	if len(m.doubts) > 0 {
		b.WriteString("\nNot understood:\n\n" + strings.Join(m.doubts, "\n") + "\n")
	}
	if len(m.notes) > 0 {
		b.WriteString("\nTo read:\n\n" + strings.Join(m.notes, "\n") + "\n")
	}
	return b.String()
}
