package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/daemon"
	"github.com/gophd/gophd/internal/process/systemd"
)

// systemctl returns a command of systemd.
func systemctl(words ...string) string {
	return diag.Command(append([]string{"systemctl"}, words...)...)
}

// The commands of systemd that several faults need.
var (
	daemonReload = systemctl("daemon-reload")
	enableGophd  = systemctl("enable", "--now", "gophd.socket")
)

// unitNames are the units of the package: the service, its socket, those of the fronts.
var unitNames = []string{"gophd.service", "gophd.socket", "gophd-gemini.socket",
	"gophd-spartan.socket", "gophd-nex.socket", "gophd-finger.socket"}

// The files of settings; OpenRC's for machines without systemd.
const (
	settingsFile = "/etc/default/gophd"
	openrcFile   = "/etc/conf.d/gophd"
)

// properties are what systemctl show prints of a unit. A property that is printed several
// times has one value a line.
type properties map[string]string

func (p properties) yes(name string) bool { return p[name] == "yes" }

// readUnits reads the properties of the units by systemctl show. It returns none where there is
// no gophd.service.
func (d *Doctor) readUnits(ctx context.Context) map[string]properties {
	out, err := d.command(ctx, append([]string{"systemctl", "show", "--no-pager"}, unitNames...)...)
	if err != nil {
		return nil
	}
	units := map[string]properties{}
	for block := range strings.SplitSeq(string(out), "\n\n") {
		p := properties{}
		for line := range strings.Lines(block) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
			if p[name] != "" {
				value = p[name] + "\n" + value
			}
			p[name] = value
		}
		units[p["Id"]] = p
	}
	if state := units[unitNames[0]]["LoadState"]; state == "" || state == "not-found" {
		return nil
	}
	return units
}

// underSystemd reports whether the service of systemd is examined.
func (x *examination) underSystemd() bool { return len(x.units) > 0 }

func (x *examination) unit() properties { return x.units[unitNames[0]] }

// loaded reports units that systemd does not start as they are.
func (x *examination) loaded(context.Context) {
	switch {
	case x.Settings != nil:
		return
	case x.underSystemd():
	case x.exists(openrcFile):
		x.ok("%s, for OpenRC", openrcFile)
		return
	case x.exists("/usr/local/share/gophd/systemd/gophd.service"):
		x.fault(then(diag.Command("cp", "/usr/local/share/gophd/systemd/gophd.service",
			"/usr/local/share/gophd/systemd/gophd.socket", "/etc/systemd/system/"), daemonReload),
			"there is no gophd.service; gophd doctor DIR examines a gophd without one")
		return
	default:
		x.fault(diag.Command("sudo", "make", "install"),
			"systemd has no gophd.service; gophd doctor DIR examines a gophd without one")
		return
	}

	changed := ""
	for _, name := range unitNames {
		unit := x.units[name]
		switch unit["LoadState"] {
		case "masked":
			x.restarted(systemctl("unmask", name),
				"%s is masked: systemd does not start it", name)
		case "bad-setting", "error":
			x.restarted(x.mendUnit(unit), "systemd does not load %s: %s", name, unit["LoadError"])
		}
		added, _ := filepath.Glob(x.onMachine("/etc/systemd/system/" + name + ".d/*.conf"))
		unread := slices.ContainsFunc(added, func(file string) bool {
			return !slices.Contains(strings.Fields(unit["DropInPaths"]),
				"/"+strings.TrimPrefix(strings.TrimPrefix(file, x.Machine), "/"))
		})
		if unit.yes("NeedDaemonReload") || unread { // systemd does not notice a directory that is new
			changed = cmp.Or(changed, name)
		}
	}
	if changed != "" {
		x.restarted(daemonReload, "%s was changed, and systemd has not read it again", changed)
	}
	if x.none() {
		text := x.unit()["FragmentPath"]
		between := ", with "
		for file := range strings.FieldsSeq(x.unit()["DropInPaths"] + " " +
			x.units["gophd.socket"]["DropInPaths"]) {
			text += between + filepath.Base(file)
			between = ", "
		}
		x.ok("%s", text)
	}
}

// mendUnit returns the command for a unit that systemd does not load. The usual mistake is
// a drop-in whose ExecStart= adds a second command: an empty one before it removes the first.
func (x *examination) mendUnit(unit properties) string {
	for file := range strings.FieldsSeq(unit["DropInPaths"]) {
		starts := regexp.MustCompile(`(?m)^ExecStart=(.*)$`).FindStringSubmatch(x.read(file))
		if starts != nil && strings.TrimSpace(starts[1]) != "" {
			return then(diag.Command("sed", "-i", `0,/^ExecStart=./s//ExecStart=\n&/`, file),
				daemonReload)
		}
	}
	return then(systemctl("revert", unit["Id"]), daemonReload)
}

