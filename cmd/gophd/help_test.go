package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gophd/gophd/internal/command/exit"
)

// Each help fits a terminal and names every value.
func TestHelpFits(t *testing.T) {
	for _, command := range []string{
		"gophd", "gophd get", "gophd robots", "gophd robots show", "gophd robots check",
		"gophd robots explain",
		"gophd robots test", "gophd robots lint", "gophd robots convert",
	} {
		out, errs, status := gophd(append(strings.Fields(command)[1:], "-help")...)
		if status != exit.OK || errs != "" {
			t.Errorf("%s -help: status %d, %s", command, status, errs)
		}
		for line := range strings.Lines(out) {
			if utf8.RuneCountInString(line) > 81 {
				t.Errorf("%s -help: more than 80 columns: %s", command, line)
			}
			if strings.Contains(line, " value ") || strings.Contains(line, " int ") ||
				strings.Contains(line, "m0s") {
				t.Errorf("%s -help: a value without a name: %s", command, line)
			}
		}
	}
}

// Every flag has a name for its value.
func TestEveryFlag(t *testing.T) {
	for _, o := range options(newApp()) {
		if value := o.value; !o.toggle && strings.ToUpper(value) != value {
			t.Errorf("-%s: its value has no name: %s", o.name, o.usage)
		}
	}
}
