package main

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/gophd/gophd/internal/treetest"
)

// safe fails if a terminal could obey any of a text.
func safe(t *testing.T, what, text string) {
	t.Helper()
	bad := func(r rune) bool { return r != '\n' && r != '\t' && r != utf8.RuneError && !unicode.IsPrint(r) }
	if !utf8.ValidString(text) {
		t.Errorf("%s prints what is no UTF-8: %q", what, text)
	}
	if i := strings.IndexFunc(text, bad); i >= 0 {
		t.Errorf("%s prints %q", what, text[max(0, i-40):min(len(text), i+10)])
	}
}

// strangeBytes are all bytes: those that end or split a line alone, since they hide
// what follows, the others sixteen at a time; and signs that a terminal obeys.
func strangeBytes() (all []string) {
	var some []byte
	for n := range 256 {
		if strings.IndexByte("\x00\t\n\v\f\r #%*$?:/|\\\"", byte(n)) >= 0 {
			all = append(all, string([]byte{byte(n)}))
			continue
		}
		if some = append(some, byte(n)); len(some) == 16 || n == 255 {
			all, some = append(all, string(some)), nil
		}
	}
	return append(all, "\u0085\u009b\u2028\u202e")
}

// TestTerminalObeysNoStranger: whatever bytes from 0 to 255 a server or a file
// holds, in whatever field, what a command prints of it is visible text. Only a
// file that is printed as a whole, into a pipe, is as it is.
func TestTerminalObeysNoStranger(t *testing.T) {
	for n, b := range strangeBytes() {
		field := "x" + b + "[31my"
		menu := strings.NewReplacer("@",
			field).Replace("i@\t@\t@\t@\r\n1@\t@\t@\t70\r\nh@\tURL:@\t@\t70\r\n" + b +
			"@\t@\thost\t70\r\n@\r\n.\r\n")
		at := "gopher://" + treetest.Conns(t, document(menu)) + "/"
		out, errs, _ := gophd("get", at)
		safe(t, fmt.Sprintf("get, menu, bytes %d", n), out+errs)

		broken := "gopher://" + treetest.Conns(t,
			document("3"+field+"\t\terror.host\t1\r\n.\r\n")) + "/0" + "x"
		_, errs, _ = gophd("get", broken)
		safe(t, fmt.Sprintf("get, error item, bytes %d", n), errs)

		robotsFile := strings.NewReplacer("@",
			field).Replace("User-agent: @\nDisallow: /@\nAllow: /@/@$\n@: @\nSitemap: @\nCrawl-delay: @\n")
		host := "gopher://" + treetest.Conns(t, document(robotsFile)) + "/"
		tree := treeOf(t, map[string]string{"d/.robots": robotsFile + "Disalow: " + field + "\n",
			"d/a.txt": "a", "robots.txt": "User-agent: *\nDisallow: /q" + field + "\n"})
		for _, args := range [][]string{
			{"test", host, "/" + field}, {"test", "-agent", "x" + field, host, "/a"},
			{"test", "-dialect", field, host, "/a"},
			{"lint", host}, {"convert", "-to", "1994", host},
			{"test", tree + "/" + "nosuch" + strings.ReplaceAll(b, "\x00", "") + "\x1b", "/a"},
			{"check", "-root", tree}, {"check", "-root", tree, host},
			{"explain", "-root", tree, "/d/a.txt", "/" + field},
			{"explain", "-root", tree, "-agent", field, "/d/"},
			{"explain", "-root", tree, "/q" + field},
		} {
			out, errs, _ := gophd(append([]string{"robots"}, args...)...)
			if args[0] == "convert" {
				out = "" // a file as a whole
			}
			safe(t, fmt.Sprintf("robots %q, bytes %d", args, n), out+errs)
			out, _, _ = gophd(append([]string{"robots", args[0], "-json"}, args[1:]...)...)
			safe(t, fmt.Sprintf("robots %q -json, bytes %d", args, n), out)
			if out != "" && !json.Valid([]byte(out)) {
				t.Errorf("robots %q -json, bytes %d: no JSON: %s", args, n, out)
			}
		}
	}
}

// A reply that breaks off anywhere is a failure, with a reset and without.
func TestGetOfReplyThatBreaksOff(t *testing.T) {
	menu := "iHello\t\terror.host\t1\r\n1Link\t/x\thost\t70\r\n.\r\n"
	for n := range len(menu) + 1 {
		for _, reset := range []bool{false, true} {
			at := treetest.Conns(t, func(c net.Conn) {
				document(menu[:n])(c)
				if reset {
					_ = c.(*net.TCPConn).SetLinger(0)
				}
			})
			_, errs, status := gophd("get", "gopher://"+at+"/")
			want := 3
			if n >= len(menu)-2 {
				want = 0 // the dot is there
			}
			if status != want && (!reset || status != 3) {
				t.Errorf("after %d of %d bytes, reset %t: status %d, want %d; %s", n, len(menu),
					reset, status, want, errs)
			}
		}
	}
	at := treetest.Conns(t, func(c net.Conn) {
		document("some text")(c)
		_ = c.(*net.TCPConn).SetLinger(0)
	})
	if _, errs, status := gophd("get", "gopher://"+at+"/0x"); status != 3 {
		t.Errorf("a text that is reset: status %d, %s", status, errs)
	}
}
