package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/gophd/gophd/internal/daemon"
)

var update = flag.Bool("update", false,
	"write the headings of the flags in gophd(8) and the table of flags in systemd.txt")

// TestPageIsOfTheFlags: the rows of the flags write the headings in FLAGS of gophd(8), in
// their order: the page has only the text below each.
func TestPageIsOfTheFlags(t *testing.T) {
	const file = "../../doc/gophd.8.md"
	text, err := os.ReadFile(file)
	must(t, err)
	before, flags, _ := strings.Cut(string(text), "\n### Content\n")
	flags, after, _ := strings.Cut(flags, "\n### Other\n")

	// The text below each heading.
	below := map[string]string{}
	heading := regexp.MustCompile(`(?m)^\*\*-([a-z-]+)\*\*.*\n: `)
	at := heading.FindAllStringSubmatchIndex(flags, -1)
	for i, m := range at {
		end := len(flags)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		text, _, _ := strings.Cut(flags[m[1]:end], "\n### ")
		below[flags[m[2]:m[3]]] = strings.TrimSpace(text)
	}

	var b strings.Builder
	b.WriteString(before + "\n")
	last := ""
	rows := serveFlags(&daemon.Flags{})
	for _, f := range rows {
		o := f.(*option)
		if o.category != last {
			fmt.Fprintf(&b, "### %s\n\n", o.category)
			last = o.category
		}
		if below[o.name] == "" {
			t.Errorf("FLAGS has no text below -%s", o.name)
		}
		fmt.Fprintf(&b, "%s\n: %s\n\n", pageHeading(o, rows), below[o.name])
		delete(below, o.name)
	}
	for name := range below {
		t.Errorf("-%s is in FLAGS, and no flag", name)
	}
	b.WriteString("### Other\n" + after)
	comparePage(t, file, string(text), b.String())
}

// pageHeading is the heading of a flag in gophd(8).
func pageHeading(o *option, rows []cli.Flag) string {
	value := ""
	if !o.toggle {
		value = " *" + o.value + "*"
	}
	notes := "*" + daemon.Variable(o.name) + "*"
	if def := o.shownDefault(); def != "" {
		notes += ", default " + def
	}
	if o.reset != nil {
		notes += ", may be repeated"
	}
	if o.needs != "" {
		_, needed := o.needed(rows)
		notes += ", needs **" + needed + "**"
	}
	return fmt.Sprintf("**-%s**%s (%s)", o.name, value, notes)
}

// comparePage fails if a page is not as it should be, or writes it.
func comparePage(t *testing.T, file, is, want string) {
	t.Helper()
	switch {
	case is == want:
	case *update:
		must(t, os.WriteFile(file, []byte(want), 0o644))
	default:
		t.Errorf("%s is not what the flags say: go test ./cmd/gophd -update", file)
	}
}

// unitNeeds says what a flag needs where gophd.service runs gophd; the others need nothing.
var unitNeeds = map[string]string{
	"access-log":      "/var/log/gophd/access.log",
	"fastcgi":         "a socket that the user gophd may write to",
	"finger":          "a socket with FileDescriptorName=finger",
	"gemini":          "gophd-listen.conf, or a socket as for -finger",
	"inetd":           "another unit: a service for each connection",
	"listen":          "gophd-listen.conf, or gophd-port.conf",
	"metrics":         "gophd-metrics.conf",
	"mount":           "below /home: gophd-root.conf",
	"nex":             "gophd-listen.conf, or a socket as for -finger",
	"root":            "below /home: gophd-root.conf",
	"search-dir":      "/var/lib/gophd",
	"spartan":         "a socket with FileDescriptorName=spartan",
	"tls-cert":        "/run/credentials/gophd.service/gophd.crt",
	"tls-key":         "/run/credentials/gophd.service/gophd.key",
	"tls-self-signed": "/var/lib/gophd",
	"user":            "nothing: the unit has a user, leave it out",
	"users":           "gophd-users.conf",
	"vhost":           "below /home: gophd-root.conf",
}

// TestUnitNeeds: the rows of the flags write the table in systemd.txt, which has all flags.
func TestUnitNeeds(t *testing.T) {
	const file = "../../content/manual/systemd.txt"
	var names []string
	for _, f := range serveFlags(&daemon.Flags{}) {
		names = append(names, f.Names()[0])
	}
	slices.Sort(names)
	var rows strings.Builder
	others := "All others need nothing:"
	for _, name := range names {
		if need := unitNeeds[name]; need != "" {
			fmt.Fprintf(&rows, "    -%-16s%s\n", name, need)
		} else {
			others += " -" + name
		}
	}
	for name := range unitNeeds {
		if !slices.Contains(names, name) {
			t.Errorf("there is no -%s", name)
		}
	}
	page, err := os.ReadFile(file)
	must(t, err)
	table := regexp.MustCompile(`(?s)\n    -access-log .*\nAll others need nothing:[^.]*\.\n`)
	if !table.Match(page) {
		t.Fatal("systemd.txt has no table of flags")
	}
	want := "\n" + rows.String() + "\n" +
		strings.ReplaceAll(wrap(others, helpWidth-67),
			"\n"+strings.Repeat(" ", helpWidth-67), "\n") + ".\n"
	comparePage(t, file, string(page), table.ReplaceAllLiteralString(string(page), want))
}
