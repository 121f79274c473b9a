package server

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gophd/gophd/internal/treetest"
)

// copies is a connection whose ReadFrom reads ahead, as on systems where Go does not use
// sendfile(2): OpenBSD, NetBSD.
type copies struct{ net.Conn }

func (c copies) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{c.Conn}, r)
}

// TestSlowReaderLosesNothing: bytes that the client has not read when a stall time ends are sent
// in the next one, whichever way a handler sends, with TLS or without. The offset of a file is
// behind the bytes sent.
func TestSlowReaderLosesNothing(t *testing.T) {
	body := strings.Repeat("0123456789", 10_000)
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, []byte("head"+body+"tail"), 0o600))
	opened := func() *os.File {
		f, err := os.Open(file)
		if err == nil {
			_, err = f.Seek(4, io.SeekStart)
		}
		if err != nil {
			t.Error(err)
		}
		return f
	}
	serverTLS, clientTLS := tlsConfigs(t)
	copied := func(w ResponseWriter, f *os.File) error {
		_, err := io.CopyN(w, f, int64(len(body)))
		return err
	}
	for name, send := range map[string]func(w ResponseWriter, f *os.File) error{
		"file": func(w ResponseWriter, f *os.File) error {
			_, err := w.(FileSender).SendFile(f, int64(len(body)))
			tail, readErr := io.ReadAll(f)
			if string(tail) != "tail" {
				t.Errorf("behind what was sent is %q", tail)
			}
			return errors.Join(err, readErr)
		},
		"copy": copied,
		"TLS":  copied,
		"short": func(w ResponseWriter, f *os.File) error {
			_, err := w.(FileSender).SendFile(f, 1+4+int64(len(body)))
			if !errors.Is(err, ErrShort) {
				t.Errorf("a file that is shorter: %v", err)
			}
			_, err = io.WriteString(w, "")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &Server{TLS: serverTLS,
					Handler: HandlerFunc(func(w ResponseWriter, _ *Request) error {
						f := opened()
						defer func() { _ = f.Close() }()
						return send(w, f)
					})}
				client, conn := net.Pipe()
				done := make(chan struct{})
				go func() { s.ServeConn(t.Context(), copies{conn}); close(done) }()
				c, size := client, 5000 // a write takes longer than the stall time
				if name == "TLS" {
					c, size = tls.Client(client, clientTLS), maxRecord
				}
				_, _ = io.WriteString(c, "/\n")
				var got []byte
				for buf := make([]byte, size); ; time.Sleep(20 * time.Second) {
					n, err := c.Read(buf)
					got = append(got, buf[:n]...)
					if err != nil {
						break
					}
				}
				if want := strings.TrimSuffix(body+"tail",
					map[bool]string{true: "tail"}[name != "short"]); string(got) != want {
					t.Errorf("got %d of %d bytes", len(got), len(want))
				}
				_ = client.Close()
				<-done
			})
		})
	}
}

// sends sends replies of 16 MiB in several ways.
type sends struct{ file string }

func (s sends) Quick(r *Request) (Answer, bool) {
	return Answer{Body: make([]byte, 16<<20)}, r.Selector == "/at hand"
}

func (s sends) ServeGopher(w ResponseWriter, r *Request) (err error) {
	switch r.Selector {
	case "/written", "/TLS":
		_, err = w.Write(make([]byte, 16<<20))
	case "/in parts":
		for range 1 << 10 {
			if _, err = w.Write(make([]byte, 16<<10)); err != nil {
				break
			}
		}
	default:
		var f *os.File
		if f, err = os.Open(s.file); err == nil {
			defer func() { _ = f.Close() }()
			_, err = w.(FileSender).SendFile(f, 16<<20)
		}
	}
	return err
}

// stalls is a short stall time. On a busy machine the handler may seem to hang instead of the
// client; then the client may get an error.
const stalls = 2 * time.Second

// A client that does not read gets little of the kernel's memory, and none after StallTimeout,
// since the connection is reset.
func TestAbuseNeverReads(t *testing.T) {
	file := filepath.Join(t.TempDir(), "large")
	must(t, os.WriteFile(file, make([]byte, 16<<20), 0o600))
	many := manyConns
	t.Cleanup(func() { manyConns = many })
	manyConns = 0 // as when many are being sent; and somebody is
	serverTLS, clientTLS := tlsConfigs(t)
	d := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096)
		})
	}}
	for _, way := range []string{"/file", "/written", "/in parts", "/at hand", "/TLS"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			var log lines
			s := &Server{StallTimeout: stalls, Log: log.logger(), Handler: sends{file},
				TLS: serverTLS}
			addr := startTCP(t, s)
			_ = dialTCP(t, addr) // is silent, and stays
			treetest.Until(t, "it stays", func() bool { return s.Counts().Reading == 1 })
			c, err := d.Dial("tcp", addr)
			must(t, err)
			defer func() { _ = c.Close() }()
			var to io.Writer = c
			if way == "/TLS" {
				to = tls.Client(c, clientTLS)
			}
			_, _ = io.WriteString(to, way+"\r\n")
			sent := regexp.MustCompile(`bytes=(\d+).*(no progress|does not answer)`)
			treetest.Until(t, "the reply ends", func() bool {
				return sent.MatchString(log.String())
			})
			found := sent.FindStringSubmatch(log.String())
			if n, _ := strconv.Atoi(found[1]); n > 4*maxUnsent {
				t.Errorf("the kernel took %d bytes", n)
			}
			if found[2] != "no progress" {
				return
			}
			treetest.Until(t, "it is reset", func() bool {
				_, err := io.CopyN(io.Discard, c, 1<<20)
				return errors.Is(err, syscall.ECONNRESET)
			})
		})
	}
}
