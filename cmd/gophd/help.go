package main

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"text/template"
	"time"

	"github.com/urfave/cli/v2"
)

// commandHelp is the help of a command.
const commandHelp = `{{.HelpName}}: {{.Usage}}

Usage:
  {{.HelpName}} {{if .VisibleFlags}}[FLAG]... {{end}}{{.ArgsUsage}}
{{if .VisibleFlags}}
Flags:
{{range .VisibleFlags}}  {{flagLine .}}
{{end}}{{end}}`

// printHelp prints a help template, which may use flagLine.
func printHelp(w io.Writer, text string, data any) {
	cli.HelpPrinterCustom(w, text, data, template.FuncMap{"flagLine": flagLine, "title": title})
}

// title takes the number off a category, which only sorts it.
func title(category string) string { return strings.TrimLeft(category, "0123456789 ") }

// flagLine shows a flag: -name VALUE  what it is (its default).
func flagLine(f any) string {
	doc, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return ""
	}
	value, usage := flag.UnquoteUsage(&flag.Flag{Usage: doc.GetUsage()})
	if doc.TakesValue() {
		usage = strings.TrimPrefix(usage, value+" ") + defaultText(doc, usage)
	} else {
		value = ""
	}
	name := strings.TrimSpace("-" + doc.(cli.Flag).Names()[0] + " " + value)
	return fmt.Sprintf("%-*s  %s", helpColumn-4, name, wrap(usage, helpColumn))
}

// helpColumn is where the text of a flag begins, helpWidth where it ends.
const (
	helpColumn = 29
	helpWidth  = 80
)

// defaultText tells the default of a flag that has one and does not say it.
func defaultText(f cli.DocGenerationFlag, usage string) string {
	def := strings.Trim(f.GetDefaultText(), `"`)
	if d, err := time.ParseDuration(def); err == nil && d > 0 {
		def = strings.TrimSuffix(strings.Replace(d.String(), "m0s", "m", 1), "h0m")
	}
	if def == "" || def == "0" || strings.Contains(usage, "default") {
		return ""
	}
	return " (default " + def + ")"
}

// wrap breaks a text that begins in a column into lines, each indented there.
func wrap(text string, column int) string {
	var b strings.Builder
	room := helpWidth - column
	for i, word := range strings.Fields(text) {
		switch n := len(word) + 1; {
		case i == 0:
			room -= n - 1
		case n > room:
			b.WriteString("\n" + strings.Repeat(" ", column))
			room = helpWidth - column - n + 1
		default:
			b.WriteByte(' ')
			room -= n
		}
		b.WriteString(word)
	}
	return b.String()
}
