package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/check"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/test/e2e/harness"
)

var (
	holes = flag.String("holes", "",
		"a directory of holes OWNER+NAME@COMMIT; TestMovingIn fetches missing ones")
	updateMoved = flag.Bool("update", false, "write the numbers of TestMovingIn into doc/moved.md")
)

// moved is the list of holes, and what came of moving each.
const moved = "../../doc/moved.md"

// movedRow is a row of it: the repository, the directory in it, the commit, and numbers.
var movedRow = regexp.MustCompile(`(?m)^\| ([^ /|]+/[^ /|]+) ([^ |]+) \| ([0-9a-f]{40}) \|.*$`)

// movedSum is what it says of all.
var movedSum = regexp.MustCompile(`Of \d+ holes, [^.]*\.\n`)

// flagInHint is what check tells to set for a program.
var flagInHint = regexp.MustCompile(`gophd -fastcgi '?([^ ']+)=SOCKET`)

// TestMovingIn moves public holes from gophernicus and pygopherd to gophd: what each old
// server answers is compared, and everything that is lost must be foretold by gophd check.
func TestMovingIn(t *testing.T) {
	if *holes == "" {
		t.Skip("make moving HOLES=DIR runs it")
	}
	text, err := os.ReadFile(moved)
	must(t, err)
	var yes [3]int
	all := 0
	updated := movedRow.ReplaceAllFunc(text, func(row []byte) []byte {
		f := movedRow.FindSubmatch(row)
		repo, sub, commit := string(f[1]), string(f[2]), string(f[3])
		var result string
		t.Run(repo, func(t *testing.T) {
			h := &hole{repo: repo, dir: checkOut(t, repo, sub, commit)}
			h.move(t)
			result = h.row()
		})
		if result != "" { // else another test was asked for
			row = fmt.Appendf(nil, "| %s %s | %s | %s |", repo, sub, commit, result)
		}
		all++
		for i, field := range bytes.Split(row, []byte(" | "))[2:5] {
			if string(field) == "yes" {
				yes[i]++
			}
		}
		return row
	})
	sum := fmt.Sprintf("Of %d holes, %d lose nothing static and %d lose nothing with programs; in %d the losses\nare those that are foretold.\n", all, yes[0], yes[1], yes[2])
	t.Log(sum)
	if *updateMoved {
		must(t, os.WriteFile(moved, movedSum.ReplaceAll(updated, []byte(sum)), 0o644))
	}
}

// checkOut returns a copy of a hole as of a commit, in which each program prints one link.
// What strangers wrote is not run.
func checkOut(t *testing.T, repo, sub, commit string) string {
	tree := filepath.Join(*holes, strings.ReplaceAll(repo, "/", "+")+"@"+commit)
	if _, err := os.Stat(tree); err != nil {
		git := filepath.Join(t.TempDir(), "git")
		output(t, "", "git", "init", "-q", "--bare", git)
		output(t, "", "git", "--git-dir="+git, "fetch", "-q", "--depth", "1",
			"https://github.com/"+repo, commit)
		must(t, os.MkdirAll(tree, 0o755))
		output(t, "", "sh", "-c",
			`git --git-dir="$1" archive "$2" | tar -x --no-same-owner -C "$3"`, "sh", git,
			commit+":"+strings.TrimPrefix(sub, "."), tree)
	}
	dir := filepath.Join(shared(t), "hole")
	output(t, "", "cp", "-R", tree, dir)
	must(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		text, readErr := os.ReadFile(name)
		ext := filepath.Ext(name)
		if info.Mode()&0o100 == 0 && ext != ".cgi" && ext != ".dcgi" ||
			!bytes.HasPrefix(text, []byte("#!")) {
			return errors.Join(err, readErr)
		}
		return os.WriteFile(name,
			[]byte("#!/bin/sh\nprintf '0Stand-in\\t/stand-in.txt\\n'\n"), 0o755)
	}))
	write(t, filepath.Join(dir, "stand-in.txt"), "what programs link\n")
	return dir
}

