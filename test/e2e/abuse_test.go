package e2e_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gophd/gophd/menu"
)

// What only the whole can show: from the socket to the disk and back. The
// packages have tests of their own for each of these
// all.

const secret = "the secret outside the root"

// besideSecrets makes a root with secrets all around it, and all the links and
// maps that could lead to them.
func besideSecrets(t *testing.T) (root string) {
	t.Helper()
	top := tree(t, map[string]string{
		"secret.txt": secret, "rootsecret/secret.txt": secret, "gophertag": secret, "gophermap": secret, "robots.txt": "Comment: " + secret,
		"root/a.txt": "inside\n", "root/sub/b.txt": "inside\n", "root/linked/": "", "root/tagged/c.txt": "inside\n",
		"root/maps/gophermap": "Before\n=../../secret.txt\n=/../secret.txt\n=out/secret.txt\n0../../*.txt\t\n0The secret\t../../secret.txt\n" +
			"0Up\t/../secret.txt\n=../out/secret.txt\nAfter\n*\n",
	})
	root = filepath.Join(top, "root")
	for name, target := range map[string]string{
		"out": "..", "out.txt": "../secret.txt", "abs.txt": filepath.Join(top, "secret.txt"), "near": filepath.Join(top, "rootsecret"),
		"caps.txt": "../secret.txt", "favicon.txt": "/etc/passwd", "loop": "loop", "chain": "sub/chain", "sub/chain": "../out",
		"linked/gophermap": "../../secret.txt", "tagged/gophertag": "../../gophertag", "sub/.robots": "../../robots.txt",
	} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// outside are selectors that lead out of the root if anybody believes them.
func outside(root string) []string {
	top := filepath.Dir(root)
	all := []string{
		"..", "/..", "/../", "../", "sub/..", "sub/../..", ".", "/./../secret.txt", "....//secret.txt", "....//....//secret.txt",
		"%2e%2e/secret.txt", "%2e%2e%2fsecret.txt", "%2E%2E/secret.txt", ".%2e/secret.txt", "%252e%252e/secret.txt", "%252e%252e%252fsecret.txt",
		`..\secret.txt`, `..%5csecret.txt`, `sub\..\..\secret.txt`, "..;/secret.txt", "..%00/secret.txt", "..\x00/secret.txt",
		"\xc0\xae\xc0\xae/secret.txt", "%c0%ae%c0%ae/secret.txt", "\uff0e\uff0e/secret.txt", "\u2024\u2024/secret.txt",
		"//etc/passwd", "/etc/passwd", "%2fetc%2fpasswd", "//" + top + "/secret.txt", top + "/secret.txt", root + "/a.txt",
		"file:///etc/passwd", "URL:file:///etc/passwd", "/proc/self/environ", "/proc/self/root/etc/passwd", "~root", "/~root/", "0/../secret.txt",
		"out/secret.txt", "out/", "out.txt", "abs.txt", "near/secret.txt", "loop", "loop/a.txt", "chain/secret.txt", "sub/chain/secret.txt",
		"linked/", "tagged/", "maps/", "favicon.txt", "caps.txt", "robots.txt", "sub/", "/",
	}
	for _, up := range []string{"../", "/../", "sub/../../", "/a.txt/../../", "nosuch/../../", "sub/./../../", "maps/../../"} {
		all = append(all, up+"secret.txt", up+"rootsecret/secret.txt", up+"root/../secret.txt")
	}
	return all
}

func TestAbuseNothingOutsideTheRoot(t *testing.T) {
	root := besideSecrets(t)
	d := serve(t, root)
	for _, sel := range append(outside(root), madeUp(300)...) {
		for _, request := range []string{sel, sel + "\tquery"} {
			reply := d.ask(request)
			if strings.Contains(reply, secret) || strings.Contains(reply, "root:") {
				t.Errorf("%q: the secret is out: %q", request, reply)
			}
			if strings.Contains(reply, filepath.Dir(root)) {
				t.Errorf("%q: the reply shows a path of the host: %q", request, reply)
			}
		}
	}
	if got := d.ask("maps/"); !strings.HasPrefix(got, "iBefore\t") || !strings.Contains(got, "\r\niAfter\t") {
		t.Errorf("a map that leads out is not served for the rest: %q", got)
	}
	for _, sel := range []string{"../secret.txt", "%2e%2e/secret.txt", "//etc/passwd", "out.txt", "/etc/passwd"} {
		if got, want := d.ask(sel), "3Not found: nothing here has that name\t\terror.host\t1\r\n.\r\n"; got != want {
			t.Errorf("%q: got %q, want %q", sel, got, want)
		}
	}
	if got := d.ask("a.txt"); got != "inside\n" {
		t.Errorf("what is inside is not served: %q", got)
	}
}

// madeUp returns n selectors made of what such selectors are made of.
func madeUp(n int) []string {
	pieces := []string{
		"..", ".", "/", "//", `\`, "%2e", "%2f", "%5c", "%25", "%00", "\xc0\xae", "sub", "out", "chain", "near", "a.txt", "secret.txt", "root", "0/", "URL:",
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	all := make([]string, n)
	for i := range all {
		for range 2 + rnd.IntN(8) {
			all[i] += pieces[rnd.IntN(len(pieces))]
		}
	}
	return all
}

// checkMenu checks the form of a menu and returns the number of its items.
func checkMenu(t *testing.T, reply string) int {
	t.Helper()
	body, ended := strings.CutSuffix(reply, ".\r\n")
	if !ended || body != "" && !strings.HasSuffix(body, "\r\n") {
		t.Fatalf("a menu without its end: %.200q", reply)
	}
	n := 0
	for line := range strings.SplitSeq(strings.TrimSuffix(body, "\r\n"), "\r\n") {
		if body == "" {
			break
		}
		n++
		it, err := menu.ParseItem(line)
		if err != nil || it.Type == '3' || strings.ContainsAny(line, "\r\n\x00\x1b") || strings.Count(line, "\t") != 3 {
			t.Fatalf("a bad line in a menu: %.200q, %v", line, err)
		}
	}
	return n
}

func TestAbuseGophermapsOverTheWire(t *testing.T) {
	var thousand strings.Builder
	for range 1000 {
		thousand.WriteString("=../self/gophermap\n")
	}
	d := serve(t, tree(t, map[string]string{
		"self/gophermap":     "iHead\n=gophermap\niTail\n",
		"one/gophermap":      "=../two/gophermap\n1Two\t../two/\n",
		"two/gophermap":      "=../one/gophermap\n1One\t../one/\n",
		"thousand/gophermap": thousand.String(),
		"line/gophermap":     "Before\n0" + strings.Repeat("x", 1<<20) + "\t/a.txt\nAfter\n",
		"broken/gophermap":   "Before\n0Bad\t/a.txt\thost\tmany\n1\x1b[31mRed\t/sub\x07/\nAfter\n",
		"binary/gophermap":   strings.Repeat("\x00\xff\t\r\x1b\n", 1000),
		"a.txt":              "A\n",
	}))
	for _, dir := range []string{"self", "one", "two", "thousand", "line", "broken", "binary"} {
		reply := d.ask("/" + dir + "/")
		checkMenu(t, reply)
		if len(reply) > 16<<20 {
			t.Errorf("%s: %d bytes", dir, len(reply))
		}
	}
	broken := d.ask("/broken/")
	if !strings.HasPrefix(broken, "iBefore\t") || !strings.Contains(broken, "\r\niAfter\t") {
		t.Errorf("what is not broken is not served: %q", broken)
	}
	if !eventually(func() bool { return strings.Contains(d.Log(), `"file":"broken/gophermap","line":2`) }) {
		t.Errorf("the bad line is not reported:\n%s", d.Log())
	}
}

// TestAbuseControlBytesNowhere puts control bytes wherever people and
// clients can, and looks for them wherever they could come out.
func TestAbuseControlBytesNowhere(t *testing.T) {
	const evil = "\x1b[31mred\x07\x9b\u009bx"
	d := serve(t, tree(t, map[string]string{
		"a.txt": "A\n", evil + ".txt": "E\n", "tab\there.txt": "T\n", "line\r\nend.txt": "L\n", "dir" + evil + "/x.txt": "X\n",
		"tagged/gophertag": evil + "\tfake\t/\thost\t70\n", "tagged/x.txt": "X\n",
		"mapped/gophermap": evil + "\n0" + evil + "\t" + evil + "\t" + evil + "\t70\n!" + evil + "\n",
		".robots":          "Disallow: /" + evil + "\nDisallow: /a" + evil + "\nComment: " + evil + "\nUser-agent: " + evil + "\nDisallow: /b\n",
	}))
	var all strings.Builder
	for _, sel := range []string{
		"", "/tagged/", "/mapped/", "robots.txt", "caps.txt", evil, "/" + evil + ".txt", "URL:" + evil, "URL:https://" + evil, "/a.txt\t" + evil, "%1b%5b31m",
	} {
		reply := d.ask(sel)
		if sel == "" {
			checkMenu(t, reply)
		}
		if strings.Contains(reply, "fake\t/\thost") {
			t.Errorf("%q: a gophertag makes an item: %q", sel, reply)
		}
		all.WriteString(reply)
	}
	if !eventually(func() bool { return strings.Contains(d.Log(), "%1b%5b31m") }) {
		t.Error("the last request is not in the log")
	}
	for where, text := range map[string]string{"a reply": all.String(), "the log": d.Log()} {
		if i := strings.IndexAny(text, "\x1b\x07\u009b"); i >= 0 {
			t.Errorf("a control byte in %s: %q", where, text[max(i-100, 0):min(i+100, len(text))])
		}
	}
	if bytes.Contains([]byte(all.String()), []byte{0x9b}) {
		t.Error("a lone byte 9B in a reply")
	}
}

// TestAbuseSpecialFilesAsAnnotations puts files that block or are none where
// gophd itself reads.
func TestAbuseSpecialFilesAsAnnotations(t *testing.T) {
	root := tree(t, map[string]string{
		"a/x.txt": "X\n", "b/x.txt": "X\n", "c/x.txt": "X\n", "d/.robots/x.txt": "X\n", "e/gophermap/x.txt": "X\n", "f/gophertag/x.txt": "X\n",
		"robots.txt/x.txt": "X\n", "g/x.txt": "X\n",
	})
	for _, name := range []string{"a/.robots", "b/gophermap", "c/gophertag", "g/fifo", "fifo"} {
		if err := syscall.Mkfifo(filepath.Join(root, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	d := serve(t, root)
	checkMenu(t, d.ask(""))
	for _, dir := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		checkMenu(t, d.ask("/"+dir+"/"))
	}
	if got := d.ask("/fifo"); !strings.HasPrefix(got, "3") {
		t.Errorf("a FIFO is served: %q", got)
	}
	if robots := d.ask("robots.txt"); !strings.Contains(robots, "Disallow: /a") {
		t.Errorf("a directory whose annotation cannot be read is not denied:\n%s", robots)
	}
}

// quickDir makes a directory in memory where that can be had: 10⁵ files on a
// disk take seconds.
func quickDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "gophd-acceptance")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// TestAbuseManyNamesOverTheWire lists a directory of 10⁵ names to four clients that
// take nothing yet: others are served meanwhile.
func TestAbuseManyNamesOverTheWire(t *testing.T) {
	const names = 100_000
	root := quickDir(t)
	for i := range names {
		write(t, filepath.Join(root, "many", "name-"+strconv.Itoa(i)+".txt"), "")
	}
	d := serve(t, root, "-cache", "0", "-watch", "off")
	var clients []*net.TCPConn
	for range 4 {
		clients = append(clients, d.request("/many/"))
	}
	for range 50 {
		d.ask("robots.txt") // while they are made, and cannot be sent
	}
	for _, c := range clients {
		reply, err := io.ReadAll(c)
		if n := checkMenu(t, string(reply)); err != nil || n > names || n < 10_000 {
			t.Errorf("a menu of %d items, %v", n, err)
		}
	}
	t.Logf("memory at most %d MiB", d.peak()>>20)
	if d.peak() > 512<<20 {
		t.Errorf("the listings cost too much")
	}
}

// TestAbuseNoReplyIsLost has 200 clients that send more than is read, and go on
// sending, for each way in which a reply is sent.
func TestAbuseNoReplyIsLost(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 32<<10)
	d := serve(t, tree(t, map[string]string{"a.txt": "A\n", "big.txt": big}))
	more := strings.Repeat("more than was asked for\r\n", 4000)
	for sel, want := range map[string]string{"robots.txt": d.ask("robots.txt"), "/a.txt": "A\n", "/big.txt": big, "/nosuch": d.ask("/nosuch")} {
		for range 50 {
			c := d.begin(sel + "\r\n" + more)
			reply, err := io.ReadAll(c)
			if err != nil || string(reply) != want {
				t.Fatalf("%s: got %d bytes, %v, want %d", sel, len(reply), err, len(want))
			}
			_ = c.Close()
		}
	}
}

// TestAbuseBrokenSiteServesTheRest breaks what can be broken in some
// directories: everything else is served, and each break is reported with its
// place.
func TestAbuseBrokenSiteServesTheRest(t *testing.T) {
	files := map[string]string{"good/a.txt": "A\n", "good/.robots": "Disallow: /hidden.txt\n", "good/hidden.txt": "H\n"}
	for i := range 5 {
		files[fmt.Sprintf("bad%d/gophermap", i)] = "Before\n0Bad\tx\ty\tz\nAfter\n"
		files[fmt.Sprintf("bad%d/.robots", i)] = "Dissallow: /\n\x00\xff\nAllow\nCrawl-delay: soon\n"
	}
	d := serve(t, tree(t, files))
	if got := d.ask("/good/a.txt"); got != "A\n" {
		t.Errorf("got %q", got)
	}
	if robots := d.ask("robots.txt"); !strings.Contains(robots, "Disallow: /good/hidden.txt") {
		t.Errorf("the good annotation is lost:\n%s", robots)
	}
	for i := range 5 {
		checkMenu(t, d.ask(fmt.Sprintf("/bad%d/", i)))
	}
	for _, place := range []string{`"file":"bad3/.robots","line":1`, `"file":"bad3/gophermap","line":2`} {
		if !eventually(func() bool { return strings.Contains(d.Log(), place) }) {
			t.Errorf("%s is not reported:\n%s", place, d.Log())
		}
	}
}
