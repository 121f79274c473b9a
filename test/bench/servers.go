//go:build linux

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// server is a program under load.
type server struct {
	addr string
	cmd  *exec.Cmd
}

// start runs a server on a free port and waits until it answers.
func start(args func(port string) []string) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_ = l.Close()
	argv := args(port)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "GOPHD_MAX_CONNS_PER_IP=0") // all load comes from one address
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{addr: "127.0.0.1:" + port, cmd: cmd}
	for range 200 {
		var body string
		if body, err = fetch(s.addr, "/hot.txt"); err == nil && len(body) > 1000 {
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
