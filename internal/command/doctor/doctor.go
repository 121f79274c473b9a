// Package doctor is the command "gophd doctor": it examines an installed gophd and names
// one command for each fault. It reads the unit, its drop-ins, the settings and the tree,
// and asks the running server at its own addresses. It starts and changes nothing.
//
//	unit + settings (unit.go) → checks, each a list of findings → lines, or JSON
//
// A check is one method of examination. It returns nothing if it does not apply.
package doctor

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/command/terminal"
	"github.com/gophd/gophd/internal/daemon"
	"github.com/gophd/gophd/site"
)

// Doctor is gophd doctor.
type Doctor struct {
	// Settings are the flags of the server to examine. If nil, they are those of the unit.
	Settings *daemon.Flags
	Args     []string // that Settings were read from
	Failed   error    // why Settings cannot be used
	// Parse reads arguments and variables (NAME=VALUE) as the server would.
	Parse func(args, env []string) (*daemon.Flags, error)

	JSON bool
	Only string // the name of one check; "": all
	Out  io.Writer
	Err  io.Writer // is shown how far it is, if it is a terminal

	// Machine is the root of the machine to examine. If "", this machine's.
	Machine string
	// Addrs are the machine's addresses. If nil, its interfaces are asked.
	Addrs []netip.Addr
	// Resolve looks a host name up. If nil, as the system does.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
}

// A Finding is the result of one check.
type Finding struct {
	Check string `json:"check"`
	OK    bool   `json:"ok"`
	Text  string `json:"text"`
	Type  string `json:"type,omitempty"` // the command that mends a fault
	Back  string `json:"back,omitempty"` // the command that undoes it
	Both  string `json:"both,omitempty"` // another way, which changes nothing for others
}

// examination is one run. Its fields are filled in before the checks.
type examination struct {
	*Doctor
	unit   *service // nil: none is installed
	flags  *daemon.Flags
	failed error // why the settings cannot be read
	at     []netip.AddrPort
	tree   *site.Site     // of the first host; nil: not open
	snap   *site.Snapshot // its policy; nil: not read
	noSite error
	silent string // why the server is not asked; "": it is
	said   map[string]heard
}

// A checkup is one check.
type checkup struct {
	name string
	run  func(*examination, context.Context) []Finding
	tree bool // needs the tree
}

// checks are in the order of a start: a fault further up often explains those below.
var checks = []checkup{
	{"unit", (*examination).units, false},
	{"settings", (*examination).settings, false},
	{"sandbox", (*examination).dropIns, false},
	{"directories", (*examination).directories, false},
	{"homes", (*examination).homes, false},
	{"uids", (*examination).uids, false},
	{"port", (*examination).port, false},
	{"name", (*examination).hostName, false},
	{"certificate", (*examination).certificates, false},
	{"programs", (*examination).programs, false},
	{"writable", (*examination).writable, false},
	{"outside", (*examination).outside, false},
	{"keys", (*examination).keys, true},
	{"annotations", (*examination).annotations, true},
	{"robots.txt", (*examination).robots, true},
	{"noindex", (*examination).noindex, true},
	{"search", (*examination).search, true},
}

// askTimeout bounds each question to the server.
const askTimeout = 5 * time.Second

// Run examines and prints. Its error is [exit.ErrNo] if there is a fault.
func (d *Doctor) Run(ctx context.Context) error {
	run := checks
	if d.Only != "" {
		i := slices.IndexFunc(checks, func(c checkup) bool { return c.name == d.Only })
		if i < 0 {
			return exit.Usagef("one of "+Names(), "unknown check %q", d.Only)
		}
		run = checks[i : i+1]
	}
	x := d.begin()
	if d.Only == "" && d.Settings == nil && !d.Installed() {
		run = checks[:1]
	}
	if slices.ContainsFunc(run, func(c checkup) bool { return c.tree }) && x.flags.Root != "" {
		defer x.readTree(ctx)()
	}
	all := []Finding{}
	for _, c := range run {
		for _, f := range c.run(x, ctx) {
			f.Check = c.name
			all = append(all, f)
		}
	}
	if err := d.print(all); err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(f Finding) bool { return !f.OK }) {
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
func (d *Doctor) Installed() bool {
	return readService(d.Machine, "gophd") != nil || d.exists(openrcFile)
}

// begin reads the unit and the settings.
func (d *Doctor) begin() *examination {
	x := &examination{Doctor: d, unit: readService(d.Machine, "gophd"), flags: d.Settings, failed: d.Failed, said: map[string]heard{}}
	if x.flags == nil {
		x.flags, x.failed = d.Parse(x.started())
	}
	if x.Addrs == nil {
		x.Addrs = interfaces()
	}
	x.at = x.addresses()
	x.silent = x.whySilent()
	return x
}

// readTree reads the tree and compiles its policy; robots.txt names the sitemaps. The
// tree stays open until closed is called.
func (x *examination) readTree(ctx context.Context, sitemaps ...string) (closed func()) {
	conf, _, err := x.flags.Parts()
	conf.Sitemaps = sitemaps
	conf.Watch, conf.Files, conf.Users = site.WatchOff, true, x.onMachine(conf.Users)
	for name, dir := range conf.Mounts {
		conf.Mounts[name] = x.onMachine(dir)
	}
	var tree *site.Site
	if err == nil {
		tree, err = site.Open(x.onMachine(x.flags.Root), conf)
	}
	if x.noSite = err; err != nil {
		return func() {}
	}
	defer terminal.Progress(x.Err, func() string { return fmt.Sprintf("reading the tree: %d directories", tree.Scanned()) })()
	snap, stop, err := tree.Read(ctx)
	if x.tree, x.snap, x.noSite = tree, snap, err; err != nil {
		return tree.Close
	}
	return func() { _ = stop(); tree.Close() }
}

// onMachine is where an absolute path of the examined machine lies here.
func (d *Doctor) onMachine(name string) string {
	if d.Machine == "" || !filepath.IsAbs(name) {
		return name
	}
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

// okf and faultf make findings.
func okf(format string, args ...any) []Finding {
	return []Finding{{OK: true, Text: fmt.Sprintf(format, args...)}}
}

func faultf(command, format string, args ...any) []Finding {
	return []Finding{{Type: command, Text: fmt.Sprintf(format, args...)}}
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
		word := ok
		if !f.OK {
			word = fault
		}
		fmt.Fprintf(&b, "%s %s: %s\n", word, f.Check, diag.Printable(f.Text))
		for _, line := range []struct{ name, command string }{{"type", f.Type}, {"back", f.Back}, {"both", f.Both}} {
			if line.command != "" {
				fmt.Fprintf(&b, "  %s: %s\n", line.name, diag.Printable(line.command))
			}
		}
	}
	_, err := io.WriteString(d.Out, b.String())
	return err
}

// interfaces lists the addresses of this machine.
func interfaces() (all []netip.Addr) {
	list, _ := net.InterfaceAddrs()
	for _, a := range list {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			all = append(all, p.Addr().Unmap())
		}
	}
	return all
}
