// Package doctor is the command "gophd doctor": it examines an installed gophd and names
// one command for each fault. It changes nothing.
//
//	systemctl show, settings      the state of the units, and the settings of the next start (service.go)
//	preconditions, the tree       examined by a process that has the account and the
//	                              namespaces of the service (inside.go, tree.go)
//	questions to the live server  over each protocol that is on (port.go, ask.go)
//
// A check is one method of examination. It finds nothing if it does not apply.
package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/command/terminal"
	"github.com/gophd/gophd/internal/daemon"
)

// Doctor is gophd doctor.
type Doctor struct {
	// Settings are the flags of the server to examine. If nil, they are those of the service.
	Settings *daemon.Flags
	Args     []string // that Settings were read from
	Failed   error    // why Settings cannot be used
	// Parse reads arguments and variables (NAME=VALUE) as the server would.
	Parse func(args, env []string) (*daemon.Flags, error)

	// AsService is for the process that doctor starts with the account and the namespaces of
	// the service: it prints what it finds as a [sight].
	AsService bool

	JSON bool
	Only string // the name of one check; "": all
	Out  io.Writer
	Err  io.Writer // is shown how far it is, if it is a terminal

	// Machine is the directory of the system's own files: settings, units, processes. If "", /.
	Machine string
	// Command runs a program of the machine. If nil, exec does.
	Command func(ctx context.Context, words ...string) ([]byte, error)
	// Addrs are the machine's addresses. If nil, those of its interfaces.
	Addrs []netip.Addr
	// Resolve looks a host name up. If nil, as the system does.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
}

// A Finding is the result of one check.
type Finding struct {
	Check   string `json:"check"`
	OK      bool   `json:"ok"`
	Unknown bool   `json:"unknown,omitempty"` // it could not be examined; no fault
	Text    string `json:"text"`
	Type    string `json:"type,omitempty"` // the command that mends a fault
	Back    string `json:"back,omitempty"` // the command that undoes it
	Both    string `json:"both,omitempty"` // another way, which changes nothing for others

	// Restart reports whether the server must be restarted after Type, which then lacks it:
	// the process with the account of the service does not know how.
	Restart bool `json:"restart,omitempty"`
}

// examination is one run. Its fields are filled in before the checks.
type examination struct {
	*Doctor
	units  map[string]properties // of systemd; empty: it does not manage gophd
	flags  *daemon.Flags
	failed error    // why the settings cannot be read
	at     []string // addresses
	sight  sight    // what the service sees of the disk

	findings []Finding // so far
	faults   int       // among them
	check    string    // the present one
	before   int       // the findings of those before it
}

// enter begins a check.
func (x *examination) enter(check string) {
	x.check = check
	x.before = len(x.findings)
}

// none reports whether the check has found nothing yet.
func (x *examination) none() bool { return len(x.findings) == x.before }

// add notes a finding of the check.
func (x *examination) add(f Finding) {
	f.Check = x.check
	if f.Restart && !x.AsService {
		f.Type = then(f.Type, x.restart())
		f.Restart = false
	}
	if !f.OK && !f.Unknown {
		x.faults++
	}
	x.findings = append(x.findings, f)
}

func (x *examination) ok(format string, args ...any) {
	x.add(Finding{OK: true, Text: fmt.Sprintf(format, args...)})
}

// fault notes a fault and the command that mends it.
func (x *examination) fault(command, format string, args ...any) {
	x.add(Finding{Type: command, Text: fmt.Sprintf(format, args...)})
}

// restarted notes a fault that a restart mends, after a command if there is one.
func (x *examination) restarted(command, format string, args ...any) {
	x.add(Finding{
		Type:    command,
		Text:    fmt.Sprintf(format, args...),
		Restart: true,
	})
}

func (x *examination) unknown(format string, args ...any) {
	x.add(Finding{Unknown: true, Text: fmt.Sprintf(format, args...)})
}

// A checkup is one check.
type checkup struct {
	name string
	run  func(*examination, context.Context) // nil: it was made with the service's rights
}

// checks are in the order of a start: a fault further up often explains those below.
var checks = []checkup{
	{"unit", (*examination).loaded},
	{"settings", (*examination).settings},
	{"sandbox", (*examination).allowed},
	{"directories", nil},
	{"outside", nil},
	{"account", nil},
	{"uids", nil},
	{"keys", nil},
	{"writable", nil},
	{"programs", nil},
	{"annotations", nil},
	{"content", nil},
	{"homes", (*examination).homes},
	{"port", (*examination).port},
	{"service", (*examination).service},
	{"name", (*examination).hostName},
	{"certificate", (*examination).certificates},
	{"robots.txt", (*examination).robots},
	{"fronts", (*examination).fronts},
	{"noindex", (*examination).noindex},
	{"search", (*examination).search},
}

