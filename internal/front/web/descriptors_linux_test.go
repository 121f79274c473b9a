package web

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/gopher"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// Each descriptor is closed, whatever is asked for, on whichever way, and however
// it ends; and it is closed once: a second time would hit somebody else's file.
// The garbage collector, which closes what was forgotten, is off.
func TestDescriptorsAreClosedOnce(t *testing.T) {
	dir := t.TempDir()
	binary := strings.Repeat("\x00\x01\x02\xff", 50<<10)
	treetest.Write(t, dir, map[string]string{
		"small.txt": "small", "large.bin": binary, "huge.bin": strings.Repeat(binary, 40),
		"large.txt":  strings.Repeat("a line\n", 20<<10),
		"latin1.txt": strings.Repeat("caf\xe9\n", 30<<10),
		"d/x.txt":    "x", "d/gophermap": "!t\n*\n", "to.bin": "-> large.bin", "todir": "-> d",
		"broken":       "-> nowhere",
		"closed/x.bin": binary, "closed/.robots": "Disallow: /\n", "prog.cgi": "#!/bin/sh\n",
	})
	selectors := []string{"", "/small.txt", "/large.bin", "large.bin", "/huge.bin", "/large.txt",
		"/latin1.txt", "/d/", "/d", "/d/x.txt",
		"/to.bin", "/todir/x.txt", "/todir", "/broken", "/broken/x", "/closed/x.bin",
		"/closed/%78.bin", "/prog.cgi", "/none",
		"/large.bin/", "/large%2ebin", "robots.txt", "caps.txt", "URL:http://example.org/",
		"/d\tquery", "\t$", "/../x", "GET /x"}
	tree, err := site.Open(dir, site.Config{})
	treetest.Must(t, err)
	treetest.Run(t, tree.Run)
	_, err = tree.Snapshot(t.Context())
	treetest.Must(t, err)
	h := &gopher.Front{Host: &answer.Host{Site: tree, Cache: answer.NewCache(1 << 20)}}
	all := ways(t, h)

	round := func() {
		var asking sync.WaitGroup
		for name, dial := range all {
			asking.Go(func() {
				for _, sel := range selectors {
					request := sel + "\r\n"
					if header, overHTTP := strings.CutPrefix(name, "HTTP "); overHTTP {
						path, _, _ := strings.Cut(sel, "\t")
						request = "GET /" + strings.TrimPrefix(path, "/") +
							" HTTP/1.1\r\nHost: h\r\nConnection: close\r\n" + header + "\r\n\r\n"
					}
					for _, end := range []func(net.Conn){readsAll, leaves, resets} {
						c := dial()
						_, _ = io.WriteString(c, request)
						end(c)
						_ = c.Close()
					}
				}
			})
		}
		asking.Wait()
	}
	round() // what is opened once for all stays
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for collected := true; collected; { // the site asks for it, when it has read the tree
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		open := settled(t)
		stop := make(chan struct{})
		var watching sync.WaitGroup
		watching.Go(func() { ownFiles(t, stop) })
		round()
		breakOff(t, h)
		close(stop)
		watching.Wait()
		closed := treetest.Eventually(func() bool { return descriptors(t) <= open })
		runtime.ReadMemStats(&after)
		if collected = after.NumGC > before.NumGC; !closed && !collected {
			t.Errorf("%d descriptors are open, %d were", descriptors(t), open)
		}
	}
}

// How a client ends.
func readsAll(c net.Conn) { _, _ = io.Copy(io.Discard, c) }
func leaves(net.Conn)     {}
func resets(c net.Conn) {
	_, _ = c.Read(make([]byte, 1))
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
}

// settled is how many descriptors are open when nothing is closed any more.
func settled(t *testing.T) (open int) {
	for same := 0; same < 20; same++ {
		if now := descriptors(t); now != open {
			open, same = now, 0
		}
		time.Sleep(10 * time.Millisecond)
	}
	return open
}

func descriptors(t *testing.T) int {
	list, err := os.ReadDir("/dev/fd")
	treetest.Must(t, err)
	return len(list)
}

