package menu_test

import (
	"io"
	"strings"
	"testing"

	"github.com/gophd/gophd/menu"
)

func TestLooksLikeLatin1(t *testing.T) {
	check := func(whole bool, rows map[string]bool) {
		for text, want := range rows {
			if got := menu.CharsetAuto.Of("a.txt", []byte(text),
				whole); (got == menu.CharsetLatin1) != want {
				t.Errorf("%q, whole %t: %s, want %t", text, whole, got.Label(), want)
			}
		}
	}
	check(true, map[string]bool{
		"plain": false, "": false, "ünï": false, "a caf\xe9": true, "cut in two: \xc3": false,
		"\x82\xe9":                false,
		"Gr\xfc\xdfe aus K\xf6ln": true, "Ol\xe9, \xbfqu\xe9 tal?": true, "it\x92s": true,
		"caf\xe9": true, "caf\xe9, ol\xe9, d\xe9j \xdb\xdb\xdb": true,
		"caf\xe9, ol\xe9 \xdb\xdb\xdb": false, "a\xe9\x80\xe9\xe9b": false,
		"\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0":                           false, // Cyrillic
		"\xc9\xcd\xcd\xcd\xcd\xbb\n\xba hi \xba\n\xc8\xcd\xcd\xcd\xcd\xbc": false, // a box of DOS
		"\xdb\xdb\xdb\xb2\xb1\xb0 ART":                                     false,
	})
	// The beginning of a text may end within a character.
	check(false, map[string]bool{"cut in tw\xc3": false, "cut \xe2\x82": false,
		"\xf0\x9f\x98": false, "a caf\xe9 and caf\xe9": true, "ol\xe9, caf\xc3": true})
}

// TestCharsets: a text is UTF-8 or UTF-16 if it is that, else in the set that is given, else in
// that of DOS by its name, else in none that is known.
func TestCharsets(t *testing.T) {
	for _, row := range []struct{ set, name, text, label, want string }{
		{"auto", "a.txt", "ä", "utf-8", "ä"},
		{"latin1", "a.txt", "ä", "utf-8", "ä"},
		{"koi8-r", "a.txt", strings.Repeat("ä", 20) + "\xc3", "utf-8",
			strings.Repeat("ä", 20) + "\xc3"},
		{"latin1", "a.txt", strings.Repeat("ä", 20) + "\xe9\xe9", "windows-1252",
			strings.Repeat("Ã¤", 20) + "éé"},
		{"latin1", "a.txt", "\xdb\x80\xa0\xff", "windows-1252", "Û€\u00a0ÿ"},
		{"utf-8", "a.txt", "caf\xe9", "unknown-8bit", "caf\xe9"},
		{"auto", "a.txt", "\xfa\xc1\xc7\xcf\xcc\xcf\xd7\xcf\xcb", "unknown-8bit",
			"\xfa\xc1\xc7\xcf\xcc\xcf\xd7\xcf\xcb"},
		{"koi8-r", "a.txt", "\xfa\xc1\xc7\xcf\xcc\xcf\xd7\xcf\xcb", "koi8-r", "Заголовок"},
		{"cp1251", "a.txt", "\xd7\xe0\xe9", "windows-1251", "Чай"},
		{"Shift-JIS", "a.txt", "\x83\\\x95\\", "shift_jis", "ソ表"},
		{"gb18030", "a.txt", "\xb2\xe8", "gb18030", "茶"},
		{"cp437", "a.txt", "\xc9\xcd\xbb", "IBM437", "╔═╗"},
		{"auto", "A.NFO", "\xc9\xcd\xbb", "IBM437", "╔═╗"},
		{"koi8-r", "a.nfo", "\xfa", "koi8-r", "З"},
		{"auto", "a.txt", "\xff\xfe", "utf-16", ""},
		{"auto", "a.txt", "\xff\xfea\x00", "utf-16", "a"},
		{"koi8-r", "a.txt", "\xfe\xff\xd8\x3d\xde\x00", "utf-16", "😀"},
	} {
		var set menu.Charset
		if err := set.UnmarshalText([]byte(row.set)); err != nil {
			t.Error(err)
		}
		c := set.Of(row.name, []byte(row.text), true)
		read, _ := io.ReadAll(c.Reader(strings.NewReader(row.text)))
		if got := string(c.Decode([]byte(row.text))); c.Label() != row.label || got != row.want ||
			string(read) != got {
			t.Errorf("%s, %s %q: %s, %q, %q", row.set, row.name, row.text, c.Label(), got, read)
		}
	}
	for _, name := range []string{"koi9", "replacement", "iso-2022-kr"} {
		if new(menu.Charset).UnmarshalText([]byte(name)) == nil {
			t.Errorf("%s is a character set", name)
		}
	}
}

// TestCutLine: a line that is too long is cut before a character, so that it stays UTF-8.
func TestCutLine(t *testing.T) {
	b := menu.Builder{FS: tree(map[string]string{".abstract": "x" + strings.Repeat("é", 3000)}),
		Host: "our.example", Port: 70}
	if m := mustMenu(t, b, "."); m.Items[0].Label != "x"+strings.Repeat("é", 2047) {
		t.Errorf("%.20q, %d bytes", m.Items[0].Label, len(m.Items[0].Label))
	}
}
