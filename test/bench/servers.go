//go:build linux

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// server is a program under load.
type server struct {
	name string
	addr string
	cmd  *exec.Cmd
}

// startAll starts all servers there are. Those that fail are left out, but
// gophd and the bare one must start.
func startAll(gophd, tree, dir string) ([]*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var all []*server
	add := func(name string, must bool, args func(port string) []string) error {
		s, err := start(name, args)
		if err == nil {
			all = append(all, s)
		} else if must {
			return fmt.Errorf("starting %s: %w", name, err)
		} else {
			fmt.Printf("%s is left out: %v\n", name, err)
		}
		return nil
	}
	err = errors.Join(
		add("bare", true, func(port string) []string { return []string{self, "-bare", "127.0.0.1:" + port} }),
		add("gophd", true, func(port string) []string { return gophdArgs(gophd, tree, port) }),
		add("gophd -cache 0", true, func(port string) []string { return append(gophdArgs(gophd, tree, port), "-cache", "0") }),
		add("gophernicus", false, func(port string) []string {
			return []string{self, "-inetd", "127.0.0.1:" + port, "gophernicus", "-r" + tree, "-hlocalhost", "-p" + port,
				"-ns", "-nv", "-i", "2000000000", "-k", "2000000000"}
		}),
		add("pygopherd", false, func(port string) []string { return pygopherd(tree, dir, port) }),
	)
	return all, err
}

func gophdArgs(gophd, tree, port string) []string {
	return []string{gophd, "-root", tree, "-listen", "127.0.0.1:" + port, "-host", "localhost"}
}

// pygopherd writes its configuration: it has no flags.
func pygopherd(tree, dir, port string) []string {
	conf := filepath.Join(dir, "pygopherd.conf")
	text, err := os.ReadFile("/etc/pygopherd/pygopherd.conf")
	if err != nil {
		return []string{"pygopherd", conf}
	}
	out := strings.NewReplacer("\nport = 70", "\nport = "+port, "\nroot = /var/gopher", "\nroot = "+tree).Replace(string(text))
	var lines []string
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "setuid") && !strings.HasPrefix(line, "setgid") && !strings.HasPrefix(line, "usechroot") &&
			!strings.HasPrefix(line, "detach") && !strings.HasPrefix(line, "pidfile") {
			lines = append(lines, line)
		}
	}
	out = strings.Replace(strings.Join(lines, ""), "[pygopherd]\n", "[pygopherd]\ndetach = no\nusechroot = no\n", 1)
	_ = os.WriteFile(conf, []byte(out), 0o644)
	return []string{"pygopherd", conf}
}

// start runs a server on a free port and waits until it answers.
func start(name string, args func(port string) []string) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_ = l.Close()
	argv := args(port)
	if argv[1] == "-inetd" {
		if _, err := exec.LookPath(argv[3]); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "GOPHD_MAX_CONNS_PER_IP=0") // all load comes from one address
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if argv[1] == "-inetd" && os.Geteuid() == 0 { // gophernicus keeps state in shared memory: not anyone else's
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWIPC
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{name: name, addr: "127.0.0.1:" + port, cmd: cmd}
	for range 200 {
		if _, err = ask(s.addr, "/hot.txt", 1000); err == nil {
			return s, nil
		}
		time.Sleep(25 * time.Millisecond)
	}
	s.stop()
	return nil, fmt.Errorf("no right answer: %w", err)
}

func (s *server) stop() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// cpu is the CPU time that the server and its ended children have used.
func (s *server) cpu() time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var ticks int64
	for _, f := range fields[11:15] { // utime, stime, cutime, cstime
		n, _ := strconv.ParseInt(f, 10, 64)
		ticks += n
	}
	return time.Duration(ticks) * time.Second / 100
}
