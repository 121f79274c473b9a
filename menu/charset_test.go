package menu_test

import (
	"testing"
	"unicode/utf8"

	"github.com/gophd/gophd/menu"
)

func TestConverts(t *testing.T) {
	for text, want := range map[string]bool{
		"plain": false, "": false, "ünï": false, "a caf\xe9": true, "cut in two: \xc3": false, "\x82\xe9": false,
		"Gr\xfc\xdfe aus K\xf6ln": true, "Ol\xe9, \xbfqu\xe9 tal?": true, "it\x92s": true, "caf\xe9": true, "caf\xe9, ol\xe9, d\xe9j \xdb\xdb\xdb": true, "caf\xe9, ol\xe9 \xdb\xdb\xdb": false, "a\xe9\x80\xe9\xe9b": false,
		"\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0":                           false, // Cyrillic
		"\xc9\xcd\xcd\xcd\xcd\xbb\n\xba hi \xba\n\xc8\xcd\xcd\xcd\xcd\xbc": false, // a box of DOS
		"\xdb\xdb\xdb\xb2\xb1\xb0 ART":                                     false,
	} {
		if got := menu.CharsetAuto.Converts([]byte(text), true); got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	}
	if !menu.CharsetLatin1.Converts([]byte("\xdb\xdb"), true) || menu.CharsetLatin1.Converts([]byte("ä"), true) || menu.CharsetUTF8.Converts([]byte("caf\xe9"), true) {
		t.Error("a mode that is given does not decide")
	}
}

func TestFromUTF16(t *testing.T) {
	for text, want := range map[string]string{"": "none", "\xff": "none", "ab": "none", "\xfe\xfe": "none", "\xff\xfe": "", "\xff\xfea\x00\x01": "a", "\xfe\xff\x00a": "a", "\xfe\xff\xd8\x3d\xde\x00": "😀"} {
		got, ok := menu.FromUTF16(text)
		if !ok {
			got = "none"
		}
		if got != want {
			t.Errorf("%q is %q", text, got)
		}
	}
}

// The beginning of a text may end within a character.
func TestConvertsBeginning(t *testing.T) {
	for text, want := range map[string]bool{"cut in tw\xc3": false, "cut \xe2\x82": false, "\xf0\x9f\x98": false, "a caf\xe9 and caf\xe9": true, "ol\xe9, caf\xc3": true} {
		if got := menu.CharsetAuto.Converts([]byte(text), false); got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	}
}

func TestCharsetUnmarshal(t *testing.T) {
	for text, want := range map[string]menu.Charset{"": menu.CharsetAuto, "auto": menu.CharsetAuto, "latin1": menu.CharsetLatin1, "utf-8": menu.CharsetUTF8} {
		var m menu.Charset
		if err := m.UnmarshalText([]byte(text)); err != nil || m != want {
			t.Errorf("%q: %v, %v", text, m, err)
		}
	}
	var m menu.Charset
	if m.UnmarshalText([]byte("koi8")) == nil {
		t.Error("an unknown character set is none")
	}
}

func FuzzFromLatin1(f *testing.F) {
	f.Add("Gr\xfc\xdfe")
	f.Add("\x80\x99\x9f\xa0\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := menu.FromLatin1(s)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) != len(s) || s == "\x80\x99\x9f\xa0\xff" && got != "€™Ÿ\u00a0ÿ" {
			t.Fatalf("%q became %q", s, got)
		}
	})
}
