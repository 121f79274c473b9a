package check

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/command/terminal"
	"github.com/gophd/gophd/internal/daemon"
)

// The table of -from: a server, options of it, their value, flags of gophd, and what is to be
// read. A test compares it with the tables of moving-in.txt. Words in capitals are values, as they
// are or within an argument. Of a fixed value, as in GopherCgiSupport=1, the row is about no other.
// "without -nu" is for a server that has no -nu.
//
//go:embed from.tsv
var fromTable string

// A former is a server that -from reads.
type former struct {
	name string                     // of the program, too
	unit string                     // that listens
	read func(m *move, text string) // into its settings
	rows []optionRow
}

var formers = []former{
	{name: "agate", unit: "agate.service", read: (*move).readWords},
	{name: "geomyidae", unit: "geomyidae.service", read: (*move).readWords},
	{name: "gmid", unit: "gmid.service", read: (*move).readBlocks},
	{name: "gophernicus", unit: "gophernicus.socket", read: (*move).readWords},
	{name: "gophor", unit: "gophor.service", read: (*move).readWords},
	{name: "motsognir", unit: "motsognir.service", read: (*move).readLines},
	{name: "pygopherd", unit: "pygopherd.service", read: (*move).readLines},
	{name: "spacecookie", unit: "spacecookie.socket", read: (*move).readObject},
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
	options []string
	value   string // "", words in capitals, or a fixed value
	flags   []string
	say     string
	without bool
}

// listenStream is an option of the socket unit of any server; its value is ADDRESS:PORT or PORT.
const listenStream = "ListenStream"

var capitals = regexp.MustCompile(`[A-Z]+`)

// values returns the parts of a value by the row's words in capitals; nil if the row does not
// match the value.
func (r optionRow) values(value string) map[string]string {
	pattern := capitals.ReplaceAllLiteralString(regexp.QuoteMeta(strings.TrimSuffix(r.value,
		"/")), "(.+)")
	m := regexp.MustCompile("(?i)^" + pattern + "$").FindStringSubmatch(strings.TrimSuffix(value, "/"))
	if m == nil && r.value != "" {
		return nil
	}
	found := map[string]string{}
	for i, name := range capitals.FindAllString(r.value, -1) {
		found[name] = m[i+1]
	}
	return found
}

// A move collects what replaces an old server's options.
type move struct {
	server   *former
	file     string
	settings []setting
	named    bool     // the file names the program
	matches  []match  // in the order of the old options
	notes    []string // what is to be read
	doubts   []string // what was not understood
}

// A match is a row for an option, with the values of its words in capitals.
type match struct {
	row    optionRow
	values map[string]string
}

// maxConf bounds a configuration, in bytes.
const maxConf = 1 << 20

// translate prints the flags, settings and units of gophd for the options or the configuration
// of another server. Its error is [exit.ErrNo] if it has not understood all of the file.
func (c *Check) translate(file string) error {
	s, err := formerNamed(c.From)
	if err != nil {
		return err
	}
	conf, err := files.ReadFile(file, maxConf)
	if errors.Is(err, fs.ErrNotExist) {
		return exit.Usagef("gophd check -from SERVER takes its configuration, unit or script", "%w",
			err)
	} else if err != nil {
		return err
	}
	m := &move{server: s, file: path.Base(file)}
	s.read(m, strings.ReplaceAll(string(conf), "\r\n", "\n"))
	if len(m.settings) == 0 && !m.named {
		return &exit.CommandError{
			Status: exit.No,
			Err:    fmt.Errorf("%s has no options of %s", file, s.name),
			Hint:   fmt.Sprintf("-from takes the configuration of %s, its unit, or the script that starts it", s.name),
		}
	}
	m.all()
	if !m.named && !strings.Contains(strings.ToLower(string(conf)+m.file), s.name) {
		m.doubt(0, "", "the file does not name "+s.name+": are these its options?")
	}
	if err := terminal.PrintText(c.Out, m.text()); err != nil || len(m.doubts) == 0 {
		return err
	}
	return exit.ErrNo
}