// A hole is one that was moved.
type hole struct {
	repo, dir string
	foretold  check.Outcome
	used      map[diag.Diagnostic]bool
	static    bool           // nothing is lost besides programs
	all       bool           // nothing is lost with programs behind sockets
	told      bool           // all that is lost was foretold, and no more
	count     map[string]int // differences from both servers, by code
}

// documented counts the losses that check foretells.
const documented = "documented"

// move compares both servers with gophd.
func (h *hole) move(t *testing.T) {
	h.foretold, h.used, h.static, h.all, h.told, h.count = checked(t, h.dir),
		map[diag.Diagnostic]bool{}, true, true, true, map[string]int{}
	socket := filepath.Join(filepath.Dir(h.dir), "programs.sock")
	program(t, socket, "fcgiwrap", "-s", "unix:"+socket)
	flags := []string{"-fastcgi", "menus=" + socket}
	for _, d := range h.foretold.Findings {
		if f := flagInHint.FindStringSubmatch(d.Hint); f != nil &&
			!slices.Contains(flags, f[1]+"="+socket) {
			flags = append(flags, "-fastcgi", f[1]+"="+socket)
		}
	}
	for _, start := range []func(t *testing.T, dir string) (port string){startGophernicus,
		startPygopherd} {
		port := start(t, h.dir)
		if root, err := harness.Exchange("", "127.0.0.1:"+port, "", nil); err == nil &&
			len(root) == 0 {
			t.Logf("%s: pygopherd fails at a line of the root's map, and sends nothing", h.repo)
			continue
		}
		against := []string{"-against", "gopher://127.0.0.1:" + port + "/", "-mine", h.dir}
		differ := checked(t, against...)
		h.judge(t, differ)
		h.askForgotten(port)
		if differ.Lost > 0 {
			for _, d := range checked(t, append(flags, against...)...).Findings {
				if d.Severity == diag.Error {
					h.all = false
					t.Logf("%s: lost with programs, too: %s", h.repo, d.Text())
				}
			}
		}
	}
	for _, d := range h.foretold.Findings {
		if d.Severity == diag.Error && d.Code != menu.CodeProgram && !h.used[d] { // what programs print is not compared
			h.told = false
			t.Errorf("%s: foretold for nothing: %s", h.repo, d.Text())
		}
	}
}

// askForgotten asks for what is foretold to be lost, but linked from no menu that the
// comparison reaches.
func (h *hole) askForgotten(port string) {
	for _, d := range h.foretold.Findings {
		if _, sel, ok := strings.Cut(d.Message, `: "`); ok && !h.used[d] {
			answer, err := harness.Exchange("", "127.0.0.1:"+port,
				strings.TrimSuffix(sel, `"`), nil)
			h.used[d] = err == nil && len(answer) > 0 && answer[0] != '3' &&
				!bytes.HasPrefix(answer, []byte("Error: "))
		}
	}
}

// row is what the page says of the hole.
func (h *hole) row() string {
	word := map[bool]string{true: "yes", false: "no"}
	return fmt.Sprintf("%s | %s | %s | %d | %d | %d | %d | %d", word[h.static], word[h.all],
		word[h.told], h.count["AGAINST-MORE"],
		h.count["AGAINST-LESS"], h.count["CHECK-ORDER"], h.count["CHECK-TEXT"], h.count[documented])
}

// judge looks for what is lost, which must have been foretold.
func (h *hole) judge(t *testing.T, differ check.Outcome) {
	for _, d := range differ.Findings {
		if d.Severity != diag.Error {
			h.count[d.Code]++
			if d.Severity == diag.Warning {
				t.Logf("%s: %s", h.repo, d.Text())
			}
			continue
		}
		why := h.why(d)
		if why == nil {
			h.told = false
			h.count["AGAINST-LESS"]++
			t.Errorf("%s: not foretold: %s", h.repo, d.Text())
		} else {
			h.count[documented]++
		}
		if why == nil || why.Code != menu.CodeProgram {
			h.static = false
			t.Logf("%s: static: %s", h.repo, d.Text())
		}
	}
}

