//go:build linux

package main

import (
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// server is a gophd under load.
type server struct {
	addr string
	cmd  *exec.Cmd
}

// start runs gophd on a free port and waits until it answers.
func start(gophd, dir string) *server {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	s := &server{addr: l.Addr().String()}
	_ = l.Close()
	s.cmd = exec.Command(gophd, "-root", dir, "-listen", s.addr, "-host", "localhost", "-quiet")
	s.cmd.Env = append(os.Environ(), "GOPHD_MAX_CONNS_PER_IP=0") // all load comes from one address
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must(s.cmd.Start())
	for range 200 {
		conn, dialed := net.Dial("tcp", s.addr)
		if err = dialed; err == nil {
			_ = conn.Close()
			s.fetch("/hot.txt")
			return s
		}
		time.Sleep(25 * time.Millisecond)
	}
	s.stop()
	must(err)
	return nil
}

func (s *server) stop() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}