// all translates the settings of the old server into flags and notes.
func (m *move) all() {
	counts := map[int]int{} // of the options in each line
	for _, g := range m.settings {
		counts[g.line]++
	}
	for _, line := range slices.Sorted(maps.Keys(counts)) {
		m.note(diag.Place(m.file, line), "read: "+diag.Count(counts[line], "option", "options"))
	}

	// Translate each setting, and add the rows for options that are absent.
	for _, g := range m.settings {
		m.one(g)
	}
	for _, r := range m.server.rows {
		if r.without && !slices.ContainsFunc(m.settings, func(g setting) bool {
			return slices.Contains(r.options, g.option)
		}) {
			m.matches = append(m.matches, match{row: r})
			m.note("without "+r.options[0], r.say)
		}
	}
}

// one finds the row for a setting.
func (m *move) one(g setting) {
	if strings.Contains(g.value, "$") {
		m.doubt(g.line, g.String(), "the value of a variable is not in this file")
		return
	}
	if addr := listens.FindStringSubmatch(g.value); g.option == listenStream && addr != nil {
		row := optionRow{flags: []string{"-listen", addr[1] + ":" + addr[2]}}
		m.matches = append(m.matches, match{row: row})
		return
	}
	named := false
	for _, r := range m.server.rows {
		if r.without || !slices.Contains(r.options, g.option) {
			continue
		}
		named = true
		if values := r.values(g.value); values != nil {
			m.matches = append(m.matches, match{r, values})
			m.note(diag.Place(m.file, g.line)+": "+g.String(), fill(r.say, values))
			return
		}
	}
	if !named {
		m.doubt(g.line, g.String(), "gophd has no counterpart")
	}
}

// add notes a setting of the old server.
func (m *move) add(line int, option, value string) {
	m.settings = append(m.settings, setting{line, option, value})
}

func (m *move) note(about, say string) {
	if say != "" {
		m.notes = append(m.notes, about+": "+say)
	}
}

// doubt notes what was not understood, with its line, if it has one.
func (m *move) doubt(line int, text, why string) {
	about := strings.TrimSuffix(diag.Place(m.file, line)+": "+strings.TrimSpace(text), ": ")
	m.doubts = append(m.doubts, about+": "+why)
}

// fill puts values in the places of their words.
func fill(text string, values map[string]string) string {
	return capitals.ReplaceAllStringFunc(text, func(word string) string {
		return cmp.Or(values[word], word)
	})
}

// once are the flags that cannot be repeated.
var once = []string{"-root", "-host", "-port", "-users", "-user", "-access-log"}

// flags returns the flags of all matches, and their values without repetitions.
func (m *move) flags() (names []string, values map[string][]string) {
	known := map[string]string{
		"PORT":   "70",
		"SOCKET": "/run/fcgiwrap.socket",
	}
	for _, match := range slices.Backward(m.matches) { // the first value counts
		maps.Copy(known, match.values)
	}
	known["ROOT"] = known["DIR"]

	values = map[string][]string{}
	exact := false // the server listens at an address, not at all of them
	for _, match := range m.matches {
		own := maps.Clone(known)
		maps.Copy(own, match.values)
		name := ""
		for _, word := range match.row.flags {
			if word[0] == '-' {
				name = word
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
				continue
			}
			value := strings.ReplaceAll(strings.TrimSuffix(fill(word, own), ":GROUP"), "//", "/")
			if i := strings.LastIndex(value, ":"); name == "-listen" {
				value = net.JoinHostPort(strings.Trim(value[:i], "[]"), value[i+1:])
				exact = exact || !everywhere(value)
			}
			if !slices.Contains(values[name], value) &&
				(values[name] == nil || !slices.Contains(once, name)) {
				values[name] = append(values[name], value)
			}
		}
	}

	// Leave out what another address includes, and the default.
	values["-listen"] = slices.DeleteFunc(values["-listen"], func(addr string) bool {
		return exact && everywhere(addr) || addr == ":70"
	})
	names = slices.DeleteFunc(names, func(name string) bool {
		return name == "-listen" && len(values[name]) == 0
	})
	return names, values
}

