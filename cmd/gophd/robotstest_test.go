package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/treetest"
)

// A verdict is one line without control bytes, whatever the file is called.
func TestVerdictPrintable(t *testing.T) {
	root := treeOf(t, map[string]string{"a\n\x1b[31m": "Disallow: /x\x1b\n"})
	out, _, status := gophd("robots", "test", filepath.Join(root, "a\n\x1b[31m"), "/x\x1b\n")
	if status != exit.No || strings.Count(out, "\n") != 1 || strings.Contains(out, "\x1b") {
		t.Errorf("status %d: %q", status, out)
	}
}

// network is an IRC server that says one thing.
func network(token string) func(net.Conn) {
	return func(c net.Conn) {
		in := bufio.NewScanner(c)
		for in.Scan() && !strings.HasPrefix(in.Text(), "USER") {
		}
		_, _ = fmt.Fprintf(c, ":irc 001 x :Hello\r\n:irc 005 x %s NICKLEN=30 :are supported by this server\r\n:irc 422 x :No message\r\n", token)
		for in.Scan() && in.Text() != "QUIT" {
		}
	}
}

func TestNetwork(t *testing.T) {
	for _, test := range []struct {
		token  string
		status int
		want   string
	}{
		{"CRAWLER=index:allow,cooldown:60", exit.OK, "CRAWLER=index:allow,cooldown:60"},
		{"CRAWLER=index:deny", exit.No, "CRAWLER=index:deny,cooldown:3600"},
		{"CHANTYPES=#", exit.No, "unspecified"},
		{"CRAWLER=index:perhaps", exit.No, "unspecified"},
		{"CRAWLER=index:DENY", exit.No, "deny "},
	} {
		target := "irc://" + treetest.Conns(t, network(test.token)) + "/#gopher"
		out, errs, status := gophd("robots", "test", target)
		if status != test.status || !strings.Contains(out, test.want) ||
			!strings.Contains(out, `"`+target+`"`) {
			t.Errorf("%s: status %d, %s%s", test.token, status, out, errs)
		}
		out, _, status = gophd("robots", "test", "-json", target, "#one", "#two")
		var got []struct{ Selector, Index string }
		if err := json.Unmarshal([]byte(out), &got); err != nil || len(got) != 2 ||
			got[1].Selector != "#two" || got[0].Index == "" || status != test.status {
			t.Errorf("%s: %v, status %d: %s", test.token, err, status, out)
		}
	}
	target := "irc://" + treetest.Conns(t, network("CRAWLER=index:maybe")) + "/"
	if out, _, status := gophd("robots", "lint", target); status != exit.No ||
		!strings.Contains(out, "(I3-INDEX-VALUE)") {
		t.Errorf("lint: status %d: %s", status, out)
	}
	if _, errs, status := gophd("robots", "test", "-dialect", "1994",
		target); status != exit.Usage || !strings.Contains(errs, "has no robots.txt") {
		t.Errorf("another dialect: status %d: %s", status, errs)
	}
}
