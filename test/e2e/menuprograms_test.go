package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// executable writes scripts.
func executable(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, name)
		write(t, name, text)
		if strings.HasPrefix(text, "#!") {
			must(t, os.Chmod(name, 0o755))
		}
	}
}

// TestMenuPrograms: a socket makes the menus that programs of the tree make elsewhere, and
// robots.txt denies them and nothing else.
func TestMenuPrograms(t *testing.T) {
	dir := shared(t)
	root, socket := filepath.Join(dir, "root"), filepath.Join(dir, "s")
	executable(t, root, map[string]string{
		"gophermap":           "#!/bin/sh\necho \"Hi $REMOTE_ADDR of $SERVER_HOST\"\nprintf '0A text\\ttext.txt\\n'\n",
		"text.txt":            "text\n",
		"d/gophermap":         "Above\n=news.sh\n=silent.sh\n=figlet hi\nBelow\n",
		"d/news.sh":           "#!/bin/sh\necho '* news'\nprintf '0One\\tone.txt\\n'\n",
		"d/silent.sh":         "#!/bin/sh\nexit 3\n",
		"d/one.txt":           "one\n",
		"e/index.dcgi":        "#!/bin/sh\necho \"[0|Of $SCRIPT_NAME|/text.txt|server|port]\"\n",
		"f/list.gophermap":    "#!/bin/sh\necho listed\n",
		"open/gophermap":      "#!/bin/sh\necho open\n",
		"open/.robots":        "Allow: /$\n",
		"plain/gophermap":     "plain\n",
		"dead/gophermap":      "#!/bin/sh\n",
		"flood/gophermap":     "#!/bin/sh\nwhile :; do echo flood; done\n",
		"other/index.dcgi.md": "x",
	})
	program(t, socket, "fcgiwrap", "-f", "-c", "4", "-s", "unix:"+socket)
	must(t, os.Chmod(socket, 0o666))
	d := serve(t, root, "-fastcgi", "menus="+socket, "-port", "70", "-host", "h.example")
	const info = "\t\terror.host\t1\r\n"
	for sel, want := range map[string]string{
		"":                   "iHi 127.0.0.1 of h.example" + info + "0A text\t/text.txt\th.example\t70\r\n.\r\n",
		"/d/":                "iAbove" + info + "i* news" + info + "0One\t/d/one.txt\th.example\t70\r\n3The program failed" + info + "iBelow" + info + ".\r\n",
		"/e/":                "0Of /e\t/text.txt\th.example\t70\r\n.\r\n",
		"/f/list.gophermap":  "ilisted" + info + ".\r\n",
		"/open/":             "iopen" + info + ".\r\n",
		"/plain/":            "iplain" + info + ".\r\n",
		"/dead/":             "3The program failed" + info + ".\r\n",
		"/flood/":            "3The program failed" + info + ".\r\n",
		"/d/news.sh":         "3Not found: nothing here has that name" + info + ".\r\n",
		"/e/index.dcgi":      "3Not found: nothing here has that name" + info + ".\r\n",
		"/text.txt":          "text\n",
		"/d/../d/gophermap":  "3Not found: nothing here has that name" + info + ".\r\n",
		"/other/":            "0index.dcgi.md\t/other/index.dcgi.md\th.example\t70\r\n.\r\n",
		"/open/?LD_PRELOAD=": "3Not found: nothing here has that name" + info + ".\r\n",
	} {
		if got := d.ask(sel); got != want {
			t.Errorf("%q: %q, want %q", sel, got, want)
		}
	}
	robots := d.ask("robots.txt")
	for _, line := range []string{"Disallow: /$", "Disallow: /d/$", "Disallow: /e/$", "Disallow: /f/list.gophermap$", "Disallow: /dead/$", "Allow: /open/$"} {
		if !strings.Contains(robots, line+"\n") {
			t.Errorf("no %q in\n%s", line, robots)
		}
	}
	for _, name := range []string{"plain/", "text.txt", "/other"} {
		if strings.Contains(robots, name) {
			t.Errorf("%s in\n%s", name, robots)
		}
	}
	must(t, os.Remove(filepath.Join(root, "e/index.dcgi"))) // the file follows
	d.Until("robots.txt still denies /e/", func() bool { return !strings.Contains(d.ask("robots.txt"), "/e/") })
	if got := d.ask("/e/"); got != ".\r\n" {
		t.Errorf("a listing of nothing: %q", got)
	}
}

