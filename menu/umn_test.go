package menu_test

import (
	"testing"

	"github.com/gophd/gophd/menu"
)

func TestUMN(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"names", map[string]string{".names": "Name=About\nPath=./b.txt\nNumb=1\n\nType=9\nPath=~/a.txt\n"},
			"0About\t/b.txt\n1dir\t/dir/\n9a.txt\t/a.txt\n0c.txt\t/c.txt\n"},
		{"a hidden file", map[string]string{".names": "Path=./b.txt\nType=X\n\nType=-\nPath=./dir\n"}, "0a.txt\t/a.txt\n0c.txt\t/c.txt\n"},
		{"links", map[string]string{".Links": "# of mine\nName=Far\nType=1\nPath=1/x\nHost=h.example\nPort=7070\n#\nName=Near\nType=0\nPath=dir/x.txt\nHost=+\nPort=+\n\n" +
			"Name=Web\nType=h\nPath=URL:https://a.example/\n\nName=Old\nPath=0/a.txt\n\nType=7\nName=Search\nPath=/find\nNumb=-2\n\nName=Last\nPath=/c.txt\nNumb=-1\n"},
			"1dir\t/dir/\n0a.txt\t/a.txt\n0b.txt\t/b.txt\n0c.txt\t/c.txt\n1Far\t1/x\th.example\t7070\n0Near\t/dir/x.txt\nhWeb\tURL:https://a.example/\n0Old\t/a.txt\n7Search\t/find\n0Last\t/c.txt\n"},
		{"caps", map[string]string{".cap/B/x": "",
			".cap/a.txt": "Name=The first\nNumb=2\nPath=./b.txt\n",
			".cap/dir":   "Name=Things\nNumb=1\n", ".cap/c.txt": "Type=X\n",
			".cap/gone": "Name=Gone\n"},
			"1Things\t/dir/\n0The first\t/a.txt\n0b.txt\t/b.txt\n1Gone\t/gone\n"},
		{"abstracts", map[string]string{".abstract": "All of it\n  is here\n",
			".names": "Path=./a.txt\nAbstract=One \\\ntwo\n"},
			"iAll of it\ni  is here\n1dir\t/dir/\n0a.txt\t/a.txt\niOne \nitwo\n0b.txt\t/b.txt\n0c.txt\t/c.txt\n"},
		{"nothing of use", map[string]string{".names": "Some text.\n\nAdmin=me\nTTL=1\n\nName=No path\n", ".Links": ""},
			"1dir\t/dir/\n0a.txt\t/a.txt\n0b.txt\t/b.txt\n0c.txt\t/c.txt\niNo path\n"},
		{"bad fields", map[string]string{".names": "Path=./a.txt\nName=a\x1b[1mb\x07\nType=\x01\nNumb=x\n\nName=Bad\nPath=/x\x01\n\nName=Port\nPath=/\nHost=h\nPort=99999\n\nName=Up\nPath=../../etc/passwd\nType=0\n\nName=Short\nPath=x\n"},
			"1dir\t/dir/\n0ab \t/a.txt\n0b.txt\t/b.txt\n0c.txt\t/c.txt\niBad\niPort\n0Up\t/etc/passwd\n1Short\t/x\n"},
		{"a program", map[string]string{".Links": "Name=Guests\nType=7\nPath=/cgi-bin/guests\n"},
			"1dir\t/dir/\n0a.txt\t/a.txt\n0b.txt\t/b.txt\n0c.txt\t/c.txt\niGuests\n"},
	} {
		fsys := tree(map[string]string{"a.txt": "", "b.txt": "", "c.txt": "", "dir/x.txt": ""})
		for name, f := range tree(tt.files) {
			fsys[name] = f
		}
		m := mustMenu(t, menu.Builder{FS: fsys, Host: "our.example", Port: 70}, ".")
		if got := show(m); got != tt.want {
			t.Errorf("%s: got\n%swant\n%s", tt.name, got, tt.want)
		}
	}
}
