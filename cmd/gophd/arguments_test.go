package main

import (
	"io"
	"slices"
	"strings"
	"testing"
)

func TestArrange(t *testing.T) {
	for in, want := range map[string]string{
		"gophd":                                       "gophd",
		"gophd -root x -quiet":                        "gophd -root x -quiet",
		"gophd get gopher://h/ -raw":                  "gophd get -raw -- gopher://h/",
		"gophd robots check gopher://h/ -root x":      "gophd robots check -root x -- gopher://h/",
		"gophd robots check --root=x -json":           "gophd robots check --root=x -json",
		"gophd robots -root x check":                  "gophd robots check -root x",
		"gophd -root x robots check":                  "gophd robots check -root x",
		"gophd robots test - /a -agent b /c":          "gophd robots test -agent b -- - /a /c",
		"gophd robots test f -json -- -agent -- /c":   "gophd robots test -json -- f -agent -- /c",
		"gophd help robots check":                     "gophd robots check -help",
		"gophd robots -help":                          "gophd robots -help",
		"gophd robots show -root":                     "gophd robots show -root",
		"gophd robots explain /a -root x -agent y /b": "gophd robots explain -root x -agent y -- /a /b",
	} {
		got, err := arrange(newApp(nil, io.Discard, io.Discard), strings.Fields(in))
		if err != nil || !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: got %q (%v), want %q", in, got, err, want)
		}
	}
}

func TestArrangeHints(t *testing.T) {
	for in, want := range map[string]string{
		"gophd robot":                       `unknown command "robot"; did you mean gophd robots?`,
		"gophd serve -root x":               `unknown command "serve"; to serve a directory: gophd -root DIR`,
		"gophd robots chekc -root x":        `unknown command "robots chekc"; did you mean gophd robots check?`,
		"gophd chek -root x":                `did you mean gophd robots check?`,
		"gophd robots frobnicate":           `the commands are show, check, explain, test, lint, convert`,
		"gophd -roto x":                     `unknown flag "-roto"; did you mean -root?`,
		"gophd robots check -frobnicate":    `unknown flag "-frobnicate"; gophd robots check -help lists the flags`,
		"gophd -listen :7070 robots check":  `unknown flag "-listen"`,
		"gophd robots -agent x show -root ": `unknown flag "-agent"`,
	} {
		_, err := arrange(newApp(nil, io.Discard, io.Discard), strings.Fields(in))
		var out strings.Builder
		status := exit(err, &out)
		text := strings.ReplaceAll(strings.TrimSpace(out.String()), "\ngophd: hint: ", "; ")
		if status != exitUsage || !strings.Contains(text, want) {
			t.Errorf("%s: status %d, %q, want %q", in, status, text, want)
		}
	}
}
