package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gophd/gophd/internal/daemon"
)

// TestPageHasTheFlags: gophd(8) has each row of the flags under its category, with the name
// of its value and its default.
func TestPageHasTheFlags(t *testing.T) {
	text, err := os.ReadFile("../../doc/gophd.8.md")
	must(t, err)
	_, page, _ := strings.Cut(string(text), "\n# FLAGS\n")
	page, _, _ = strings.Cut(page, "\n# COMMANDS\n")
	paragraphs := map[string]string{}
	categories := map[string]string{}
	category := ""
	for _, p := range strings.Split(page, "\n\n") {
		if name, ok := strings.CutPrefix(p, "### "); ok {
			category = name
			continue
		}
		if !strings.HasPrefix(p, "**-") {
			continue
		}
		for _, m := range regexp.MustCompile(`\*\*-([a-z-]+)\*\*`).FindAllStringSubmatch(firstLine(p), -1) {
			paragraphs[m[1]] = p
			categories[m[1]] = category
		}
	}
	for _, f := range serveFlags(&daemon.Flags{}) {
		o := f.(*option)
		p, ok := paragraphs[o.name]
		delete(paragraphs, o.name)
		if !ok {
			t.Errorf("-%s is not in FLAGS", o.name)
			continue
		}
		if want := string(o.category)[2:]; categories[o.name] != want {
			t.Errorf("-%s is in %q, and in -help in %q", o.name, categories[o.name], want)
		}
		if m := regexp.MustCompile("`(.*?)`").FindStringSubmatch(o.usage); m != nil {
			value := strings.NewReplacer("*", "", `\`, "").Replace(firstLine(p))
			if !strings.Contains(value, "-"+o.name+" "+m[1]) {
				t.Errorf("-%s: its value is %s, in %q", o.name, m[1], firstLine(p))
			}
		}
		def := strings.TrimSuffix(o.def, "0s")
		if o.def != "" && o.def != "0" && !strings.Contains(p, "*"+o.def+"*") && !strings.Contains(p, "*"+def+"*") {
			t.Errorf("-%s: no default *%s* in\n%s", o.name, def, p)
		}
	}
	for name := range paragraphs {
		if name != "help" && name != "version" {
			t.Errorf("-%s is in FLAGS, and no flag", name)
		}
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