// askTimeout bounds each question to the server.
const askTimeout = 5 * time.Second

// Run examines and prints. Its error is [exit.ErrNo] if there is a fault.
func (d *Doctor) Run(ctx context.Context) error {
	if d.AsService {
		return json.NewEncoder(d.Out).Encode(d.look(ctx))
	}
	run := checks
	if d.Only != "" {
		i := slices.IndexFunc(checks, func(c checkup) bool { return c.name == d.Only })
		if i < 0 {
			return exit.Usagef("one of "+Names(), "unknown check %q", d.Only)
		}
		run = checks[i : i+1]
	}

	x := d.begin(ctx)
	if d.Only == "" && d.Settings == nil && !d.installed(x.units) {
		run = checks[:1]
	}
	if len(run) > 1 || run[0].name != "port" {
		x.lookAsService(ctx)
	}
	for _, c := range run {
		x.enter(c.name)
		for _, f := range x.sight.Findings {
			if f.Check == c.name {
				x.add(f)
			}
		}
		if c.run != nil {
			c.run(x, ctx)
		}
	}
	if len(x.findings) == 0 {
		x.unknown("nothing to examine with these settings")
	}
	if err := d.print(x.findings); err != nil {
		return err
	}
	if x.faults > 0 {
		return exit.ErrNo
	}
	return nil
}

// Names lists the names of all checks.
func Names() string {
	var names []string
	for _, c := range checks {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

// Installed reports whether the machine has a service for gophd.
func (d *Doctor) Installed(ctx context.Context) bool {
	return d.installed(d.readUnits(ctx))
}

func (d *Doctor) installed(units map[string]properties) bool {
	return len(units) > 0 || d.exists(openrcFile)
}

// begin reads the state of the units and the settings.
func (d *Doctor) begin(ctx context.Context) *examination {
	x := &examination{Doctor: d, flags: d.Settings, failed: d.Failed}
	if d.Settings == nil {
		x.units = d.readUnits(ctx)
		x.flags, x.failed = d.Parse(x.started())
	}
	if x.Addrs == nil {
		list, _ := net.InterfaceAddrs()
		for _, a := range list {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				x.Addrs = append(x.Addrs, p.Addr().Unmap())
			}
		}
	}
	x.at = x.listening("listen")
	return x
}

// command runs a program, and returns what it prints.
func (d *Doctor) command(ctx context.Context, words ...string) ([]byte, error) {
	if d.Command != nil {
		return d.Command(ctx, words...)
	}
	return exec.CommandContext(ctx, words[0], words[1:]...).Output() // #nosec G204: programs of systemd
}

// onMachine returns the path of a file of the system.
func (d *Doctor) onMachine(name string) string {
	return filepath.Join(d.Machine, name)
}

func (d *Doctor) read(name string) string {
	text, _ := os.ReadFile(d.onMachine(name))
	return string(text)
}

func (d *Doctor) exists(name string) bool {
	_, err := os.Lstat(d.onMachine(name))
	return err == nil
}

// then joins commands of which each needs the success of the one before.
func then(commands ...string) string {
	return strings.Join(slices.DeleteFunc(commands, func(command string) bool {
		return command == ""
	}), " && ")
}

// print writes the findings, in colours at a terminal.
func (d *Doctor) print(all []Finding) error {
	if d.JSON {
		return terminal.PrintJSON(d.Out, all)
	}
	ok, fault := "ok:", "fault:"
	if terminal.Is(d.Out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" {
		ok, fault = "\x1b[32mok:\x1b[0m", "\x1b[1;31mfault:\x1b[0m"
	}
	var b strings.Builder
	for _, f := range all {
		word := fault
		switch {
		case f.OK:
			word = ok
		case f.Unknown:
			word = "unknown:"
		}
		fmt.Fprintf(&b, "%s %s: %s\n", word, f.Check, diag.Printable(f.Text))
		for _, line := range []struct{ name, command string }{{"type", f.Type}, {"back", f.Back},
			{"both", f.Both}} {
			if line.command != "" {
				fmt.Fprintf(&b, "  %s: %s\n", line.name, diag.Printable(line.command))
			}
		}
	}
	_, err := io.WriteString(d.Out, b.String())
	return err
}
