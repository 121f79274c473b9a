//go:build linux

package main

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// serveBare is the least that a server on Go's net package does: it reads a
// line and answers by its first letters, from memory.
func serveBare(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	replies := map[string][]byte{}
	for prefix, size := range map[string]int{
		"/hot": 1024, "/hole": 1024, "/menu": 3000, "/list100": 6500, "/list10000": 650_000, "robots": 200, "/no": 60, "/big": 1 << 20,
	} {
		replies[prefix] = bytes.Repeat([]byte("x"), size)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer func() { _ = c.Close() }()
			buf := make([]byte, 512)
			n, _ := c.Read(buf)
			line := strings.TrimRight(string(buf[:n]), "\r\n")
			for i := len(line); i > 0; i-- {
				if reply, ok := replies[line[:i]]; ok {
					_, _ = c.Write(reply)
					return
				}
			}
		}()
	}
}

// serveInetd starts a program for each connection, as inetd does.
func serveInetd(addr string, argv []string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer func() { _ = c.Close() }()
			f, err := c.(*net.TCPConn).File()
			if err != nil {
				return
			}
			defer func() { _ = f.Close() }()
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = f, f, os.Stderr
			cmd.Env = append(os.Environ(), "REMOTE_ADDR=127.0.0.1")
			if os.Geteuid() == 0 { // gophernicus refuses to be root
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			}
			_ = cmd.Run()
		}()
	}
}
