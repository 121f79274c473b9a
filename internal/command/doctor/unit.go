package doctor

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreos/go-systemd/v22/unit"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/process/systemd"
)

// unitDirs are where systemd looks for units, the first wins.
var unitDirs = []string{"/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"}

// settingFiles are where the packages keep settings; OpenRC's for machines without units.
const (
	settingsFile = "/etc/default/gophd"
	openrcFile   = "/etc/conf.d/gophd"
)

// service is the unit of a service, with the unit of its socket.
type service struct {
	file            string   // of the service
	dropIns         []string // of both
	service, socket []*unit.UnitOption
}

// readService reads the units NAME.service and NAME.socket. It returns nil without a
// NAME.service.
func readService(machine, name string) *service {
	s := &service{}
	s.file, s.service = s.readUnit(machine, name+".service")
	if s.file == "" {
		return nil
	}
	_, s.socket = s.readUnit(machine, name+".socket")
	return s
}

// readUnit reads a unit and the drop-ins that add to it (systemd.unit(5)).
func (s *service) readUnit(machine, name string) (file string, options []*unit.UnitOption) {
	var parts []string
	seen := map[string]bool{}
	for _, dir := range unitDirs {
		if at := filepath.Join(machine, dir, name); file == "" && isFile(at) {
			file = path.Join(dir, name)
			options = readOptions(at)
		}
		list, _ := filepath.Glob(filepath.Join(machine, dir, name+".d", "*.conf"))
		for _, part := range list {
			if !seen[filepath.Base(part)] {
				seen[filepath.Base(part)] = true
				parts = append(parts, part)
			}
		}
	}
	slices.SortFunc(parts, func(a, b string) int { return strings.Compare(filepath.Base(a), filepath.Base(b)) })
	for _, part := range parts {
		options = append(options, readOptions(part)...)
		s.dropIns = append(s.dropIns, filepath.Base(part))
	}
	return file, options
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

func readOptions(file string) []*unit.UnitOption {
	text, _ := os.ReadFile(file)
	options, _ := unit.DeserializeOptions(bytes.NewReader(text))
	return options
}

// values returns what a directive is set to: an empty one takes those before it back.
func values(options []*unit.UnitOption, name string) (all []string) {
	for _, o := range options {
		switch {
		case o.Name != name:
		case o.Value == "":
			all = nil
		default:
			all = append(all, o.Value)
		}
	}
	return all
}

// has reports whether a directive of the service is set to one of a few words at last.
func (s *service) has(name string, words ...string) bool {
	if s == nil {
		return false
	}
	list := values(s.service, name)
	return len(list) > 0 && slices.Contains(words, list[len(list)-1])
}

// started returns the arguments and the variables that the unit starts the server with, or
// OpenRC's script.
func (x *examination) started() (args, env []string) {
	if x.unit == nil {
		return nil, assignments(x.read(openrcFile))
	}
	for _, line := range values(x.unit.service, "Environment") {
		env = append(env, unquoted(line)...)
	}
	for _, file := range values(x.unit.service, "EnvironmentFile") {
		env = append(env, assignments(x.read(strings.TrimPrefix(file, "-")))...)
	}
	if start := values(x.unit.service, "ExecStart"); len(start) > 0 {
		args = unquoted(start[len(start)-1])[1:]
	}
	return args, env
}

// assignments are the lines NAME=VALUE of a file of settings.
func assignments(text string) (all []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "export ")
		if name, value, ok := strings.Cut(line, "="); ok && name != "" && name[0] != '#' {
			all = append(all, name+"="+strings.Trim(value, `"'`))
		}
	}
	return all
}

// unquoted splits a line at blanks outside of quotes.
func unquoted(line string) (words []string) {
	var quote rune
	parts := strings.FieldsFunc(strings.Map(func(r rune) rune {
		switch {
		case quote != 0 && r == quote, quote == 0 && (r == '"' || r == '\''):
			if quote == 0 {
				quote = r
			} else {
				quote = 0
			}
			return -1
		case quote != 0 && r == ' ':
			return '\x00' // stays inside its word
		}
		return r
	}, line), func(r rune) bool { return r == ' ' || r == '\t' })
	for _, p := range parts {
		words = append(words, strings.ReplaceAll(p, "\x00", " "))
	}
	return words
}

