package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gophd/gophd/internal/treetest"
)

// TestHintsQuoteNames: a hint that is pasted into a shell as root runs nothing that an
// author has written into a name, in whatever place of the hint the name is.
func TestHintsQuoteNames(t *testing.T) {
	const evil = "x;touch pwned;$(touch pwned)'\n"
	const line = "x;touch pwned;$(touch pwned)'" // in a map, a name has no newline
	top := t.TempDir()
	root := filepath.Join(top, evil)
	files := map[string]string{
		"d" + evil + "/.robot":     "Disallow: /\n",
		"d" + evil + "/robots.txt": "Disallow: /\n",
		"d" + evil + "/.robots":    "Disalow: /" + line + "\nDisallow: /" + line + "/x\n",
		"gophermap": "=" + line + " arg\n=> /" + line + " label\n1P\t/cgi-bin/" +
			line + "\n1Q\t/" + line + ".cgi\n0N\t/" + line + "/no.txt\n1H\t/a.txt\t" +
			line + "\t70\n",
		"~" + evil + "/gophermap":  "=" + line + "\n",
		line + "/not.txt":          "text\n",
		evil + ".cgi":              "#!/bin/sh\n",
		"cgi-bin/" + evil:          "#!/bin/sh\n",
		"e" + evil + "/index.dcgi": "#!/bin/sh\n",
		"p" + evil + ".php":        "<?php\n",
	}
	treetest.Write(t, root, files)
	homes, locked := filepath.Join(top, "homes"+evil),
		filepath.Join(top, "homes"+evil, "ann"+evil, "pub"+evil)
	empty := filepath.Join(top, "empty"+evil)
	for _, dir := range []string{locked, empty} {
		must(t, os.MkdirAll(dir, 0o755))
	}
	for _, dir := range []string{homes, filepath.Dir(locked)} {
		must(t, os.Chmod(dir, 0o700))
	}
	users := filepath.Join(homes, "*", "pub"+evil)

	quoted := regexp.MustCompile(`"(?:[^"\\]|\\.)*"`) // a name in words, as Go quotes it
	command := regexp.MustCompile(`'(?:[^']|'\\'')*'`)
	hinted := 0
	for _, args := range [][]string{
		{"check", root},
		{"check", "-user", "nobody", root},
		{"check", "-users", users, root},
		{"check", filepath.Join(top, "missing"+evil)},
		{"check-config", "-sandbox", "off", "-root", filepath.Join(top, "missing"+evil)},
		{"check-config", "-sandbox", "off", "-mount", "/x=" + filepath.Join(top, "missing"+evil),
			"-root", root},
		{"check-config", "-sandbox", "off", "-vhost",
			"v.example=" + filepath.Join(root, "gophermap"), "-root", root},
		{"check-config", "-sandbox", "off", "-users", users, "-root", root},
		{"check-config", "-sandbox", "off", "-root", empty},
		{"check-config", "-sandbox", "off", "-access-log",
			filepath.Join(top, "missing"+evil, "log"), "-root", root},
		{"doctor", "-root", root},
		{"doctor", "-root", root, "-users", users},
		{"doctor", "-root", filepath.Join(root, "gophermap")},
		{"doctor", "-root", filepath.Join(top, "missing"+evil), "-host", "x" + line},
		{"init", root},
		{"manual", "robots" + line},
		{"robots", "check", root},
		{"robots", "check", filepath.Join(top, "missing"+evil)},
		{"robots", "explain", root, "/d" + evil + "/"},
		{"robots", "test", root},
		{"robots", "lint", filepath.Join(top, "missing"+evil)},
		{"get", "gopher://127.0.0.1:1/x" + line},
		{"wire", line},
		{"check" + evil},
		{"-sandbox", "off", "-listen", line, root},
	} {
		out, errs, _ := gophd(args...)
		for text := range strings.Lines(out + errs) {
			_, hint, found := strings.Cut(text, "hint: ")
			for _, name := range []string{"type", "back", "both"} {
				if !found {
					_, hint, found = strings.Cut(text, "  "+name+": ")
				}
			}
			if !found {
				continue
			}
			if strings.Contains(hint, "touch") {
				hinted++
			}
			if strings.Contains(command.ReplaceAllString(quoted.ReplaceAllString(hint, ""),
				""), "touch") {
				t.Errorf("gophd %q: %s", args, text)
			}
		}
	}
	if hinted < 20 {
		t.Errorf("only %d hints hold a name", hinted)
	}
}