// why returns the finding of check that announces a loss; nil if none does.
func (h *hole) why(loss diag.Diagnostic) (why *diag.Diagnostic) {
	for i, d := range h.foretold.Findings {
		at := d.File == loss.File || strings.HasPrefix(loss.File, d.File+"/") ||
			path.Dir(d.File) == loss.File || strings.Contains(d.Message, `"/`+loss.File) ||
			strings.Contains(d.Message, `"`+loss.File)
		if at && d.Severity != diag.Notice {
			h.used[d] = true
			if why == nil || d.Code == menu.CodeProgram {
				why = &h.foretold.Findings[i]
			}
		}
	}
	return why
}

// checked runs gophd check.
func checked(t *testing.T, args ...string) (r check.Outcome) {
	var stderr bytes.Buffer
	cmd := exec.Command(harness.Program(t),
		append([]string{"check", "-json", "-user", "nobody"}, args...)...)
	cmd.Stderr = &stderr
	out, _ := cmd.Output()
	if err := json.Unmarshal(out, &r); err != nil {
		t.Errorf("%v: %v, %s", args, err, stderr.Bytes())
	}
	return r
}

// startGophernicus serves a directory with gophernicus, once for each connection.
func startGophernicus(t *testing.T, dir string) (port string) {
	program := harness.Tool(t, "gophernicus")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	port = harness.Port(l.Addr().String())
	go func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			cmd := exec.Command(program, "-h", "127.0.0.1", "-p", port, "-r", dir, "-nf", "-nh",
				"-nl", "-ns", "-nm")
			if os.Geteuid() == 0 {
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}} // it refuses to run as root
			}
			cmd.Env = []string{"PATH=/nonexistent", "REMOTE_ADDR=127.0.0.1"} // lines such as =fortune find nothing
			f, err := conn.(*net.TCPConn).File()
			if err != nil {
				return
			}
			cmd.Stdin, cmd.Stdout = f, f
			_ = cmd.Run()
			_ = f.Close()
			_ = conn.Close()
		}
	}()
	return port
}

// startPygopherd serves a directory with pygopherd.
func startPygopherd(t *testing.T, dir string) (port string) {
	program := harness.Tool(t, "pygopherd")
	addr := harness.FreeAddrs(t, 1)[0]
	port = harness.Port(addr)
	conf := filepath.Join(t.TempDir(), "pygopherd.conf")
	write(t, conf, `[pygopherd]
detach = no
port = `+port+`
interface = 127.0.0.1
servername = 127.0.0.1
servertype = ForkingTCPServer
timeout = 60
abstract_headers = on
abstract_entries = always
tracebacks = no
usechroot = no
root = `+dir+`
mimetypes = /etc/mime.types
encoding = list(mimetypes.encodings_map.items())
[logger]
logmethod = none
[GopherEntry]
defaultmimetype = text/plain
mapping = [['text/html', 'h'], ['text/.+', '0'], ['audio/.+', 's'], ['image/gif', 'g'], ['image/.+', 'I'], ['application/gopher-menu', '1'], ['application/.+', '9'], ['.*', '0']]
eaexts = {'.abstract': 'ABSTRACT'}
[handlers.HandlerMultiplexer]
handlers = [url.HTMLURLHandler, gophermap.BuckGophermapHandler, UMN.UMNDirHandler, file.FileHandler]
[handlers.dir.DirHandler]
ignorepatt = /robots.txt$|/gophermap$|\.abstract$
cachetime = 0
cachefile = .cache.pygopherd.dir
[handlers.UMN.UMNDirHandler]
extstrip = none
[handlers.ZIP.ZIPHandler]
enabled = false
[protocols.ProtocolMultiplexer]
protocols = [rfc1436.GopherProtocol]
`)
	harness.Listens(t, exec.Command(program, conf), "tcp", addr)
	return port
}
