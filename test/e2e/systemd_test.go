package e2e_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gophd/gophd/test/e2e/harness"
)

func oneFile(t *testing.T) string {
	t.Helper()
	return tree(t, map[string]string{"file.txt": "a file\n"})
}

// activate prepares gophd as systemd starts it, with listening sockets as
// descriptors 3 and on.
func activate(t testing.TB, env []string, sockets []*os.File, args ...string) *exec.Cmd {
	t.Helper()
	script := fmt.Sprintf(`LISTEN_PID=$$ LISTEN_FDS=%d exec "$0" "$@"`, len(sockets))
	cmd := exec.Command("/bin/sh", append([]string{"-c", script, harness.Program(t)}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.ExtraFiles = sockets
	return cmd
}

func socket(t testing.TB) (*os.File, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	f, err := l.(*net.TCPListener).File()
	must(t, err)
	_ = l.Close() // f keeps the socket
	t.Cleanup(func() { _ = f.Close() })
	return f, l.Addr().String()
}

func TestSocketActivation(t *testing.T) {
	first, addr1 := socket(t)
	second, addr2 := socket(t)
	third, addr3 := socket(t)
	names := []string{"LISTEN_FDNAMES=gophd.socket:gophd.socket:nex"}
	d := harness.StartCmd(t,
		activate(t, names, []*os.File{first, second, third}, "-root", oneFile(t)))
	for _, addr := range []string{addr1, addr2} {
		if got, err := harness.Ask(addr, "/file.txt"); got != "a file\n" || err != nil {
			t.Errorf("%s: %q, %v", addr, got, err)
		}
	}
	if got, err := harness.Ask(addr3, "/"); got != "=> /file.txt file.txt\n" || err != nil {
		t.Errorf("Nex: %q, %v", got, err)
	}
	d.Stop() // now all of the log is there
	if n := strings.Count(d.Log(), `"serving"`); n != 2 {
		t.Errorf("it serves on %d addresses", n)
	}
}

func TestSocketIsConnection(t *testing.T) {
	l, addr := socket(t)
	_ = l
	c, err := net.Dial("tcp", addr)
	must(t, err)
	f, err := c.(*net.TCPConn).File()
	must(t, err)
	defer func() { _, _ = f.Close(), c.Close() }()
	out, err := activate(t, nil, []*os.File{f}, "-root", oneFile(t)).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "hint: the socket unit wants Accept=no") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestRestartLosesNobody restarts gophd again and again, as systemd does, with
// clients that never pause.
func TestRestartLosesNobody(t *testing.T) {
	sock, addr := socket(t)
	root := oneFile(t)
	var served atomic.Int64
	stop := make(chan bool)
	var clients sync.WaitGroup
	start := func() *harness.Daemon {
		return harness.StartCmd(t,
			activate(t, nil, []*os.File{sock}, "-quiet=false", "-root", root))
	}
	d := start()
	for i := range 8 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				sel, want := "/file.txt", "a file\n"
				if i%2 == 0 {
					sel, want = "/nothing", "3Not found: nothing here has that name\t\terror.host\t1\r\n.\r\n"
				}
				if got, err := harness.ExchangeAtTheEnd("", addr,
					sel); string(got) != want || err != nil {
					t.Errorf("after %d answers: %q, %v", served.Load(), got, err)
					return
				}
				served.Add(1)
			}
		})
	}
	for range 5 {
		before := served.Load()
		d.Until("clients were answered", func() bool { return served.Load() > before+100 })
		d.Stop()
		d = start()
	}
	close(stop)
	clients.Wait()
	t.Logf("%d answers over 5 restarts", served.Load())
}

func TestGophdNotifies(t *testing.T) {
	m := harness.NewManager(t)
	sock, _ := socket(t)
	env := []string{"NOTIFY_SOCKET=" + m.Name, "WATCHDOG_USEC=1000000"}
	d := harness.StartCmd(t, activate(t, env, []*os.File{sock}, "-root", oneFile(t)))
	expect := func(want string) {
		t.Helper()
		for {
			got := m.Next()
			if strings.HasPrefix(got, want) {
				return
			}
			if got != "WATCHDOG=1" {
				t.Fatalf("got %q, want %q", got, want)
			}
		}
	}
	expect("READY=1")
	expect("WATCHDOG=1")
	expect("WATCHDOG=1")
	d.Signal(syscall.SIGHUP)
	expect("RELOADING=1\nMONOTONIC_USEC=")
	expect("READY=1")
	d.Signal(syscall.SIGTERM)
	expect("STOPPING=1")
}

// TestInetdPipes: a super-server may give pipes that do not block.
func TestInetdPipes(t *testing.T) {
	large := strings.Repeat("x", 400_000)
	root := tree(t, map[string]string{"x.bin": large})
	var in, out [2]int
	must(t, errors.Join(unix.Pipe(in[:]), unix.Pipe(out[:])))
	file := func(fd int) *os.File {
		unix.CloseOnExec(fd)
		must(t, unix.SetNonblock(fd, true))
		return os.NewFile(uintptr(fd), "pipe")
	}
	cmd := exec.Command(harness.Program(t), "-inetd", "-root", root)
	ask, from, to, reply := file(in[1]), file(in[0]), file(out[1]), file(out[0])
	cmd.Stdin, cmd.Stdout = from, to
	_, err := ask.WriteString("x.bin\r\n")
	must(t, errors.Join(err, cmd.Start(), from.Close(), to.Close()))
	got, err := io.ReadAll(reply)
	must(t, errors.Join(err, cmd.Wait(), ask.Close(), reply.Close()))
	if string(got) != large {
		t.Errorf("%d bytes", len(got))
	}
}

// TestInetdSocket: the connection is on all three, and the log must not get
// into the reply.
func TestInetdSocket(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer func() { _ = l.Close() }()
	root := oneFile(t)
	var reply string
	var asked error
	var client sync.WaitGroup
	client.Go(func() { reply, asked = harness.Ask(l.Addr().String(), "/file.txt") })
	c, err := l.Accept()
	must(t, err)
	f, err := c.(*net.TCPConn).File()
	must(t, err)
	_ = c.Close()
	cmd := exec.Command(harness.Program(t), "-inetd", "-v", "-root", root)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = f, f, f
	err = cmd.Run()
	_ = f.Close()
	client.Wait()
	if err != nil || asked != nil || reply != "a file\n" {
		t.Errorf("%q, %v, %v", reply, asked, err)
	}
}
