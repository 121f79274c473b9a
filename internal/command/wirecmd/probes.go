package wirecmd

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/gophd/gophd/internal/ask"
	"github.com/gophd/gophd/menu"
)

// The documents that findings cite. "in use" marks behavior of common clients and servers
// that no document requires.
const (
	rfc1436   = "RFC 1436"
	gopherURL = "RFC 4266"
	plus      = "Gopher+"
	robotsDoc = "Robots and Gopher"
	inUse     = "in use"
	safety    = "safety"
)

// grade rates a response.
type grade string

const (
	good  grade = "good"
	note  grade = "note"  // nothing is wrong, or it matters to few
	wrong grade = "wrong" // violates a document, or is dangerous
)

// kinds are what a response is; most are several.
type kinds uint16

const (
	aMenu    kinds = 1 << iota // most lines are items, and it is no error
	theRoot                    // like the root's menu
	anError                    // an error item
	noByte                     // closed without one
	closed                     // the server ended the connection
	someByte                   // there is a response
	robots                     // a robots file
	pointer                    // a page that leads to example.org
	plusMenu                   // of Gopher+
	http
)

// manner is how a request is sent.
type manner uint8

const (
	atOnce  manner = iota
	thenEnd        // close the write side after the request
	slowly         // byte by byte
)

// expect is what a response is to be.
type expect struct {
	want      kinds // one of them is good
	otherwise grade // everything else
}

var (
	rootMenu = expect{theRoot | aMenu, note}
	missing  = expect{anError | noByte, note}
	anything = expect{someByte | closed, wrong}
	ended    = expect{closed, wrong}
	rules    = expect{robots, note}
	stopped  = expect{theRoot | aMenu | anError | noByte, note} // at the root of the tree
)

// A probe is one request and what its response is to be.
type probe struct {
	name, doc, send string
	how             manner
	expect
	never []string // more than a few of them are wrong
	few   int

	// form judges alone, if it is not nil.
	form func(r *response) (grade, string)
}

const (
	nowhere = "/gophd-wire-test-nothing-here"
	script  = `javascript:alert("wire-test")`
)

// disk are names in the root of nearly every disk, as menus link them.
var disk = []string{"etc\t", "usr\t", "proc\t", "var\t", "bin\t", "etc/\t", "usr/\t",
	"proc/\t", "var/\t"}

