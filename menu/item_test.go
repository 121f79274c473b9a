package menu_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gophd/gophd/menu"
)

func TestItemHits(t *testing.T) {
	for label, want := range map[string]string{"a word": "i   a *word*\t\terror.host\t1\r\n",
		"a word*": "i   a word*\t\terror.host\t1\r\n"} {
		it := menu.Item{Type: menu.TypeInfo, Below: true, Label: label,
			Hits: []menu.Hit{{From: 2, To: 6}}}
		if got := string(it.AppendTo(nil)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestItemAppendTo(t *testing.T) {
	for _, tt := range []struct {
		item menu.Item
		want string
	}{
		{menu.Item{Type: '0', Label: "About", Selector: "/about.txt", Host: "a.example", Port: 70},
			"0About\t/about.txt\ta.example\t70\r\n"},
		{menu.Item{Type: '1', Label: "Ünïcode", Selector: "/é", Host: "a", Port: 65535},
			"1Ünïcode\t/é\ta\t65535\r\n"},
		{menu.Item{Type: '1', Host: "a"}, "1\t\ta\t70\r\n"},
		{menu.Item{}, "i\t\terror.host\t1\r\n"},
		{menu.Info("text"), "itext\t\terror.host\t1\r\n"},
		{menu.ErrorItem("not found"), "3not found\t\terror.host\t1\r\n"},
		{menu.Info("a\tb\r\nc\x1b[1md\x00\x7fe\u009bf\x9bg\xe4"),
			"ia b  c [1md  e f g\xe4\t\terror.host\t1\r\n"},
		{menu.Item{Type: '0', Label: "x", Selector: "/a\tb", Host: "a", Port: 70},
			"ix\t\terror.host\t1\r\n"},
		{menu.Item{Type: '0', Label: "x", Selector: "/a\u0085", Host: "a", Port: 70},
			"ix\t\terror.host\t1\r\n"},
		{menu.Item{Type: '0', Label: "x", Selector: "/a", Host: "a\r\n", Port: 70},
			"ix\t\terror.host\t1\r\n"},
		{menu.Item{Type: '0', Label: "x", Selector: "/a", Host: "a", Port: 65536},
			"ix\t\terror.host\t1\r\n"},
		{menu.Item{Type: '0', Label: "x", Selector: "/a", Host: "a", Port: -1},
			"ix\t\terror.host\t1\r\n"},
		{menu.Item{Type: ' ', Label: "x", Selector: "/a", Host: "a"}, "ix\t\terror.host\t1\r\n"},
		{menu.Item{Type: '\n', Label: "x", Selector: "/a", Host: "a"}, "ix\t\terror.host\t1\r\n"},
	} {
		if got := string(tt.item.AppendTo(nil)); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%+v is written %q, want %q", tt.item, got, tt.want)
		}
	}
}

func TestParseItem(t *testing.T) {
	for _, tt := range []struct {
		line string
		want menu.Item
	}{
		{"0A\t/a\th\t70\r\n", menu.Item{Type: '0', Label: "A", Selector: "/a",
			Host: "h", Port: 70}},
		{"1A\t\th\t70\t+", menu.Item{Type: '1', Label: "A", Host: "h", Port: 70}},
		{"1A\t\th \t 70 ", menu.Item{Type: '1', Label: "A", Host: "h", Port: 70}},
		{"8A\t\th\t0", menu.Item{Type: '8', Label: "A", Host: "h"}},
		{"iA", menu.Item{Type: 'i', Label: "A"}},
		{"iA\tfake\t(NULL)\t0", menu.Item{Type: 'i', Label: "A", Selector: "fake", Host: "(NULL)"}},
		{"3no\t\terror.host\t1", menu.Item{Type: '3', Label: "no", Host: "error.host", Port: 1}},
	} {
		got, err := menu.ParseItem(tt.line)
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("ParseItem(%q) = %+v, %v; want %+v", tt.line, got, err, tt.want)
		}
	}
	for _, line := range []string{"", "\r\n", " x", " A\t/a\th\t70", "\tx", ".", "0A", "0A\t/a",
		"0A\t/a\t\t70", "0A\t/a\th\t", "0A\t/a\th\t65536", "0A\t/a\th\t-1"} {
		if got, err := menu.ParseItem(line); err == nil {
			t.Errorf("ParseItem(%q) = %+v, want an error", line, got)
		}
	}
	for text, want := range map[string]int{".\r\n": 0, "iA\r\n0A\t/a\th\t70\r\n.\r\n": 2,
		"iA\r\n": -1, "iA\r\n x\r\n.\r\n": -1} {
		if got, ok := menu.Parse(text); ok != (want >= 0) || len(got) != max(want, 0) {
			t.Errorf("Parse(%q) = %+v, %v; want %d items", text, got, ok, want)
		}
	}
}

func FuzzItem(f *testing.F) {
	f.Add(byte('0'), "label", "/sel", "host", 70)
	f.Add(byte('1'), "a\tb\u009b", "/\x1b", "h\n", -1)
	f.Fuzz(func(t *testing.T, typ byte, label, sel, host string, port int) {
		it := menu.Item{Type: typ, Label: label, Selector: sel, Host: host, Port: port}
		line := string(it.AppendTo(nil))
		checkLine(t, line)
		again, err := menu.ParseItem(line)
		if err != nil {
			return // a host of spaces
		}
		if s := string(again.AppendTo(nil)); again.Host == host && s != line {
			t.Fatalf("%q is read as %+v, written %q", line, again, s)
		}
	})
}

// checkLine fails if line is no well-formed item.
func checkLine(t *testing.T, line string) {
	t.Helper()
	body, ok := strings.CutSuffix(line, "\r\n")
	if !ok || body == "" || strings.Count(body, "\t") != 3 {
		t.Fatalf("no item: %q", line)
	}
	bad := func(r rune) bool { return r < ' ' && r != '\t' || 0x7f <= r && r < 0xa0 }
	if strings.ContainsFunc(body, bad) {
		t.Fatalf("a control character: %q", line)
	}
}

func TestAppendPlusInfo(t *testing.T) {
	got := string(menu.AppendPlusInfo([]byte(">"),
		[]menu.Item{menu.Info("Hi"), {Type: '0', Label: "A", Selector: "/a", Host: "h", Port: 70}}))
	want := ">+-1\r\n+INFO: iHi\t\terror.host\t1\r\n+INFO: 0A\t/a\th\t70\r\n.\r\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func ExampleItem_AppendTo() {
	it := menu.Item{Type: menu.TypeText, Label: "About this hole", Selector: "/about.txt",
		Host: "gopher.example", Port: 70}
	fmt.Printf("%q\n", it.AppendTo(nil))
	// Output: "0About this hole\t/about.txt\tgopher.example\t70\r\n"
}