// everywhere reports whether an address binds all interfaces.
func everywhere(addr string) bool {
	host, _, _ := net.SplitHostPort(addr)
	return host == "" || host == "0.0.0.0" || host == "::"
}

// dropIn returns the commands that make a drop-in of a unit: one of the package, or of lines.
func dropIn(unit, file string, lines ...string) string {
	dir := "/etc/systemd/system/" + unit + ".d"
	commands := diag.Command("mkdir", "-p", dir) + "\n"
	if lines == nil {
		return commands + diag.Command("cp", "/usr/share/gophd/systemd/"+file, dir+"/") + "\n"
	}
	return commands + diag.Command(append([]string{"printf", `%s\n`}, lines...)...) + " >" +
		diag.Command(dir+"/"+file) + "\n"
}

// text returns the move for people.
func (m *move) text() string {
	names, values := m.flags()
	command := []string{"gophd"}
	for _, name := range names {
		if values[name] == nil {
			command = append(command, name)
		}
		for _, value := range values[name] {
			command = append(command, name, value)
		}
	}

	// The units, with what the settings need of them.
	units := ""
	root := strings.Join(values["-root"], "")
	if values["-users"] != nil {
		units += dropIn("gophd.service", "gophd-users.conf")
	} else if strings.HasPrefix(root, "/home/") || strings.HasPrefix(root, "/root/") {
		units += dropIn("gophd.service", "gophd-root.conf")
	}
	if values["-fastcgi"] != nil {
		units += dropIn("gophd.service", "programs.conf", "[Service]",
			"SupplementaryGroups=www-data")
	}
	start := []string{"systemctl", "enable", "--now"}
	for _, s := range []struct{ flag, unit string }{{"-listen", "gophd.socket"},
		{"-gemini", "gophd-gemini.socket"}} {
		if s.flag == "-listen" || values[s.flag] != nil {
			start = append(start, s.unit)
		}
		lines := []string{"[Socket]", "ListenStream="}
		for _, addr := range values[s.flag] {
			if addr != ":1965" { // which the socket of Gemini has
				lines = append(lines, "ListenStream="+strings.TrimPrefix(addr, ":"))
			}
		}
		if len(lines) > 2 {
			units += dropIn(s.unit, "port.conf", lines...)
		}
	}
	units += diag.Command("systemctl", "daemon-reload") + "\n" +
		diag.Command("systemctl", "disable", "--now", m.server.unit) + "\n" +
		diag.Command(start...) + "\n"

	// The settings of the service, whose account and sockets are the units'.
	settings := ""
	for _, name := range names {
		value := cmp.Or(strings.Join(values[name], ","), "true")
		switch name {
		case "-listen", "-gemini":
			continue
		case "-user":
			m.note(name, "not with the unit: it runs as an account of its own, which reads what everyone may read")
			continue
		case "-access-log":
			value = "/var/log/gophd/" + path.Base(value)
			m.note(name, "under the unit, gophd may write below /var/log/gophd only")
		}
		settings += daemon.Variable(name[1:]) + "=" + value + "\n"
	}

	text := diag.Command(command...) + "\n\nIn /etc/default/gophd:\n\n" + settings +
		"\nUnits, as root:\n\n" + units
	if len(m.doubts) > 0 {
		text += "\nNot understood:\n\n" + strings.Join(m.doubts, "\n") + "\n"
	}
	if len(m.notes) > 0 {
		text += "\nTo read:\n\n" + strings.Join(m.notes, "\n") + "\n"
	}
	return text
}
