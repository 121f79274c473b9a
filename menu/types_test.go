package menu_test

import (
	"strings"
	"testing"

	"github.com/gophd/gophd/menu"
)

func TestTypeOf(t *testing.T) {
	for name, want := range map[string]byte{
		"a.txt": '0', "A.TXT": '0', "a.b.Md": '0', "x.c": '0', "a.zip": '5', "a.tar.gz": '5',
		"a.hqx": '4', "a.uu": '6',
		"a.bin": '9', "a.gif": 'g', "a.png": 'I', "a.JPEG": 'I', "a.html": 'h', "a.mp3": 's',
		"a.mp4": ';', "a.pdf": 'd',
		"a.eml": 'M', "a.ics": 'c', "dir/a.ogg": 's', ".txt": '0',
	} {
		if got, ok := menu.TypeOf(name); got != want || !ok {
			t.Errorf("TypeOf(%q) = %q, %t; want %q", name, got, ok, want)
		}
	}
	for _, name := range []string{"", ".", "README", "a.", "a.unknown", "a.txt/b",
		"a." + strings.Repeat("x", 100)} {
		if got, ok := menu.TypeOf(name); got != '9' || ok {
			t.Errorf("TypeOf(%q) = %q, %t; want it unknown", name, got, ok)
		}
	}
}

func TestSniff(t *testing.T) {
	for head, want := range map[string]byte{
		"": '0', "plain\r\ntext\t\f": '0', "\x1b[1mansi\x1b[0m": '0', "latin1 \xe4\xf6\xfc": '0',
		"ünï": '0', "MS-DOS\x1a": '0', "\bb": '0',
		"\x00": '9', "\x89PNG\r\n\x1a\n\x00": '9', "\x7fELF\x02\x01": '9', "\x1f\x8b\x08": '9',
		strings.Repeat("a", 512) + "\x00": '0', strings.Repeat("a", 511) + "\x00": '9',
	} {
		if got := menu.Sniff([]byte(head)); got != want {
			t.Errorf("Sniff(%.20q) = %q, want %q", head, got, want)
		}
	}
}
