package check

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/internal/source/programs"
	"github.com/gophd/gophd/site"
)

// One walk looks at the root, mounts, users and hosts, and counts for each owner.
func TestSite(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to others")
	}
	dir := t.TempDir()
	must(t, os.Chmod(filepath.Dir(dir), 0o755))
	write(t, dir, map[string]string{"root/gophermap": "Hi\n", "root/pub/hidden": "x",
		"mirror/gophermap":                  "0No\tno.txt\n=/bin/fortune\n",
		"homes/ann/public_gopher/gophermap": "Ann\n\n0No\tno.txt\n",
		"homes/ann/public_gopher/alien.txt": "x", "homes/bob/public_gopher/b.txt": "b",
		"homes/cleo/public_gopher/c.txt": "c", "homes/cleo/public_gopher/cgi-bin/x/y": "",
		"homes/dan/public_gopher/d.txt": "d", "two/gophermap": "=figlet hi\n"})
	give := func(uid int, names ...string) {
		for _, name := range names {
			must(t, filepath.Walk(filepath.Join(dir, name),
				func(path string, _ os.FileInfo, err error) error {
					must(t, err)
					return os.Chown(path, uid, uid)
				}))
		}
	}
	give(1012345, "homes/ann", "homes/bob")
	give(12346, "homes/ann/public_gopher/alien.txt", "homes/cleo", "homes/dan/public_gopher")
	give(12347, "homes/dan")
	give(12346, "homes/dan/public_gopher")
	give(500, "homes/bob")
	o := Options{Site: site.Config{Users: dir + "/homes/*/public_gopher",
		Mounts: map[string]string{"pub": dir + "/mirror"}}}
	r, err := examineSite(t.Context(), dir+"/root",
		map[string]string{"two.example": dir + "/two"}, o)
	must(t, err)
	var got, parts []string
	for _, d := range r.Findings {
		got = append(got, d.Code+" "+d.Place())
	}
	if want := []string{"MENU-PROGRAM pub/gophermap:2", "MENU-PROGRAM two.example:/gophermap:1",
		"CHECK-OWNER ~ann/alien.txt", "MENU-PROGRAM ~cleo/cgi-bin", "CHECK-OWNER ~dan",
		"CHECK-NOWHERE pub/gophermap:1", "CHECK-NOWHERE ~ann/gophermap:3",
		"CHECK-OWNER ~bob"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	} else if hint := r.Findings[3].Hint; hint != "gophd -fastcgi '/~*/cgi-bin=/run/gophd-programs-*.sock'" {
		t.Error(hint)
	}
	for l := range strings.Lines(r.text("root")) {
		if strings.Contains(l, "): ") && !strings.Contains(l, "[") &&
			strings.Contains(l, " lost, ") {
			parts = append(parts, strings.TrimSpace(l))
		}
	}
	if want := []string{
		". (root): 1 directory, 0 files, 1 menu: 0 lost, 0 warnings",
		"pub (root): 1 directory, 0 files, 1 menu: 1 lost, 1 warning",
		"~ann (1012345): 1 directory, 0 files, 1 menu: 0 lost, 1 warning",
		"~ann (12346): 0 directories, 1 file, 0 menus: 1 lost, 0 warnings",
		"~bob (500): 0 directories, 0 files, 0 menus: 0 lost, 1 warning",
		"~cleo (12346): 1 directory, 1 file, 0 menus: 1 lost, 0 warnings",
		"~dan (12346): 0 directories, 0 files, 0 menus: 1 lost, 0 warnings",
		"two.example (root): 1 directory, 0 files, 1 menu: 1 lost, 0 warnings",
	}; !slices.Equal(parts, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(parts, "\n"), strings.Join(want, "\n"))
	}
}

// Programs that -fastcgi runs are not lost; a line of the shell has the script that does
// the same.
func TestMenuPrograms(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"gophermap": "=figlet -f 'big' hi\n=prog\n=uptime\n",
		"prog": "#!/bin/sh\n", "d/gophermap": "#!/bin/sh\n", "e/index.dcgi": "", "x.cgi": "",
		"cgi-bin/y": "", "f/gophermap": "1M\tm?x\n7S\t/cgi-bin/y?z\n", "f/m": "#!/bin/sh\n"})
	rule, err := programs.ParseRule("menus=/run/s")
	must(t, err)
	got, r := findings(t, dir, Options{Programs: []programs.Mapping{rule}})
	if want := []string{"error MENU-PROGRAM cgi-bin", "error MENU-PROGRAM f/gophermap:1",
		"error MENU-PROGRAM f/gophermap:2", "error MENU-PROGRAM gophermap:1",
		"error MENU-PROGRAM gophermap:3", "error MENU-PROGRAM x.cgi"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for i, want := range []string{
		"gophd -fastcgi /cgi-bin=SOCKET",
		"gophd -fastcgi /f/m=SOCKET",
		"gophd -fastcgi /cgi-bin=SOCKET",
		`printf '%s\n' '#!/bin/sh' 'figlet -f '\''big'\'' hi' >./figlet.sh && chmod +x ./figlet.sh; write "=figlet.sh", and gophd -fastcgi menus=SOCKET runs it`,
		`printf '%s\n' '#!/bin/sh' uptime >./uptime.sh && chmod +x ./uptime.sh; write "=uptime.sh", and gophd -fastcgi menus=SOCKET runs it`,
		"gophd -fastcgi '*.cgi=SOCKET'",
	} {
		if got := r.Findings[i].Hint; got != want {
			t.Errorf("%s: %s", r.Findings[i].Place(), got)
		}
	}
	if got, _ := findings(t, dir, Options{}); len(got) != 9 {
		t.Errorf("without: %q", got)
	}
}
