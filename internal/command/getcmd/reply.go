package getcmd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/command/terminal"
)

// send connects to a server, inside TLS if there is a configuration, and sends a request.
func (c *Get) send(ctx context.Context, addr string, conf *tls.Config, request string, limit int64) (*serverReply, error) {
	connect := (&net.Dialer{}).DialContext
	if conf != nil {
		connect = (&tls.Dialer{Config: conf}).DialContext
	}
	conn, err := connect(ctx, "tcp", addr)
	if err != nil {
		return nil, dialError(addr, conf != nil, err)
	}
	if end, ok := ctx.Deadline(); ok {
		err = conn.SetDeadline(end)
	}
	if _, sent := io.WriteString(conn, request); errors.Join(err, sent) != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("asking %s: %w", addr, errors.Join(err, sent))
	}
	return &serverReply{conn: conn, timeout: c.Timeout, left: limit}, nil
}

// serverReply reads what the server sends. An error is told again and again: bufio's
// Peek forgets it, and after a reset the next Read would take it for the end.
type serverReply struct {
	conn    net.Conn
	timeout time.Duration
	left    int64
	err     error
}

var errTooLarge = errors.New("more than -max-size bytes")

func (r *serverReply) Read(p []byte) (n int, err error) {
	if r.err != nil {
		return 0, r.err
	}
	n, r.err = r.conn.Read(p)
	if r.left -= int64(n); r.left < 0 {
		n, r.err = 0, errTooLarge
	}
	if errors.Is(r.err, os.ErrDeadlineExceeded) {
		r.err = fmt.Errorf("the reply was not complete after %s: %w", r.timeout, r.err)
	}
	return n, r.err
}

// copyFile prints a file.
func (c *Get) copyFile(r io.Reader) error {
	out := terminal.WholeFile(c.Out)
	_, err := io.Copy(out, r)
	return errors.Join(err, out.Close())
}

func dialError(addr string, encrypted bool, err error) error {
	hint := "is the host name right, and a server there? On its machine gophd doctor says; -timeout sets how long to wait"
	var bad *tls.CertificateVerificationError
	var op *net.OpError
	switch {
	case errors.As(err, new(*changedError)):
		hint = "if its owner says that the new one is right, -insecure remembers it"
	case errors.As(err, new(*unwritableError)):
		hint = "set XDG_STATE_HOME to a directory that you may write to; -insecure does without"
	case errors.As(err, &bad):
		hint = "-insecure takes any certificate"
	case encrypted && (!errors.As(err, &op) || op.Op != "dial"):
		hint = "does the server speak TLS there? gopher:// is without"
	}
	return exit.Hint(fmt.Errorf("connecting to %s: %w", addr, err), hint)
}