// probes are sent one after the other. The first is the root's menu.
var probes = []probe{
	{
		name:   "the root: an empty line",
		doc:    rfc1436,
		send:   "\r\n",
		expect: expect{aMenu, wrong},
	},
	{
		name: "its lines: four fields, a port",
		doc:  rfc1436,
		send: "\r\n",
		form: menuForm,
	},
	{name: "its lines end in CRLF", doc: rfc1436, send: "\r\n", form: menuEnds},
	{name: "its last line is a dot", doc: rfc1436, send: "\r\n", form: lastDot},
	{name: "the server closes", doc: rfc1436, send: "\r\n", expect: ended},
	{name: "an LF alone", doc: inUse, send: "\n", expect: rootMenu},
	{
		name:   "a CR alone, then the end",
		doc:    inUse,
		send:   "\r",
		how:    thenEnd,
		expect: rootMenu,
	},
	{name: "the end without a byte", doc: inUse, how: thenEnd, expect: ended},
	{name: "a slash", doc: inUse, send: "/\r\n", expect: rootMenu},
	{
		name:   "a TAB: a search without words",
		doc:    rfc1436,
		send:   "\t\r\n",
		expect: anything,
	},
	{
		name:   "TAB $: a Gopher+ menu",
		doc:    plus,
		send:   "\t$\r\n",
		expect: expect{plusMenu | aMenu, note},
	},
	{
		name:   "TAB !: Gopher+ attributes",
		doc:    plus,
		send:   "\t!\r\n",
		expect: anything,
	},
	{
		name:   "TAB and words at the root",
		doc:    rfc1436,
		send:   "\twords\tmore\r\n",
		expect: anything,
	},
	{
		name:   "a line without its end, then the end",
		doc:    inUse,
		send:   "/",
		how:    thenEnd,
		expect: rootMenu,
	},
	{
		name:   "byte by byte",
		doc:    rfc1436,
		send:   nowhere + "\r\n",
		how:    slowly,
		expect: missing,
	},
	{
		name:   "bytes behind the request",
		doc:    inUse,
		send:   "\r\n" + strings.Repeat("more\r\n", 400),
		expect: rootMenu,
	},
	{
		name:   "a name that is not there",
		doc:    rfc1436,
		send:   nowhere + "\r\n",
		expect: missing,
	},
	{
		name: "the error's form",
		doc:  rfc1436,
		send: nowhere + "\r\n",
		form: errorForm,
	},
	{name: "robots.txt", doc: robotsDoc, send: "robots.txt\r\n", expect: rules},
	{name: "/robots.txt", doc: inUse, send: "/robots.txt\r\n", expect: rules},
	{
		name:   "0/robots.txt",
		doc:    robotsDoc,
		send:   "0/robots.txt\r\n",
		expect: expect{robots | anError | noByte, note},
	},
	{
		name:   "robots.txt, LF alone",
		doc:    inUse,
		send:   "robots.txt\n",
		expect: rules,
	},
	{name: "caps.txt", doc: inUse, send: "caps.txt\r\n", expect: anything},
	{
		name:   "URL:http://example.org/",
		doc:    inUse,
		send:   "URL:http://example.org/\r\n",
		expect: expect{pointer | anError, note},
	},
	{
		name: "URL:javascript:",
		doc:  safety,
		send: "URL:" + script + "\r\n",
		form: noScript,
	},
	{
		name:   "..",
		doc:    safety,
		send:   "/../../../../../.." + nowhere + "\r\n",
		expect: missing,
	},
	{
		name:   ".. to the root of the disk",
		doc:    safety,
		send:   "/../../../../../../../\r\n",
		expect: stopped,
		never:  disk,
		few:    2,
	},
	{
		name:   "%2e%2e/",
		doc:    safety,
		send:   "/%2e%2e/%2e%2e/%2e%2e/%2e%2e/%2e%2e/\r\n",
		expect: stopped,
		never:  disk,
		few:    2,
	},
	{
		name:   `..\`,
		doc:    safety,
		send:   "/..\\..\\..\\\r\n",
		expect: stopped,
		never:  disk,
		few:    2,
	},
	{name: "//", doc: inUse, send: "//\r\n", expect: anything},
	{
		name:   "a % without digits",
		doc:    gopherURL,
		send:   nowhere + "%\r\n",
		expect: missing,
	},
	{name: "NUL", doc: rfc1436, send: nowhere + "\x00x\r\n", expect: missing},
	{
		name:   "control bytes",
		doc:    safety,
		send:   nowhere + "\x1b[31m\x07wire\r\n",
		expect: missing,
		never:  []string{"\x1b", "\x07"},
	},
	{
		name:   "bytes that are no UTF-8",
		doc:    rfc1436,
		send:   nowhere + "\xff\xfe\x80\r\n",
		expect: missing,
	},
	{
		name:   "a CR inside",
		doc:    safety,
		send:   nowhere + "\rx\r\n",
		expect: anything,
	},
	{
		name:   "255 bytes",
		doc:    rfc1436,
		send:   nowhere + strings.Repeat("x", 255-len(nowhere)) + "\r\n",
		expect: missing,
	},
	{
		name:   "4,000 bytes",
		doc:    safety,
		send:   nowhere + strings.Repeat("x", 4000-len(nowhere)) + "\r\n",
		expect: expect{anError | noByte, wrong},
	},
	{
		name:   "64 KiB without an end",
		doc:    safety,
		send:   strings.Repeat("x", 64<<10),
		expect: expect{anError | noByte, wrong},
	},
	{name: "nothing", doc: safety, expect: expect{closed, note}},
	{
		name:   "a line that does not end",
		doc:    safety,
		send:   nowhere,
		expect: expect{closed, note},
	},
	{
		name:   "HTTP",
		doc:    inUse,
		send:   "GET / HTTP/1.1\r\nHost: wire-test.example\r\n\r\n",
		expect: expect{http | closed, wrong},
	},
	{name: "TLS", doc: inUse, send: clientHello, expect: anything},
	{
		name: "a PROXY header",
		doc:  safety,
		send: "PROXY TCP4 192.0.2.1 192.0.2.2 1 70\r\n\r\n",
		form: proxied,
	},
	{name: "the root once more", doc: safety, send: "\r\n", expect: rootMenu},
}

// clientHello begins a handshake of TLS 1.2 with one cipher suite, for the server name
// wire-test.example.
var clientHello = func() string {
	random := strings.Repeat("w", 32)
	extension := "\x00\x00\x00\x16\x00\x14\x00\x00\x11wire-test.example" +
		"\x00\x0a\x00\x04\x00\x02\x00\x17" + "\x00\x0d\x00\x06\x00\x04\x04\x03\x04\x01"
	hello := "\x03\x03" + random + "\x00" + "\x00\x04\xc0\x2b\xc0\x2f" + "\x01\x00" +
		fmt.Sprintf("\x00%c", len(extension)) + extension
	return "\x16\x03\x01\x00" + string(rune(len(hello)+4)) + "\x01\x00\x00" +
		string(rune(len(hello))) + hello
}()

// judge grades a response.
func (p *probe) judge(r *response) (grade, string) {
	if p.form != nil {
		return p.form(r)
	}
	found := 0
	for _, text := range p.never {
		found += bytes.Count(r.data, []byte(text))
	}
	switch {
	case found > p.few:
		return wrong, fmt.Sprintf("it sends what it must not, such as %.40q", r.data)
	case r.is&p.want == 0:
		return p.otherwise, r.what()
	case r.is&p.want&theRoot != 0:
		return good, "the root's menu"
	}
	return good, r.what()
}

// lines are those of the response, without their ends.
func (r *response) lines() []string {
	body, _ := strings.CutSuffix(strings.ReplaceAll(string(r.data), "\r\n", "\n"), "\n")
	return strings.Split(body, "\n")
}

// isMenu reports whether nine of ten lines are items.
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

// kinds are all that a response is. The first response is that of the root.
func (r *response) kinds(root *response) (is kinds) {
	text := strings.ToLower(string(r.data))
	_, isError := ask.IsError(r.data)
	for kind, yes := range map[kinds]bool{
		aMenu: r.isMenu() && !isError,
		theRoot: root != nil && text != "" && !isError && len(r.lines()) == len(root.lines()) &&
			r.isMenu() == root.isMenu(),
		anError:  isError && r.closed,
		noByte:   r.closed && text == "",
		closed:   r.closed,
		someByte: text != "",
		robots:   strings.Contains(text, "user-agent:") || strings.Contains(text, "disallow:"),
		pointer:  strings.Contains(text, "http://example.org") && !isError,
		plusMenu: strings.HasPrefix(text, "+"),
		http:     strings.HasPrefix(text, "http/"),
	} {
		if yes {
			is |= kind
		}
	}
	return is
}

// what names the kind of a response.
func (r *response) what() string {
	switch {
	case r.err != "" && len(r.data) == 0:
		return r.err
	case len(r.data) == 0:
		return "closed without a byte"
	case r.is&anError != 0:
		return "an error item"
	case r.is&http != 0:
		return "HTTP"
	case r.data[0] == 0x16 || r.data[0] == 0x15:
		return "TLS"
	case bytes.Contains(bytes.ToLower(r.data[:min(len(r.data), 300)]), []byte("<html")):
		return "a web page"
	case bytes.HasPrefix(r.data, []byte("Error")):
		return "an error as text"
	case r.is&robots != 0:
		return fmt.Sprintf("a robots file of %d bytes", len(r.data))
	case r.is&aMenu != 0:
		return fmt.Sprintf("a menu of %d lines", len(r.lines()))
	}
	return fmt.Sprintf("%d bytes", len(r.data))
}

func menuForm(r *response) (grade, string) {
	for _, line := range r.lines() {
		if line == "." {
			break
		}
		if it, err := menu.ParseItem(line); err != nil || it.Type != menu.TypeInfo && it.Port <= 0 {
			return wrong, fmt.Sprintf("%.60q is no item", line)
		}
	}
	return good, r.what()
}

func menuEnds(r *response) (grade, string) {
	bare := strings.Count(strings.ReplaceAll(string(r.data), "\r\n", ""), "\n")
	if bare > 0 {
		return note, fmt.Sprintf("%d lines end in LF", bare)
	}
	return good, r.what()
}

func lastDot(r *response) (grade, string) {
	switch {
	case bytes.HasSuffix(r.data, []byte("\r\n.\r\n")):
		return good, "it is"
	case bytes.Contains(r.data, []byte("\n.\r\n")), bytes.Contains(r.data, []byte("\n.\n")):
		return note, "something follows it, or it has no CRLF"
	}
	return wrong, "no dot: a client cannot tell whether the menu is whole"
}

func errorForm(r *response) (grade, string) {
	first := r.lines()[0]
	switch {
	case r.is&anError == 0:
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

func noScript(r *response) (grade, string) {
	switch {
	case r.is&anError == 0 && bytes.Contains(bytes.ToLower(r.data), []byte(script)):
		return wrong, "a page with the script in it"
	case !r.closed:
		return wrong, r.what()
	}
	return good, r.what()
}

func proxied(r *response) (grade, string) {
	switch {
	case r.is&theRoot != 0:
		return note, "it believes the header, or drops it"
	case !r.closed:
		return wrong, r.what()
	}
	return good, r.what()
}