// service reports the sockets of fronts that do not listen, and a service that has failed,
// with its last message in the journal.
func (x *examination) service(ctx context.Context) {
	if !x.underSystemd() {
		return
	}
	for _, name := range x.sockets()[1:] {
		if state := x.units[name]["ActiveState"]; state != "active" {
			x.restarted("", "%s is enabled and does not listen: it is %s", name, state)
		}
	}
	unit := x.unit()
	if unit["ActiveState"] == "failed" || unit["Result"] != "success" ||
		x.units["gophd.socket"]["ActiveState"] == "failed" {
		x.restarted("", "the service failed (%s, status %s)%s", unit["Result"],
			unit["ExecMainStatus"], x.lastError(ctx))
	}
	if x.none() {
		x.ok("%s", unit["ActiveState"])
	}
}

// lastError returns the last error of the service in the journal, with its hint.
func (x *examination) lastError(ctx context.Context) (text string) {
	out, _ := x.command(ctx, "journalctl", "--no-pager", "-q", "-o", "cat", "-n", "50", "-p",
		"warning", "-t", "gophd", "-u", unitNames[0])
	for line := range strings.Lines(string(out)) {
		message, ok := strings.CutPrefix(strings.TrimSpace(line), "gophd: ")
		if hint, isHint := strings.CutPrefix(message, "hint: "); isHint {
			text += " (hint: " + hint + ")"
		} else if ok {
			text = ": " + message
		}
	}
	return text
}

// started returns the arguments and the variables that the service starts with.
func (x *examination) started() (args, env []string) {
	if !x.underSystemd() {
		for _, s := range parseSettings(x.read(openrcFile)) {
			env = append(env, strings.TrimSpace(strings.TrimPrefix(s.name, "export "))+"="+s.value)
		}
		return nil, env
	}
	env = unquoted(x.unit()["Environment"])
	for line := range strings.Lines(x.unit()["EnvironmentFiles"]) {
		file, _, _ := strings.Cut(line, " (")
		for _, s := range parseSettings(x.read(strings.TrimSpace(file))) {
			if s.valid() {
				env = append(env, s.name+"="+s.value)
			}
		}
	}
	if _, line, ok := strings.Cut(x.unit()["ExecStart"], "argv[]="); ok {
		line, _, _ = strings.Cut(line, " ;")
		args = unquoted(line)[1:]
	}
	return args, env
}

