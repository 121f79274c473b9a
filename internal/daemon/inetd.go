package daemon

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/gophd/gophd/selector"
)

// serveOne serves the connection that inetd has put on standard input and
// output.
func (d *daemon) serveOne(ctx context.Context) error {
	if _, ok := d.conn.(*stdio); ok && d.srv.Host == "" {
		d.srv.Host = "localhost" // a pipe has no address
	}
	ctx, stop := context.WithCancel(ctx)
	var read errgroup.Group
	for _, s := range d.sites() {
		read.Go(func() error { return s.Run(ctx) })
	}

	// Wait for the policies of all sites, but not for ever if a file system does not respond:
	// only a policy decides which names are programs and whether an escaped spelling may be
	// answered.
	wait, end := context.WithTimeout(ctx, cmp.Or(max(d.srv.RequestTimeout, 0), 10*time.Second))
	for _, s := range d.sites() {
		_, _ = s.Snapshot(wait)
	}
	end()
	d.srv.ServeConn(ctx, d.conn)
	stop()
	return read.Wait()
}

// inetdConn returns standard input and output as a connection: one socket, or two pipes or
// other files.
func inetdConn() (net.Conn, error) {
	if c, err := net.FileConn(os.Stdin); err == nil {
		return c, nil
	}
	in, err := pollable(os.Stdin)
	if err != nil {
		return nil, err
	}
	out, err := pollable(os.Stdout)
	if err != nil {
		return nil, err
	}
	return &stdio{in, out}, nil
}

// isConnection reports whether a file is standard input or output, the connection: inetd puts it on
// standard error, too.
func isConnection(f *os.File) bool {
	info, err := f.Stat()
	for _, f := range []*os.File{os.Stdin, os.Stdout} {
		client, clientErr := f.Stat()
		if err == nil && clientErr == nil && os.SameFile(client, info) {
			return true
		}
	}
	return false
}

// stdio is a connection of two files. Only pipes support deadlines.
type stdio struct {
	*os.File // standard input
	out      *os.File
}

func (s *stdio) Write(p []byte) (int, error) { return s.out.Write(p) }
func (s *stdio) Close() error {
	return errors.Join(s.File.Close(), s.out.Close())
}

// LocalAddr is unknown; menus name the default port.
func (s *stdio) LocalAddr() net.Addr {
	return &net.TCPAddr{Port: selector.DefaultPort}
}

// RemoteAddr is unknown.
func (s *stdio) RemoteAddr() net.Addr { return &net.UnixAddr{Net: "pipe"} }

// SetDeadline sets both deadlines.
func (s *stdio) SetDeadline(t time.Time) error {
	return errors.Join(s.SetReadDeadline(t), s.SetWriteDeadline(t))
}

// SetWriteDeadline sets the deadline of standard output.
func (s *stdio) SetWriteDeadline(t time.Time) error { return s.out.SetWriteDeadline(t) }

// pollable returns a pipe as a file that supports deadlines. It leaves anything else, such as a
// terminal, unchanged, since other processes share it.
func pollable(f *os.File) (*os.File, error) {
	info, err := f.Stat()
	if err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		return f, err
	}
	fd, err := syscall.Dup(int(f.Fd())) // the runtime polls f itself if it does not block already
	if err != nil {
		return nil, os.NewSyscallError("dup", err)
	}
	syscall.CloseOnExec(fd)
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}
