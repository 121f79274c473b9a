package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

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

// TestUnitNeeds: systemd.txt has a row for each flag that needs something in the unit, and
// names the others.
func TestUnitNeeds(t *testing.T) {
	var rows, others strings.Builder
	var names []string
	for _, f := range newApp().Flags {
		names = append(names, f.Names()[0])
	}
	slices.Sort(names)
	others.WriteString("All others need nothing:")
	for _, name := range names {
		if need := unitNeeds[name]; need != "" {
			fmt.Fprintf(&rows, "    -%-16s%s\n", name, need)
		} else {
			others.WriteString(" -" + name)
		}
	}
	for name := range unitNeeds {
		if !slices.Contains(names, name) {
			t.Errorf("there is no -%s", name)
		}
	}
	want := rows.String() + "\n" + wrapAt(others.String(), 67) + ".\n"
	page, err := os.ReadFile("../../content/manual/systemd.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), want) {
		t.Errorf("content/manual/systemd.txt should have\n%s", want)
	}
}

func wrapAt(text string, width int) string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return strings.Join(append(lines, line), "\n")
}
