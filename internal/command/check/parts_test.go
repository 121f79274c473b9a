package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gophd/gophd/internal/daemon"
)

// One walk looks at the root, mounts, users and hosts, and counts for each owner.
func TestSite(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to others")
	}
	dir := t.TempDir()
	must(t, os.Chmod(filepath.Dir(dir), 0o755))
	write(t, dir, tree{"root/gophermap": "Hi\n", "root/pub/hidden": "x",
		"mirror/gophermap":                  "0No\tno.txt\n=/bin/fortune\n",
		"homes/ann/public_gopher/gophermap": "Ann\n\n0No\tno.txt\n",
		"homes/ann/public_gopher/alien.txt": "x", "homes/bob/public_gopher/b.txt": "b",
		"homes/eve/public_gopher/e.txt": "e", "homes/cleo/public_gopher/c.txt": "c", "homes/cleo/public_gopher/cgi-bin/x/y": "",
		"homes/dan/public_gopher/d.txt": "d", "two/gophermap": "=figlet hi\n0Sitemap\t/sitemap.xml\n"})
	give(t, dir, 1012345, "homes/ann", "homes/bob")
	give(t, dir, 12346, "homes/ann/public_gopher/alien.txt", "homes/cleo", "homes/dan/public_gopher")
	give(t, dir, 12347, "homes/dan")
	give(t, dir, 12346, "homes/dan/public_gopher")
	give(t, dir, 500, "homes/bob", "homes/eve")
	give(t, dir, 12346, "homes/eve/public_gopher")
	o := Options{Serve: daemon.Flags{Users: dir + "/homes/*/public_gopher", UsersMinUID: 1000,
		Sitemap: true, Mounts: []string{"pub=" + dir + "/mirror"}}}
	r, err := examineSite(t.Context(), dir+"/root",
		tree{"two.example": dir + "/two"}, o)
	must(t, err)
	var got, parts []string
	for _, d := range r.Findings {
		got = append(got, d.Code+" "+d.Place())
	}
	same(t, "findings", got, []string{"MENU-PROGRAM pub/gophermap:2",
		"MENU-PROGRAM two.example:/gophermap:1", "CHECK-OWNER ~ann/alien.txt",
		"MENU-PROGRAM ~cleo/cgi-bin", "CHECK-OWNER ~dan", "CHECK-OWNER ~eve", "CHECK-NOWHERE pub/gophermap:1",
		"CHECK-NOWHERE ~ann/gophermap:3", "CHECK-OWNER ~bob"})
	if hint := r.Findings[3].Hint; hint != "gophd -fastcgi '/~*/cgi-bin=/run/gophd-programs-*.sock'" {
		t.Error(hint)
	}
	for l := range strings.Lines(r.text("root", "")) {
		if strings.Contains(l, "): ") && !strings.Contains(l, "[") &&
			strings.Contains(l, " lost, ") {
			parts = append(parts, strings.TrimSpace(l))
		}
	}
	same(t, "parts", parts, []string{
		". (root): 1 directory, 0 files, 1 menu: 0 lost, 0 warnings",
		"pub (root): 1 directory, 0 files, 1 menu: 1 lost, 1 warning",
		"~ann (1012345): 1 directory, 0 files, 1 menu: 0 lost, 1 warning",
		"~ann (12346): 0 directories, 1 file, 0 menus: 1 lost, 0 warnings",
		"~bob (500): 0 directories, 0 files, 0 menus: 0 lost, 1 warning",
		"~cleo (12346): 1 directory, 1 file, 0 menus: 1 lost, 0 warnings",
		"~dan (12346): 0 directories, 0 files, 0 menus: 1 lost, 0 warnings",
		"~eve (12346): 0 directories, 0 files, 0 menus: 1 lost, 0 warnings",
		"two.example (root): 1 directory, 0 files, 1 menu: 1 lost, 0 warnings",
	})
}
