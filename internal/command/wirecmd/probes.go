package wirecmd

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/gophd/gophd/internal/ask"
	"github.com/gophd/gophd/menu"
)

// The documents that findings cite. "in use" stands for habits of clients and servers
// that no document requires.
const (
	rfc1436   = "RFC 1436"
	gopherURL = "RFC 4266"
	plus      = "Gopher+"
	robotsDoc = "Robots and Gopher"
	inUse     = "in use"
	safety    = "safety"
)

// A probe is one request and the judge of its response.
type probe struct {
	name, doc string
	send      string
	end       bool // close the write side after the request
	slow      bool // byte by byte
	silent    bool // wait for the server to close; no response is due
	judge     func(r *response, root *response) (grade, string)
}

// grade rates a response.
type grade uint8

const (
	good  grade = iota
	note        // nothing is wrong, or it matters to few
	wrong       // a document says otherwise, or it is dangerous
)

func (g grade) String() string { return [...]string{"good", "note", "wrong"}[g] }

const nowhere = "/gophd-wire-test-nothing-here"

func probes() []probe {
	crlf := func(s string) string { return s + "\r\n" }
	return []probe{
		{name: "the root: an empty line", doc: rfc1436, send: "\r\n", judge: aMenu},
		{name: "its lines: four fields, a port", doc: rfc1436, send: "\r\n", judge: menuForm},
		{name: "its lines end in CRLF", doc: rfc1436, send: "\r\n", judge: menuEnds},
		{name: "its last line is a dot", doc: rfc1436, send: "\r\n", judge: lastDot},
		{name: "the server closes", doc: rfc1436, send: "\r\n", judge: closes},
		{name: "an LF alone", doc: inUse, send: "\n", judge: sameAsRoot},
		{name: "a CR alone, then the end", doc: inUse, send: "\r", end: true, judge: sameAsRoot},
		{name: "the end without a byte", doc: inUse, end: true, judge: anyEnd},
		{name: "a slash", doc: inUse, send: crlf("/"), judge: sameAsRoot},
		{name: "a TAB: a search without words", doc: rfc1436, send: crlf("\t"), judge: answered},
		{name: "TAB $: a Gopher+ menu", doc: plus, send: crlf("\t$"), judge: gopherPlus},
		{name: "TAB !: Gopher+ attributes", doc: plus, send: crlf("\t!"), judge: answered},
		{name: "TAB and words at the root", doc: rfc1436, send: crlf("\twords\tmore"), judge: answered},
		{name: "a line without its end, then the end", doc: inUse, send: "/", end: true, judge: sameAsRoot},
		{name: "byte by byte", doc: rfc1436, send: crlf(nowhere), slow: true, judge: anError},
		{name: "bytes behind the request", doc: inUse, send: "\r\n" + strings.Repeat("more\r\n", 400), judge: sameAsRoot},
		{name: "a name that is not there", doc: rfc1436, send: crlf(nowhere), judge: anError},
		{name: "the error's form", doc: rfc1436, send: crlf(nowhere), judge: errorForm},
		{name: "robots.txt", doc: robotsDoc, send: crlf("robots.txt"), judge: robotsFile},
		{name: "/robots.txt", doc: inUse, send: crlf("/robots.txt"), judge: robotsFile},
		{name: "0/robots.txt", doc: robotsDoc, send: crlf("0/robots.txt"), judge: secondRobots},
		{name: "robots.txt, LF alone", doc: inUse, send: "robots.txt\n", judge: robotsFile},
		{name: "caps.txt", doc: inUse, send: crlf("caps.txt"), judge: answered},
		{name: "URL:http://example.org/", doc: inUse, send: crlf("URL:http://example.org/"), judge: aPointer},
		{name: "URL:javascript:", doc: safety, send: crlf(`URL:javascript:alert("wire-test")`), judge: noScript},
		{name: "..", doc: safety, send: crlf("/../../../../../../" + nowhere[1:]), judge: anError},
		{name: ".. to the root of the disk", doc: safety, send: crlf("/../../../../../../../"), judge: notOutside},
		{name: "%2e%2e/", doc: safety, send: crlf("/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/"), judge: notOutside},
		{name: `..\`, doc: safety, send: crlf(`/..\..\..\`), judge: notOutside},
		{name: "//", doc: inUse, send: crlf("//"), judge: answered},
		{name: "a % without digits", doc: gopherURL, send: crlf(nowhere + "%"), judge: anError},
		{name: "NUL", doc: rfc1436, send: crlf(nowhere + "\x00x"), judge: anError},
		{name: "control bytes", doc: safety, send: crlf(nowhere + "\x1b[31m\x07wire"), judge: noEcho},
		{name: "bytes that are no UTF-8", doc: rfc1436, send: crlf(nowhere + "\xff\xfe\x80"), judge: anError},
		{name: "a CR inside", doc: safety, send: crlf(nowhere + "\rx"), judge: answered},
		{name: "255 bytes", doc: rfc1436, send: crlf(nowhere + strings.Repeat("x", 255-len(nowhere))), judge: anError},
		{name: "4,000 bytes", doc: safety, send: crlf(nowhere + strings.Repeat("x", 4000-len(nowhere))), judge: refused},
		{name: "64 KiB without an end", doc: safety, send: strings.Repeat("x", 64<<10), judge: refused},
		{name: "nothing", doc: safety, silent: true, judge: endsIt},
		{name: "a line that does not end", doc: safety, send: nowhere, silent: true, judge: endsIt},
		{name: "HTTP", doc: inUse, send: "GET / HTTP/1.1\r\nHost: wire-test.example\r\n\r\n", judge: http},
		{name: "TLS", doc: inUse, send: clientHello, judge: tlsAnswer},
		{name: "a PROXY header", doc: safety, send: "PROXY TCP4 192.0.2.1 192.0.2.2 1 70\r\n\r\n", judge: proxied},
		{name: "the root once more", doc: safety, send: "\r\n", judge: sameAsRoot},
	}
}

// clientHello begins a handshake of TLS 1.2 with one cipher suite, for the server name
// wire-test.example.
var clientHello = func() string {
	random := strings.Repeat("w", 32)
	extension := "\x00\x00\x00\x16\x00\x14\x00\x00\x11wire-test.example" + "\x00\x0a\x00\x04\x00\x02\x00\x17" + "\x00\x0d\x00\x06\x00\x04\x04\x03\x04\x01"
	hello := "\x03\x03" + random + "\x00" + "\x00\x04\xc0\x2b\xc0\x2f" + "\x01\x00" + fmt.Sprintf("\x00%c", len(extension)) + extension
	return "\x16\x03\x01\x00" + string(rune(len(hello)+4)) + "\x01\x00\x00" + string(rune(len(hello))) + hello
}()

// What a response is.

func (r *response) lines() []string {
	body, _ := strings.CutSuffix(strings.ReplaceAll(string(r.data), "\r\n", "\n"), "\n")
	return strings.Split(body, "\n")
}

func (r *response) isError() bool {
	_, is := ask.IsError(r.data)
	return is
}

// isMenu reports whether most lines are items of a menu, and none that is cut.
func (r *response) isMenu() bool {
	n, items := 0, 0
	for _, line := range r.lines() {
		if line == "." {
			break
		}
		n++
		if _, err := menu.ParseItem(line); err == nil {
			items++
		}
	}
	return n > 0 && items*10 >= n*9
}

// what names the kind of a response.
func (r *response) what() string {
	switch {
	case r.err != "" && len(r.data) == 0:
		return r.err
	case len(r.data) == 0:
		return "closed without a byte"
	case r.isError():
		return "an error item"
	case bytes.HasPrefix(r.data, []byte("HTTP/")):
		return "HTTP"
	case r.data[0] == 0x16 || r.data[0] == 0x15:
		return "TLS"
	case bytes.Contains(bytes.ToLower(r.data[:min(len(r.data), 300)]), []byte("<html")):
		return "a web page"
	case bytes.HasPrefix(r.data, []byte("Error")):
		return "an error as text"
	case r.isMenu():
		return fmt.Sprintf("a menu of %d lines", len(r.lines()))
	}
	return fmt.Sprintf("%d bytes", len(r.data))
}

// What it means.

func is(ok bool, otherwise grade, r *response) (grade, string) {
	if ok {
		otherwise = good
	}
	return otherwise, r.what()
}

func aMenu(r, _ *response) (grade, string)    { return is(r.isMenu() && !r.isError(), wrong, r) }
func answered(r, _ *response) (grade, string) { return is(len(r.data) > 0 || r.closed, wrong, r) }
func anError(r, _ *response) (grade, string) {
	return is(r.isError() || r.closed && len(r.data) == 0, note, r)
}
func refused(r, _ *response) (grade, string) {
	return is(r.closed && (r.isError() || len(r.data) == 0), wrong, r)
}
func anyEnd(r, _ *response) (grade, string) { return is(r.closed, wrong, r) }
func http(r, _ *response) (grade, string) {
	return is(r.closed || bytes.HasPrefix(r.data, []byte("HTTP/")), wrong, r)
}
func tlsAnswer(r, _ *response) (grade, string) { return is(r.closed || len(r.data) > 0, wrong, r) }

func menuForm(r, _ *response) (grade, string) {
	for _, line := range r.lines() {
		if line == "." {
			break
		}
		if it, err := menu.ParseItem(line); err != nil || it.Type != menu.TypeInfo && it.Port <= 0 {
			return wrong, fmt.Sprintf("%.60q is no item", line)
		}
	}
	return is(len(r.data) > 0, wrong, r)
}

func menuEnds(r, _ *response) (grade, string) {
	bare := strings.Count(strings.ReplaceAll(string(r.data), "\r\n", ""), "\n")
	if bare > 0 {
		return note, fmt.Sprintf("%d lines end in LF", bare)
	}
	return is(len(r.data) > 0, wrong, r)
}

func lastDot(r, _ *response) (grade, string) {
	switch {
	case bytes.HasSuffix(r.data, []byte("\r\n.\r\n")):
		return good, "it is"
	case bytes.Contains(r.data, []byte("\n.\r\n")), bytes.Contains(r.data, []byte("\n.\n")):
		return note, "something stands behind it, or it has no CRLF"
	}
	return wrong, "no dot: a client cannot tell whether the menu is whole"
}

func closes(r, _ *response) (grade, string) {
	if r.closed {
		return good, "it does"
	}
	return wrong, "the connection stays open: " + r.err
}

func sameAsRoot(r, root *response) (grade, string) {
	if root != nil && len(r.data) > 0 && len(r.lines()) == len(root.lines()) && r.isMenu() == root.isMenu() && r.isError() == root.isError() {
		return good, "the root's menu"
	}
	return is(r.isMenu() && !r.isError(), note, r)
}

func gopherPlus(r, _ *response) (grade, string) {
	if bytes.HasPrefix(r.data, []byte("+-")) || bytes.HasPrefix(r.data, []byte("+")) {
		return good, "a Gopher+ menu"
	}
	return is(r.isMenu() && !r.isError(), note, r)
}

func errorForm(r, _ *response) (grade, string) {
	first := r.lines()[0]
	switch {
	case !r.isError():
		return note, r.what()
	case strings.Count(first, "\t") != 3:
		return note, fmt.Sprintf("%d fields, not four", strings.Count(first, "\t")+1)
	case !bytes.HasSuffix(r.data, []byte(".\r\n")):
		return note, "no dot behind it"
	case strings.Contains(first, nowhere):
		return note, "it repeats the request"
	}
	return good, "four fields, and a dot"
}

func robotsFile(r, _ *response) (grade, string) {
	text := strings.ToLower(string(r.data))
	if strings.Contains(text, "user-agent:") || strings.Contains(text, "disallow:") {
		return good, fmt.Sprintf("a robots file of %d bytes", len(r.data))
	}
	return is(false, note, r)
}

func secondRobots(r, root *response) (grade, string) {
	if g, text := robotsFile(r, root); g == good {
		return g, text
	}
	return anError(r, root)
}

func aPointer(r, _ *response) (grade, string) {
	if bytes.Contains(r.data, []byte("http://example.org")) && !r.isError() {
		return good, "a page that points there"
	}
	return is(r.isError(), note, r)
}

func noScript(r, _ *response) (grade, string) {
	if bytes.Contains(bytes.ToLower(r.data), []byte(`javascript:alert("wire-test")`)) && !r.isError() {
		return wrong, "a page with the script in it"
	}
	return is(r.closed, wrong, r)
}

// notOutside reports names that stand in the root of nearly every disk.
func notOutside(r, root *response) (grade, string) {
	found := 0
	for _, name := range []string{"etc\t", "usr\t", "proc\t", "var\t", "bin\t", "etc/\t", "usr/\t", "proc/\t", "var/\t"} {
		found += bytes.Count(r.data, []byte(name))
	}
	if found > 2 {
		return wrong, "it lists what lies outside"
	}
	if g, text := sameAsRoot(r, root); g == good {
		return g, text
	}
	return anError(r, root)
}

func noEcho(r, root *response) (grade, string) {
	if bytes.ContainsAny(r.data, "\x1b\x07") {
		return wrong, "it sends the control bytes back"
	}
	return anError(r, root)
}

func endsIt(r, _ *response) (grade, string) {
	if r.closed {
		return good, "it gives up"
	}
	return note, "still open when the test gave up"
}

func proxied(r, root *response) (grade, string) {
	if g, _ := sameAsRoot(r, root); g == good {
		return note, "it believes the header, or drops it"
	}
	return is(r.closed, wrong, r)
}
