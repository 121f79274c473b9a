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
	conf, clientTLS := tlsConfigs()
	s := &Server{TLS: conf, Handler: HandlerFunc(func(w ResponseWriter, r *Request) error {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		_, err = f.Seek(4, io.SeekStart)
		if r.Selector == "/copy" {
			_, failed := io.CopyN(w, f, int64(len(body)))
			return errors.Join(err, failed)
		}
		n, left := int64(len(body)), "tail"
		if r.Selector == "/short" {
			n, left = n+5, ""
		}
		_, failed := w.(FileSender).SendFile(f, n)
		rest, _ := io.ReadAll(f)
		if string(rest) != left || errors.Is(failed, ErrShort) != (left == "") {
			t.Errorf("%s: behind what was sent is %q; %v", r.Selector, rest, failed)
		}
		return errors.Join(err, failed)
	})}
	for request, want := range map[string]string{"/file": body, "/copy": body,
		"/file over TLS": body, "/copy over TLS": body, "/short": body + "tail"} {
		synctest.Test(t, func(t *testing.T) {
			client, conn := net.Pipe()
			done := make(chan struct{})
			go func() { s.ServeConn(t.Context(), copies{conn}); close(done) }()
			c, size := client, 5000 // a write takes longer than the stall time
			selector, encrypted := strings.CutSuffix(request, " over TLS")
			if encrypted {
				c, size = tls.Client(client, clientTLS), 16<<10 // a record
			}
			send(c, selector+"\n")
			var got []byte
			for buf := make([]byte, size); ; time.Sleep(20 * time.Second) {
				n, err := c.Read(buf)
				got = append(got, buf[:n]...)
				if err != nil {
					break
				}
			}
			if string(got) != want {
				t.Errorf("%s: got %d of %d bytes", request, len(got), len(want))
			}
			_ = client.Close()
			<-done
		})
	}
}

// stalls is a short stall time. On a busy machine the handler may seem to hang instead of the
// client; then the client may get an error.
const stalls = 2 * time.Second

// A client that does not read gets little of the kernel's memory, and none after StallTimeout,
// since the connection is reset.
func TestAbuseNeverReads(t *testing.T) {
	const size = 16 << 20
	file := filepath.Join(t.TempDir(), "large")
	must(t, os.WriteFile(file, make([]byte, size), 0o600))
	h := answers{
		func(r *Request) (Answer, bool) {
			return Answer{Body: make([]byte, size)}, r.Selector == "/at hand"
		},
		func(w ResponseWriter, r *Request) (err error) {
			switch r.Selector {
			case "/written", "/TLS":
				_, err = w.Write(make([]byte, size))
			case "/in parts":
				for range 1 << 10 {
					if _, err = w.Write(make([]byte, size>>10)); err != nil {
						break
					}
				}
			default:
				var f *os.File
				if f, err = os.Open(file); err == nil {
					defer func() { _ = f.Close() }()
					_, err = w.(FileSender).SendFile(f, size)
				}
			}
			return err
		},
	}
	many := manyConns
	t.Cleanup(func() { manyConns = many })
	manyConns = 0 // as when many are being sent; and somebody is
	conf, clientTLS := tlsConfigs()
	for _, way := range []string{"/file", "/written", "/in parts", "/at hand", "/TLS"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			var log treetest.Log
			s := &Server{StallTimeout: stalls, Log: log.Logger(), Handler: h, TLS: conf}
			addr := startTCP(t, s)
			_ = dialTCP(t, addr) // is silent, and stays
			awaitSilent(t, s, 1)
			c := dialTCP(t, addr)
			must(t, c.SetReadBuffer(4096))
			if way == "/TLS" {
				send(tls.Client(c, clientTLS), way+"\r\n")
			} else {
				send(c, way+"\r\n")
			}
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
