package menu

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gophd/gophd/selector"
)

// The item types: of RFC 1436, section 3.8, and those in use beside them.
const (
	TypeText     = '0'
	TypeMenu     = '1'
	TypeCSO      = '2'
	TypeError    = '3'
	TypeBinHex   = '4'
	TypeArchive  = '5'
	TypeUUEncode = '6'
	TypeSearch   = '7'
	TypeTelnet   = '8'
	TypeBinary   = '9'
	TypeMirror   = '+'
	TypeTN3270   = 'T'
	TypeGIF      = 'g'
	TypeImage    = 'I'
	TypeInfo     = 'i'
	TypeHTML     = 'h'
	TypeSound    = 's'
	TypeDocument = 'd'
	TypePNG      = 'p'
	TypeVideo    = ';'
	TypePDF      = 'P'
	TypeCalendar = 'c'
	TypeEvent    = 'e'
	TypeMIME     = 'M'
)

// End is the last line of every menu (RFC 1436, section 3.3).
const End = ".\r\n"

// nowhere is the host of items that link nothing.
const nowhere = "error.host"

// Item is one line of a menu.
type Item struct {
	Type     byte   // if zero, information
	Below    bool   // of information: it is about the link above it
	Hits     []Hit  // of information: what was searched for in the Label
	Label    string // what people read; control characters are sent as spaces
	Selector string // what to send for it
	Host     string // if empty, "error.host", which no client can reach
	Port     int    // if zero, 70, and 1 where Host is empty
}

// A Hit is a part of a label, in bytes.
type Hit struct{ From, To int }

// Text returns the label, behind blanks if it is below a link, for fronts that have nothing
// better. Its hits are between asterisks, unless it has some of its own.
func (it Item) Text() string {
	text := it.Label
	for _, h := range slices.Backward(it.Hits) {
		if !strings.Contains(it.Label, "*") {
			text = text[:h.From] + "*" + text[h.From:h.To] + "*" + text[h.To:]
		}
	}
	if it.Below {
		text = "   " + text
	}
	return text
}

// Info returns a line of information, which links nothing.
func Info(label string) Item { return Item{Type: TypeInfo, Label: label} }

// ErrorItem returns the item that explains an error to a client. It is the only item
// of its menu.
func ErrorItem(msg string) Item { return Item{Type: TypeError, Label: msg} }

// AppendTo appends the line of the item to b, its CR LF included (RFC 1436,
// section 3.9). No control character gets on the wire, neither of ASCII nor of
// U+0080 to U+009F nor a byte like that outside UTF-8: in the label each becomes
// a space, and an item whose selector or host contains one, or whose port is not from
// 1 to 65535, is sent as a text line with its label alone.
func (it Item) AppendTo(b []byte) []byte {
	it = it.sound()
	b = append(b, it.Type)
	b = selector.AppendClean(b, it.Text())
	return append(b, "\t"+it.Selector+"\t"+it.Host+"\t"+strconv.Itoa(it.Port)+"\r\n"...)
}

// sound returns the item with its defaults, fit to be sent.
func (it Item) sound() Item {
	switch {
	case it.Host != "" && it.Port == 0:
		it.Port = 70
	case it.Host == "":
		it.Host, it.Port = nowhere, 1
	}
	bad := selector.HasControl(it.Selector) || selector.HasControl(it.Host) || it.Port < 1 ||
		it.Port > 65535
	if bad || it.Type <= ' ' || it.Type > '~' {
		return Item{Type: TypeInfo, Label: it.Label, Host: nowhere, Port: 1}
	}
	return it
}

// size is the most that AppendTo appends, in bytes.
func (it Item) size() int {
	return len(it.Label) + len(it.Selector) + max(len(it.Host), len(nowhere)) +
		len("i\t\t\t65535\r\n")
}

// ParseItem reads a line of a menu as a client receives it, with its line end or
// without. Fields after the port (Gopher+) are dropped. Information and errors may
// leave out their link; other items must have a selector, which may be empty, a
// host and a port from 0 to 65535. The label may contain control characters, which must not
// reach a terminal.
func ParseItem(line string) (Item, error) {
	line = strings.TrimRight(line, "\r\n")
	if line == "" || line[0] <= ' ' || line[0] > '~' {
		return Item{}, fmt.Errorf("reading a menu line: no item type")
	}
	fields := append(strings.SplitN(line[1:], "\t", 5), "", "", "")
	port, err := strconv.ParseUint(strings.TrimSpace(fields[3]), 10, 16)
	it := Item{
		Type:     line[0],
		Label:    fields[0],
		Selector: fields[1],
		Host:     strings.TrimSpace(fields[2]),
		Port:     int(port),
	}
	if it.Type == TypeInfo || it.Type == TypeError {
		return it, nil
	}
	switch {
	case err != nil:
		return Item{}, fmt.Errorf("reading a menu line: no port from 0 to 65535")
	case it.Host == "":
		return Item{}, fmt.Errorf("reading a menu line: no host")
	}
	return it, nil
}

// Parse parses a whole menu. Ok is false if a line is no item, or if the last line is
// not a dot.
func Parse(text string) (items []Item, ok bool) {
	if text == End {
		return nil, true
	}
	body, ended := strings.CutSuffix(text, "\r\n"+End)
	if !ended {
		return nil, false
	}
	items = make([]Item, 0, strings.Count(text, "\n"))
	for line := range strings.SplitSeq(body, "\r\n") {
		it, err := ParseItem(line)
		if err != nil {
			return nil, false
		}
		items = append(items, it)
	}
	return items, true
}

// AppendPlusInfo appends the items as +INFO blocks, ended like a menu: the reply to
// the UMN client, which requests the root with TAB "$" (Gopher+).
func AppendPlusInfo(b []byte, items []Item) []byte {
	b = append(b, "+-1\r\n"...)
	for _, it := range items {
		b = append(b, "+INFO: "...)
		b = it.AppendTo(b)
	}
	return append(b, End...)
}
