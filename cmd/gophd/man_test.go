package main

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// TestManPageHasRows: FLAGS of gophd(8) has the rows of the options: each flag under its
// category, with the name of its value, and with its default.
func TestManPageHasRows(t *testing.T) {
	page, err := os.ReadFile("../../doc/gophd.8.md")
	if err != nil {
		t.Fatal(err)
	}
	_, flags, _ := strings.Cut(string(page), "\n# FLAGS\n")
	flags, _, _ = strings.Cut(flags, "\n# ")
	for _, f := range newApp().Flags {
		o := f.(*option)
		_, section, _ := strings.Cut(flags, "\n### "+strings.TrimLeft(string(o.category), "0123456789 ")+"\n")
		section, _, _ = strings.Cut(section, "\n### ")
		value, _ := flag.UnquoteUsage(&flag.Flag{Usage: o.usage})
		head := "**-" + o.name + "**"
		if !o.toggle {
			head += " *"
		}
		_, entry, found := strings.Cut(section, "\n"+head)
		if !found { // several flags of one entry
			_, entry, found = strings.Cut(section, ", "+head)
		}
		said, _, _ := strings.Cut(entry, "\n")
		if !found || !o.toggle && !strings.HasPrefix(strings.NewReplacer("*", "", "\\", "").Replace(said), value) {
			t.Errorf("under %q: no %s%s, but %q", o.category, head, value, said)
			continue
		}
		entry, _, _ = strings.Cut(entry, "\n**-")
		if def := strings.Trim(defaultText(cli.DocGenerationFlag(o), ""), " ()"); def != "" && !strings.Contains(strings.NewReplacer("\n", " ", "*", "").Replace(entry), strings.TrimPrefix(def, "default ")) {
			t.Errorf("-%s: no default %q in %q", o.name, def, entry)
		}
	}
}