// TestDcgiMenus: with -fastcgi '*.dcgi=SOCKET' index.dcgi is the menu of its directory.
func TestDcgiMenus(t *testing.T) {
	dir := shared(t)
	root, socket := filepath.Join(dir, "root"), filepath.Join(dir, "s")
	executable(t, root, map[string]string{
		"e/index.dcgi": "#!/bin/sh\necho \"[0|Of $SCRIPT_NAME|text.txt|server|port]\"\n",
		"e/text.txt":   "text\n",
		"d/gophermap":  "#!/bin/sh\necho no\n",
	})
	program(t, socket, "fcgiwrap", "-f", "-s", "unix:"+socket)
	must(t, os.Chmod(socket, 0o666))
	d := serve(t, root, "-fastcgi", "*.dcgi="+socket, "-port", "70", "-host", "h")
	if got := d.ask("e/"); got != "1/e/\t/e/\th\t70\r\n.\r\n" { // robots.txt has no line for it
		t.Errorf("another spelling: %q", got)
	}
	for _, sel := range []string{"/e/", "/e/index.dcgi"} {
		if got := d.ask(sel); !strings.HasPrefix(got, "0Of /e") || !strings.Contains(got, "\t/e/text.txt\th\t70\r\n") {
			t.Errorf("%s: %q", sel, got)
		}
	}
	if got := d.ask("/d/"); !strings.Contains(got, "which this server does not run") {
		t.Errorf("a gophermap that is a program: %q", got)
	}
	if got := d.ask("robots.txt"); !strings.Contains(got, "Disallow: /e/$\n") || strings.Contains(got, "/d/") {
		t.Error(got)
	}
}

// TestProgramsOfUsers: one flag serves the programs of all users, each as that user; a
// user's map runs no other user's program.
func TestProgramsOfUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to others")
	}
	dir := shared(t)
	homes, sockets := filepath.Join(dir, "homes"), filepath.Join(dir, "sockets")
	must(t, os.Mkdir(sockets, 0o777))
	must(t, os.Chmod(sockets, 0o777))
	add := func(user string, files map[string]string) {
		executable(t, filepath.Join(homes, user, "public_gopher"), files)
		must(t, exec.Command("chown", "-R", "12345:12345", filepath.Join(homes, user)).Run())
		socket := filepath.Join(sockets, user+".sock")
		program(t, socket, "fcgiwrap", "-f", "-s", "unix:"+socket)
		must(t, os.Chmod(socket, 0o666))
	}
	add("ann", map[string]string{"cgi-bin/who": "#!/bin/sh\necho \"ann's $SCRIPT_NAME$PATH_INFO\"\n", "gophermap": "#!/bin/sh\necho map of ann\n", "x.txt": "x\n"})
	add("bob", map[string]string{"gophermap": "Bob\n=/~ann/cgi-bin/who\n=own.sh\n", "own.sh": "#!/bin/sh\necho own\n"})
	write(t, filepath.Join(dir, "root", "gophermap"), "root\n")
	d := serve(t, filepath.Join(dir, "root"), "-user", "nobody", "-users", homes+"/*/public_gopher", "-fastcgi", "/~*/cgi-bin="+sockets+"/*.sock", "-fastcgi", "menus="+sockets+"/*.sock", "-http", "off")
	const info = "\t\terror.host\t1\r\n"
	for sel, want := range map[string]string{
		"/~ann/cgi-bin/who/more":    "ann's /~ann/cgi-bin/who/more",
		"/~ann/":                    "imap of ann" + info + ".\r\n",
		"/~bob/":                    "iBob" + info + "iown" + info + ".\r\n",
		"/~none/cgi-bin/who":        "3Not found: nothing here has that name" + info + ".\r\n",
		"/~../cgi-bin/who":          "3Not found: nothing here has that name" + info + ".\r\n",
		"/~ann/../~ann/cgi-bin/who": "3Not found: nothing here has that name" + info + ".\r\n",
	} {
		if got := d.ask(sel); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q, want %q", sel, got, want)
		}
	}
	robots := d.ask("robots.txt")
	if !strings.Contains(robots, "Disallow: /~*/cgi-bin/\n") || !strings.Contains(robots, "Disallow: /~ann/$\n") {
		t.Error(robots)
	}
	add("cleo", map[string]string{"cgi-bin/who": "#!/bin/sh\necho cleo\n"}) // without a restart
	d.Until("a new user's program does not run", func() bool { return strings.HasPrefix(d.ask("/~cleo/cgi-bin/who"), "cleo") })
}