// A setting is one assignment of a file of settings.
type setting struct {
	line        int
	name, value string
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// valid reports whether systemd accepts the name. It ignores others.
func (s setting) valid() bool { return variableName.MatchString(s.name) }

// parseSettings parses an EnvironmentFile= of systemd.exec(5): a line that ends with a
// backslash continues.
func parseSettings(text string) (all []setting) {
	number := 0
	for _, line := range strings.Split(strings.ReplaceAll(text, "\\\n", "\x00"), "\n") {
		first := number + 1
		number += 1 + strings.Count(line, "\x00")
		line = strings.TrimSpace(strings.ReplaceAll(line, "\x00", ""))
		name, value, ok := strings.Cut(line, "=")
		if !ok || line[0] == '#' || line[0] == ';' {
			continue
		}
		all = append(all, setting{first, strings.TrimSpace(name),
			strings.Trim(strings.TrimSpace(value), `"'`)})
	}
	return all
}

var quotedWord = regexp.MustCompile(`(?:[^\s"']|"[^"]*"|'[^']*')+`)

// unquoted splits a line at blanks outside of quotes.
func unquoted(line string) (words []string) {
	for _, word := range quotedWord.FindAllString(line, -1) {
		words = append(words, strings.NewReplacer(`"`, "", "'", "").Replace(word))
	}
	return words
}

// file is the file of the settings.
func (x *examination) file() string {
	if x.underSystemd() || x.AsService {
		return settingsFile
	}
	return openrcFile
}

// settings reports lines that look like settings and set nothing, and settings with which gophd
// would not start.
func (x *examination) settings(context.Context) {
	err := x.failed
	if err == nil {
		_, err = x.flags.Settings()
	}
	if x.Settings == nil {
		x.assignments(err)
	} else if err != nil {
		command := "gophd -help"
		if name, ok := strings.CutPrefix(err.Error(), "unknown variable "); ok {
			command = diag.Command("unset", name)
		}
		x.fault(command, "%s", hinted(err))
	}
	if x.none() {
		x.ok("all valid")
	}
}

// hinted returns an error with its hint.
func hinted(err error) string {
	var e *exit.CommandError
	if errors.As(err, &e) && e.Hint != "" {
		return err.Error() + "; " + e.Hint
	}
	return err.Error()
}

// assignments reports lines of the file of settings that set nothing, and the error of the
// settings, with the command that corrects the name or removes the line.
func (x *examination) assignments(err error) {
	command := "${EDITOR:-vi} " + x.file()
	var words []string
	if err != nil {
		words = strings.FieldsFunc(err.Error(), func(r rune) bool {
			return r == ' ' || r == ':' || r == ','
		})
	}
	for _, s := range parseSettings(x.read(x.file())) {
		name := strings.ToUpper(strings.TrimSpace(strings.TrimPrefix(s.name, "export ")))
		flag, mine := strings.CutPrefix(name, "GOPHD_")
		flag = "-" + strings.ToLower(strings.ReplaceAll(flag, "_", "-"))
		shell := !x.underSystemd() && strings.HasPrefix(s.name, "export GOPHD_")
		if mine && !shell && s.name != name {
			mend := x.sed(fmt.Sprintf(`%ds/^[^=]*=[[:space:]]*/%s=/`, s.line, name))
			x.restarted(mend, "%s:%d: %s= sets nothing: a line is %s=VALUE", x.file(), s.line,
				s.name, name)
		}
		if slices.Contains(words, s.name) || slices.Contains(words, flag) {
			command = x.sed(fmt.Sprintf("s/^%s=/#&/", s.name))
			if _, near, ok := strings.Cut(hinted(err), "did you mean GOPHD_"); ok {
				near, _, _ = strings.Cut(near, "?")
				command = x.sed(fmt.Sprintf("s/^%s=/GOPHD_%s=/", s.name, near))
			}
		}
	}
	if err != nil {
		x.restarted(command, "%s", hinted(err))
	}
}

// sed is the command that changes the settings.
func (x *examination) sed(script string) string {
	return diag.Command("sed", "-i", script, x.file())
}

// restart is the command that starts the server again, also after it has failed.
func (x *examination) restart() string {
	switch {
	case x.Settings != nil && len(x.at) > 0 && len(x.listeners(portOf(x.at[0]))) == 0:
		return x.start()
	case x.Settings != nil:
		return diag.Command("kill", x.pid()) + "; " + x.start()
	case !x.underSystemd():
		return diag.Command("rc-service", "gophd", "restart")
	}
	units := append(x.sockets(), unitNames[0])
	all := func(verb string) string { return systemctl(append([]string{verb}, units...)...) }
	return all("reset-failed") + "; " + all("stop") + "; " + all("start") // a socket does not start while the service runs
}

// start is the command that starts a server that does not run.
func (x *examination) start() string {
	switch {
	case x.underSystemd():
		return systemctl("reset-failed", "gophd.service", "gophd.socket") + "; " +
			enableGophd
	case x.Settings == nil && x.exists(openrcFile):
		return diag.Command("rc-service", "gophd", "start")
	}
	return diag.Command(append([]string{"gophd"}, x.Args...)...)
}

// reload is the command that makes the server read everything again.
func (x *examination) reload() string {
	switch {
	case x.Settings != nil:
		return diag.Command("kill", "-HUP", x.pid())
	case !x.underSystemd():
		return diag.Command("rc-service", "gophd", "reload")
	}
	return systemctl("reload", "gophd")
}

// allowed reports addresses of flags at which the unit does not let gophd listen.
func (x *examination) allowed(context.Context) {
	if !x.underSystemd() {
		return
	}
	for _, f := range x.flags.Addresses() {
		if !x.unit().yes("PrivateNetwork") {
			break
		}
		command, instead := systemd.Activate(f.Flag), ""
		if f.Flag != "listen" && f.Flag != "metrics" {
			socket := socketOf(f.Flag)
			instead = ": " + socket + " does"
			command = then(x.sed("s/^"+daemon.Variable(f.Flag)+"=/#&/"),
				systemctl("enable", socket),
				systemctl("stop", "gophd.socket", "gophd.service"),
				systemctl("start", socket, "gophd.socket", "gophd.service"))
		}
		x.fault(command,
			"the unit has no network of its own, so gophd cannot listen at %s (-%s)%s",
			f.Addr, f.Flag, instead)
	}
	if x.none() {
		x.ok("the unit allows what the settings require")
	}
}
