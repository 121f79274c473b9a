package e2e_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gophd/gophd/test/e2e/harness"
)

// TestCheckAgainst compares gophd with a running gophernicus, as moving-in says.
func TestCheckAgainst(t *testing.T) {
	gophernicus := harness.Tool(t, "gophernicus")
	root := filepath.Join(shared(t), "root")
	executable(t, root, map[string]string{
		"gophermap": "Welcome\n0About\tabout.txt\n1Notes\tnotes/\n1Now\tnow/\n",
		"about.txt": "about\n", "notes/a.txt": "a\n", "notes/b.txt": "b\n",
		"now/gophermap": "#!/bin/sh\nprintf '0Printed\\t/about.txt\\n'\n",
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = l.Close() }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	go func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			cmd := exec.Command(gophernicus, "-h", "127.0.0.1", "-p", port, "-r", root, "-nf", "-nh", "-nl", "-ns")
			if os.Geteuid() == 0 {
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}} // it refuses to run as root
			}
			cmd.Env = append(os.Environ(), "REMOTE_ADDR=127.0.0.1")
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
	out, err := exec.Command(harness.Program(t), "check", "-against", "gopher://127.0.0.1:"+port+"/", "-mine", root).Output()
	if err == nil {
		t.Error("nothing is lost")
	}
	got := strings.ReplaceAll(string(out), port, "PORT")
	for _, want := range []string{"now: error: 1 link is not in gophd's menu, the first: /about.txt", ": 1 AGAINST-LESS\n", "gopher://127.0.0.1:PORT/: 6 selectors, ", " 1 lost\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "about.txt: ") || strings.Contains(got, "notes/a.txt") || strings.Contains(got, "GONE") {
		t.Errorf("too much in\n%s", got)
	}
}