// units says which unit is examined.
func (x *examination) units(context.Context) []Finding {
	switch {
	case x.Settings != nil:
		return nil
	case x.unit == nil && x.exists(openrcFile):
		return okf("%s, for OpenRC", openrcFile)
	case x.unit == nil && !x.exists("/usr/local/share/gophd/systemd/gophd.service"):
		return faultf(diag.Command("sudo", "make", "install"), "gophd is not installed; gophd doctor DIR examines one that is not")
	case x.unit == nil:
		return faultf(diag.Command("cp", "/usr/local/share/gophd/systemd/gophd.service", "/usr/local/share/gophd/systemd/gophd.socket", "/etc/systemd/system/")+" && "+diag.Command("systemctl", "daemon-reload"),
			"there is no gophd.service; gophd doctor DIR examines a gophd without one")
	case len(x.unit.dropIns) == 0:
		return okf("%s, without drop-ins", x.unit.file)
	}
	return okf("%s, with %s", x.unit.file, strings.Join(x.unit.dropIns, ", "))
}

// settings reports a setting with which gophd would not start.
func (x *examination) settings(context.Context) []Finding {
	err := x.failed
	if err == nil {
		_, err = x.flags.Settings()
	}
	if err == nil {
		return okf("gophd understands all of them")
	}
	text, command := err.Error(), "gophd -help"
	var e *exit.CommandError
	if errors.As(err, &e) && e.Hint != "" {
		text += "; " + e.Hint
	}
	if x.Settings == nil {
		command = x.mend(err.Error(), text)
	} else if name, ok := strings.CutPrefix(err.Error(), "unknown variable "); ok {
		command = diag.Command("unset", name)
	}
	return faultf(command, "%s", text)
}

// mend returns the command that takes a wrong setting out of its file, or gives it the name
// that it was meant to have.
func (x *examination) mend(message, hint string) string {
	file := settingsFile
	if x.unit == nil {
		file = openrcFile
	}
	for _, line := range assignments(x.read(file)) {
		name, _, _ := strings.Cut(line, "=")
		flag := "-" + strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, "GOPHD_"), "_", "-"))
		if !slices.ContainsFunc(strings.FieldsFunc(message, func(r rune) bool { return r == ' ' || r == ':' || r == ',' }), func(word string) bool { return word == name || word == flag }) {
			continue
		}
		if _, near, ok := strings.Cut(hint, "did you mean GOPHD_"); ok {
			near, _, _ = strings.Cut(near, "?")
			return diag.Command("sed", "-i", "s/^"+name+"=/GOPHD_"+near+"=/", file) + " && " + x.restart()
		}
		return diag.Command("sed", "-i", "s/^"+name+"=/#&/", file) + " && " + x.restart()
	}
	return "${EDITOR:-vi} " + file
}

// restart is the command that starts the server again, also after it has failed.
func (x *examination) restart() string {
	switch {
	case x.Settings != nil && len(x.at) > 0 && len(x.listeners(x.at[0].Port())) == 0:
		return x.start()
	case x.Settings != nil:
		return diag.Command("kill", x.pid()) + "; " + x.start()
	case x.unit == nil:
		return diag.Command("rc-service", "gophd", "restart")
	}
	return resetFailed + "; " + diag.Command("systemctl", "restart", "gophd.socket", "gophd.service")
}

// start is the command that starts a server without a unit.
func (x *examination) start() string {
	return diag.Command(append([]string{"gophd"}, x.Args...)...)
}

// pid is the process that holds the server's port, or PID if this user does not see it.
func (x *examination) pid() string {
	port := uint16(70)
	if len(x.at) > 0 {
		port = x.at[0].Port()
	}
	inodes := x.listeners(port)
	for _, pid := range x.processes("gophd") {
		open, _ := filepath.Glob(x.onMachine("/proc/" + pid + "/fd/*"))
		for _, fd := range open {
			to, _ := os.Readlink(fd)
			if slices.Contains(inodes, strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")) {
				return pid
			}
		}
	}
	return "PID"
}

// dropIns reports settings that the unit does not allow.
func (x *examination) dropIns(context.Context) []Finding {
	if x.unit == nil || x.Settings != nil {
		return nil
	}
	var all []Finding
	if x.unit.has("PrivateNetwork", "yes") {
		if len(x.flags.Listen) > 0 {
			all = append(all, faultf(systemd.Activate("listen"), "the unit has no network of its own, so gophd cannot listen at %s", x.flags.Listen[0])...)
		}
		if x.flags.Metrics != "" {
			all = append(all, faultf(systemd.Activate("metrics"), "the unit has no network of its own, so gophd cannot listen at %s for Prometheus", x.flags.Metrics)...)
		}
	}
	if x.flags.User != "" {
		all = append(all, faultf(x.mend("-user", ""), "the unit has a user: GOPHD_USER cannot work there")...)
	}
	if all == nil {
		return okf("the unit allows what the settings ask for")
	}
	return all
}
