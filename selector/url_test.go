package selector_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gophd/gophd/selector"
)

func TestParseURL(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want selector.URL
		out  string
	}{
		{"gopher://a.example", selector.URL{Host: "a.example", Port: 70, Type: '1'},
			"gopher://a.example/"},
		{"GOPHER://a.example/", selector.URL{Host: "a.example", Port: 70, Type: '1'},
			"gopher://a.example/"},
		{"a.example:7070/0x", selector.URL{Host: "a.example", Port: 7070, Type: '0', Selector: "x"},
			"gopher://a.example:7070/0x"},
		{"gopher://a/1/d/", selector.URL{Host: "a", Port: 70, Type: '1', Selector: "/d/"},
			"gopher://a/1/d/"},
		{"gophers://a:70/0/a%20b",
			selector.URL{Host: "a", Port: 70, Type: '0', Selector: "/a b", TLS: true},
			"gophers://a/0/a%20b"},
		{"gopher://a/7/s%09x%20y",
			selector.URL{Host: "a", Port: 70, Type: '7', Selector: "/s", Query: "x y"},
			"gopher://a/7/s%09x%20y"},
		{"gopher://a/7/s?x", selector.URL{Host: "a", Port: 70, Type: '7', Selector: "/s?x"},
			"gopher://a/7/s%3Fx"},
		{"gopher://a/0x%09q%09+#top",
			selector.URL{Host: "a", Port: 70, Type: '0', Selector: "x", Query: "q"},
			"gopher://a/0x%09q"},
		{"gopher://[::1]:71/9x", selector.URL{Host: "::1", Port: 71, Type: '9', Selector: "x"},
			"gopher://[::1]:71/9x"},
		{"gopher://[2001:db8::1]", selector.URL{Host: "2001:db8::1", Port: 70, Type: '1'},
			"gopher://[2001:db8::1]/"},
	} {
		got, err := selector.ParseURL(tt.in)
		if err != nil || got != tt.want {
			t.Errorf("ParseURL(%q) = %+v, %v; want %+v", tt.in, got, err, tt.want)
		}
		if s := got.String(); s != tt.out {
			t.Errorf("ParseURL(%q) prints %q, want %q", tt.in, s, tt.out)
		}
	}
}

func TestParseURLRefuses(t *testing.T) {
	for in, want := range map[string]selector.Cause{
		"http://a/": selector.Scheme, "": selector.Host, "gopher://": selector.Host,
		"gopher:///x":   selector.Host,
		"gopher://a:0/": selector.Port, "gopher://a:65536/": selector.Port,
		"gopher://a:/": selector.Port, "gopher://a:x/": selector.Port,
		"gopher://[::1": selector.Host, "gopher://[a.example]/": selector.Host,
		"gopher://[::ffff]x/":        selector.Port,
		"gopher://[fe80::1%25eth0]/": selector.Host, "gopher://user@a/": selector.Host,
		"gopher://a b/":   selector.Host,
		"gopher://a/0%zz": selector.Escape, "gopher://a/0%0d%0aQUIT": selector.Escape,
		"gopher://a/%07":  selector.Escape,
		"gopher://a/0%00": selector.Escape, "gopher://a/7x%09%0a": selector.Escape,
		"gopher://a/0x\ty": selector.Control,
		"gopher://a/%20x":  selector.Type, "gopher://a/%c3%bc": selector.Type,
	} {
		got, err := selector.ParseURL(in)
		var refused *selector.RefusedError
		if !errors.As(err, &refused) || refused.Reason != want || got != (selector.URL{}) {
			t.Errorf("ParseURL(%q) = %+v, %v; want it refused for %s", in, got, err, want)
		}
	}
}

func FuzzURL(f *testing.F) {
	for _, s := range []string{"gopher://a", "gophers://[::1]:71/7x%09q", "a:7070/0/%25",
		"gopher://a//"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := selector.ParseURL(s)
		if err != nil {
			return
		}
		again, err := selector.ParseURL(u.String())
		if err != nil || again != u {
			t.Fatalf("%q is %+v, printed %q, which is %+v, %v", s, u, u, again, err)
		}
	})
}

func ExampleParseURL() {
	u, err := selector.ParseURL("gopher://gopher.example:7070/0/robots.txt")
	fmt.Println(u.Host, u.Port, u.Selector, err)
	fmt.Println(u)
	// Output:
	// gopher.example 7070 /robots.txt <nil>
	// gopher://gopher.example:7070/0/robots.txt
}

func TestZeroURL(t *testing.T) {
	if got := (selector.URL{Host: "a"}).String(); got != "gopher://a/" {
		t.Errorf("got %q", got)
	}
}
