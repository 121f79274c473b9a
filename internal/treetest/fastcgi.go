package treetest

import (
	"bufio"
	"io"
	"net"
	"path/filepath"
	"testing"
)

// FastCGI serves a program on a Unix socket until the test ends. It gets the parameters of
// a request, writes to its standard output, and returns its exit status. Go's own server
// of FastCGI cannot be used: it writes the headers of HTTP.
func FastCGI(t testing.TB,
	program func(env map[string]string, out io.Writer) (exit byte)) (socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	Must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				exit := program(readParams(bufio.NewReader(conn)), stdout{conn})
				_ = writeRecord(conn, typeEnd, []byte{0, 0, 0, exit, 0, 0, 0, 0})
			}()
		}
	}()
	return socket
}

// Record types of the FastCGI Specification 1.0, section 8.
const (
	typeEnd    = 3
	typeParams = 4
	typeStdin  = 5
	typeStdout = 6
)

func writeRecord(w io.Writer, typ byte, content []byte) error {
	_, err := w.Write(append([]byte{1, typ, 0, 1, byte(len(content) >> 8), byte(len(content)), 0,
		0}, content...))
	return err
}

// stdout writes to a program's standard output.
type stdout struct{ net.Conn }

func (o stdout) Write(p []byte) (n int, err error) {
	for err == nil && n < len(p) {
		part := p[n:min(n+1<<15, len(p))]
		err = writeRecord(o.Conn, typeStdout, part)
		n += len(part)
	}
	return n, err
}

// readParams reads a request to its end.
func readParams(r *bufio.Reader) map[string]string {
	env, stream := map[string]string{}, []byte{}
	for {
		var head [8]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return nil
		}
		content := make([]byte, int(head[4])<<8|int(head[5]))
		if _, err := io.ReadFull(r, content); err != nil {
			return nil
		}
		if head[1] == typeStdin {
			break
		}
		if head[1] == typeParams {
			stream = append(stream, content...)
		}
	}
	for len(stream) > 2 {
		n, v := int(stream[0]), int(stream[1]) // all are short
		env[string(stream[2:2+n])] = string(stream[2+n : 2+n+v])
		stream = stream[2+n+v:]
	}
	return env
}
