package selector_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gophd/gophd/selector"
)

func TestLine(t *testing.T) {
	for _, tt := range []struct {
		in, want string
		ok       bool
	}{
		{"", "", false},
		{"robots.txt", "robots.txt", false},
		{"\r\n", "", true},
		{"\n", "", true},
		{"a\n", "a", true},
		{"a\r\n", "a", true},
		{"a\r", "a", true},
		{"a\rb\nc", "a", true},
		{"a\nb\rc\r\n", "a", true},
		{"a\tq\r\nrest\r\n", "a\tq", true},
	} {
		got, ok := selector.Line([]byte(tt.in))
		if ok != tt.ok || ok && string(got) != tt.want {
			t.Errorf("Line(%q) = %q, %t; want %q, %t", tt.in, got, ok, tt.want, tt.ok)
		}
	}
}

func TestLineAllocatesNothing(t *testing.T) {
	buf := []byte("/a/rather/long/selector\r\n")
	if n := testing.AllocsPerRun(100, func() { _, _ = selector.Line(buf) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want selector.RequestLine
	}{
		{"", selector.RequestLine{}},
		{"/a b", selector.RequestLine{Selector: "/a b"}},
		{"/s\tq r", selector.RequestLine{Selector: "/s", Query: "q r"}},
		{"/s\t", selector.RequestLine{Selector: "/s"}},
		{"\t$", selector.RequestLine{Plus: "$"}},
		{"/s\t+", selector.RequestLine{Selector: "/s", Plus: "+"}},
		{"/s\t+text/plain", selector.RequestLine{Selector: "/s", Plus: "+text/plain"}},
		{"/s\t!", selector.RequestLine{Selector: "/s", Plus: "!"}},
		{"/s\t$+INFO", selector.RequestLine{Selector: "/s", Plus: "$+INFO"}},
		{"/s\tq\t+", selector.RequestLine{Selector: "/s", Query: "q", Plus: "+"}},
		{"/s\t+\t+", selector.RequestLine{Selector: "/s", Query: "+", Plus: "+"}},
		{"/s\tq\t+\t1", selector.RequestLine{Selector: "/s", Query: "q", Plus: "+"}},
		{"/s\t+1", selector.RequestLine{Selector: "/s", Query: "+1"}},
		{"/s\t$5", selector.RequestLine{Selector: "/s", Query: "$5"}},
	} {
		got, err := selector.Parse([]byte(tt.in))
		if err != nil || got != tt.want {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", tt.in, got, err, tt.want)
		}
	}
}

func TestAbuseControlBytesInRequest(t *testing.T) {
	for _, in := range []string{"a\x00b", "\x00", "a\x1b[31m", "a\tq\x07", "a\x7f",
		"a\rb", "a\nb"} {
		_, err := selector.Parse([]byte(in))
		var refused *selector.RefusedError
		if !errors.As(err, &refused) || refused.Reason != selector.Control {
			t.Errorf("Parse(%q): %v, want a refusal", in, err)
		}
	}
}

func TestAbuseLongRequest(t *testing.T) {
	_, err := selector.Parse(bytes.Repeat([]byte("a"), selector.MaxRequest+1))
	var refused *selector.RefusedError
	if !errors.As(err, &refused) || refused.Reason != selector.TooLong {
		t.Errorf("got %v, want a refusal", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "a\tq\t+", "\t$\r\n", "a\r\nb", "\x00\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		line, ok := selector.Line(b)
		if ok && (bytes.ContainsAny(line, "\r\n") || !bytes.HasPrefix(b, line)) {
			t.Fatalf("Line(%q) = %q", b, line)
		}
		req, err := selector.Parse(line)
		if err != nil {
			return
		}
		all := req.Selector + req.Query + req.Plus
		if strings.ContainsFunc(all, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Fatalf("a control byte in %+v", req)
		}
		if len(all) > len(line) {
			t.Fatalf("%q became longer: %+v", line, req)
		}
	})
}

func BenchmarkRequest(b *testing.B) {
	buf := []byte("/phlog/2024/a-day-in-march.txt\r\n")
	b.ReportAllocs()
	for b.Loop() {
		line, _ := selector.Line(buf)
		req, _ := selector.Parse(line)
		if _, _, err := selector.Path(req.Selector); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleParse() {
	line, _ := selector.Line([]byte("/search\tgopher holes\r\n"))
	req, err := selector.Parse(line)
	fmt.Println(req.Selector, "asked for", req.Query, err)
	// Output: /search asked for gopher holes <nil>
}
