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
)

// What was read of a source and not taken by the client when a step of the
// reply ran out of time is sent with the next one.
func TestSlowReaderLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := strings.Repeat("0123456789", 10_000)
		p, stop := start(t, &Server{Handler: HandlerFunc(func(w ResponseWriter, _ *Request) error {
			_, err := w.(io.ReaderFrom).ReadFrom(strings.NewReader(body))
			return err
		})})
		c := p.dial()
		_, _ = io.WriteString(c, "/\n")
		var got []byte
		for buf := make([]byte, 5000); ; time.Sleep(20 * time.Second) {
			n, err := c.Read(buf)
			got = append(got, buf[:n]...)
			if err != nil {
				break
			}
		}
		if string(got) != body {
			t.Errorf("got %d of %d bytes", len(got), len(body))
		}
		_ = c.Close()
		stop()
	})
}

// sends are replies of 16 MiB, each on another way.
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
			_, err = w.(io.ReaderFrom).ReadFrom(io.LimitReader(f, 16<<20))
		}
	}
	return err
}

// stalls is a stall time that is over soon. On a busy machine it may be the handler
// that seems to stall, not the client, and then the client may be told.
const stalls = 2 * time.Second

// A client that does not read gets little of the kernel's memory, and none once
// the time is over: the connection is reset.
func TestAbuseNeverReads(t *testing.T) {
	file := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(file, make([]byte, 16<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	many := manyConns
	t.Cleanup(func() { manyConns = many })
	manyConns = 0 // as when many are being sent; and somebody is
	serverTLS, clientTLS := tlsConfigs(t)
	d := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) })
	}}
	for _, way := range []string{"/file", "/written", "/in parts", "/at hand", "/TLS"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			var log lines
			s := &Server{StallTimeout: stalls, Log: log.logger(), Handler: sends{file}, TLS: serverTLS}
			addr := startTCP(t, s)
			_ = dialTCP(t, addr) // is silent, and stays
			eventually(t, "nobody stays", func() bool { return s.Counts().Reading == 1 })
			c, err := d.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			var to io.Writer = c
			if way == "/TLS" {
				to = tls.Client(c, clientTLS)
			}
			_, _ = io.WriteString(to, way+"\r\n")
			sent := regexp.MustCompile(`bytes=(\d+).*(no progress|does not answer)`)
			eventually(t, "the reply goes on", func() bool { return sent.MatchString(log.String()) })
			found := sent.FindStringSubmatch(log.String())
			if n, _ := strconv.Atoi(found[1]); n > 4*maxUnsent {
				t.Errorf("the kernel took %d bytes", n)
			}
			if found[2] != "no progress" {
				return
			}
			eventually(t, "no reset", func() bool {
				_, err := io.CopyN(io.Discard, c, 1<<20)
				return errors.Is(err, syscall.ECONNRESET)
			})
		})
	}
}