// ownFiles opens and closes files of its own, which nobody else must touch.
func ownFiles(t *testing.T, stop <-chan struct{}) {
	name := filepath.Join(t.TempDir(), "own")
	treetest.Write(t, filepath.Dir(name), map[string]string{"own": "own"})
	var own, found syscall.Stat_t
	treetest.Must(t, syscall.Stat(name, &own))
	for {
		select {
		case <-stop:
			return
		default:
		}
		fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		treetest.Must(t, err)
		runtime.Gosched()
		if err := syscall.Fstat(fd, &found); err != nil || found.Ino != own.Ino {
			t.Errorf("somebody closed a file that is not theirs: %v", err)
			return
		}
		if err := syscall.Close(fd); err != nil {
			t.Errorf("somebody closed a file that is not theirs: %v", err)
			return
		}
	}
}

// ways are the ways on which a request comes to a handler.
func ways(t *testing.T, h *gopher.Front) map[string]func() net.Conn {
	s := func() *server.Server {
		return &server.Server{Handler: h, Host: "h", Port: 70, MaxConnsPerIP: -1,
			RequestTimeout: time.Hour, LingerTimeout: time.Millisecond}
	}
	many, proxied, inetd := s(), s(), s()
	withTLS(t)(&served{srv: many})
	many.HTTP = serving(&Pages{Host: h.Host})
	proxied.TrustProxy = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	addr, behind := treetest.Serve(t, many.Serve), treetest.Serve(t, proxied.Serve)
	plain := func() net.Conn { return dial(t, addr) }
	return map[string]func() net.Conn{
		"plain": plain, "HTTP Accept: text/html": plain, "HTTP Range: bytes=100-300000": plain,
		"TLS": func() net.Conn {
			return tls.Client(plain(), &tls.Config{InsecureSkipVerify: true})
		},
		"proxy": func() net.Conn {
			c := dial(t, behind)
			_, _ = io.WriteString(c, "PROXY TCP4 192.0.2.1 198.51.100.1 1234 70\r\n")
			return c
		},
		"inetd": func() net.Conn {
			client, conn := net.Pipe()
			_ = client.SetDeadline(time.Now().Add(2 * time.Minute))
			go inetd.ServeConn(t.Context(), conn)
			return client
		},
	}
}

func dial(t *testing.T, addr string) net.Conn {
	c, err := net.Dial("tcp", addr)
	if errors.Is(err, syscall.ECONNRESET) { // the server has no room
		c, _ = net.Pipe()
		_ = c.Close()
		return c
	}
	treetest.Must(t, err)
	_ = c.SetDeadline(time.Now().Add(2 * time.Minute))
	return c
}

// breakOff lets replies break off: on servers that have no room, that wait for
// nobody, and that end.
func breakOff(t *testing.T, h server.Handler) {
	selectors := []string{"/huge.bin\r\n", "/large.bin\r\n", "/latin1.txt\r\n",
		"/to.bin\r\n", "/huge.bin"}
	for _, s := range []*server.Server{
		{MaxConns: 1}, {MaxConnsPerIP: 1}, {StallTimeout: 20 * time.Millisecond, MaxConnsPerIP: -1},
		{DrainTimeout: -1, MaxConnsPerIP: -1},
	} {
		s.Handler, s.LingerTimeout = h, time.Millisecond
		l, err := net.Listen("tcp", "127.0.0.1:0")
		treetest.Must(t, err)
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error)
		go func() { ended <- s.Serve(ctx, l) }()
		clients := make([]net.Conn, 40)
		for i := range clients {
			clients[i] = dial(t, l.Addr().String())
			_, _ = io.WriteString(clients[i], selectors[i%len(selectors)])
		}
		if s.StallTimeout > 0 {
			treetest.Eventually(func() bool { return s.Counts().Writing == 0 })
		}
		_, _ = clients[0].Read(make([]byte, 1))
		stop()
		if s.DrainTimeout == 0 {
			for _, c := range clients[len(clients)/2:] {
				readsAll(c)
			}
		}
		for _, c := range clients {
			_ = c.Close()
		}
		treetest.Must(t, <-ended)
	}
}
