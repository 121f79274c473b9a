// Package harness runs gophd as a process, for tests that need one: signals, privileges,
// sockets from another program, a terminal. Do not use it outside tests, nor for tests
// that can run in the test's own process.
//
// The program is built once for each test binary, as it is released, unless
// TEST_GOPHD_BIN names one that was built before. With TEST_GOPHD_ALL set, as in make
// test-all, slow tests run too, and a missing program is an error.
package harness

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/ask"
	"github.com/gophd/gophd/internal/treetest"
)

// Timeout is how long anything may take before a test fails.
const Timeout = treetest.Timeout

var dir string // of the program, "" before build

var build = sync.OnceValues(func() (name string, err error) {
	if dir, err = os.MkdirTemp("", "gophd-test"); err != nil {
		return "", err
	}
	name = filepath.Join(dir, "gophd")
	if built := os.Getenv("TEST_GOPHD_BIN"); built != "" {
		// Scripts and manuals call it gophd, whatever its name is.
		if built, err = filepath.Abs(built); err == nil {
			err = copyProgram(name, built)
		}
	} else {
		cmd := exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-o", name,
			"github.com/gophd/gophd/cmd/gophd")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is released
		if out, failed := cmd.CombinedOutput(); failed != nil {
			err = fmt.Errorf("building gophd: %w\n%s", failed, out)
		}
	}
	return name, errors.Join(err, os.Chmod(dir, 0o755))
})

// copyProgram copies a program, for users who may not enter where it is.
func copyProgram(to, from string) error {
	program, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, program, 0o755)
}

// Main runs the tests of a package and removes the program afterwards.
func Main(m *testing.M) int {
	status := m.Run()
	if dir != "" {
		_ = os.RemoveAll(dir)
	}
	return status
}

// Program returns the name of gophd.
func Program(t testing.TB) string {
	t.Helper()
	name, err := build()
	treetest.Must(t, err)
	return name
}

// Slow leaves a test out that takes long, unless a command for it runs it.
func Slow(t testing.TB, command string) {
	t.Helper()
	if os.Getenv("TEST_GOPHD_ALL") == "" {
		t.Skipf("slow: %s runs it", command)
	}
}

// Apart runs the test that calls it once more, in a process of its own with more in
// its environment, and reports whether this is that process. It is for tests with
// permanent effects, such as dropping privileges.
func Apart(t *testing.T, env ...string) bool {
	t.Helper()
	const key = "TEST_GOPHD_APART"
	if os.Getenv(key) == t.Name() {
		return true
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.v",
		"-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$")
	cmd.Env = append(append(os.Environ(), env...), key+"="+t.Name())
	if out, err := cmd.CombinedOutput(); err != nil ||
		!strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// A Daemon is a running gophd.
type Daemon struct {
	*exec.Cmd
	Addr string // of its first listener, if Start waited for it

	t    testing.TB
	mu   sync.Mutex
	log  []byte
	bad  []byte        // the first report of a panic or a data race, which the log may have lost
	done chan struct{} // closed when it has ended

	killed bool
}

// Start runs gophd with these arguments until the test ends, and waits until
// it says that it serves. Unless they have a -listen or -inetd, it listens on
// a free port of 127.0.0.1.
func Start(t testing.TB, args ...string) *Daemon {
	t.Helper()
	return StartCmd(t, exec.Command(Program(t),
		append([]string{"-listen", "127.0.0.1:0"}, args...)...))
}

// LogEnv asks for a log in which tests find everything, unless a flag asks for
// another.
var LogEnv = []string{"GOPHD_LOG_FORMAT=json", "GOPHD_V=true"}

// RaceOptions keep the reports of the race detector on standard error. A file (log_path) is
// opened at the first report, which the sandbox of gophd forbids. They also take away
// the second that the detector waits at the end of a process.
const RaceOptions = "atexit_sleep_ms=0"

var served = regexp.MustCompile(`nc (\S+) (\d+)`)

// StartCmd is Start for a command that runs gophd in its own way.
func StartCmd(t testing.TB, cmd *exec.Cmd) *Daemon {
	t.Helper()
	d := Run(t, cmd)
	serving := served.FindStringSubmatch(d.WaitLog("| nc "))
	d.Addr = net.JoinHostPort(serving[1], serving[2])
	return d
}

// Run starts a command that runs gophd, until the test ends.
func Run(t testing.TB, cmd *exec.Cmd) *Daemon {
	t.Helper()
	stderr, err := cmd.StderrPipe()
	treetest.Must(t, err)
	cmd.Env = append(append(cmd.Environ(), LogEnv...), "GORACE="+RaceOptions)
	treetest.Must(t, cmd.Start())
	d := &Daemon{Cmd: cmd, t: t, done: make(chan struct{})}
	go d.collect(stderr)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-d.done
		if len(d.bad) > 0 {
			t.Errorf("something went wrong inside:\n%s", d.bad)
		}
	})
	return d
}

// faulty matches the first line of a report that no log should have.
var faulty = regexp.MustCompile(`panic:|not proven|DATA RACE|^fatal error:`)

// maxReport bounds what is kept of such a report and of the lines after it, in bytes.
const maxReport = 64 << 10

// maxLog is how much of the log is kept, in bytes: of a run that takes half an
// hour, the end.
const maxLog = 8 << 20

func (d *Daemon) collect(r io.Reader) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		d.mu.Lock()
		if len(d.bad) > 0 && len(d.bad) < maxReport || faulty.Match(lines.Bytes()) {
			d.bad = append(append(d.bad, lines.Bytes()...), '\n')
		}
		if len(d.log) > maxLog {
			d.log = append([]byte(nil), d.log[maxLog/2:]...)
		}
		d.log = append(append(d.log, lines.Bytes()...), '\n')
		d.mu.Unlock()
	}
	_ = d.Wait()
	close(d.done)
}

// Tail returns the end of the log, for the message of a failed test.
func (d *Daemon) Tail() string {
	log := d.Log()
	return log[max(0, len(log)-2000):]
}

// Log returns what gophd has written to standard error so far, the last
// megabytes of it.
func (d *Daemon) Log() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return string(d.log)
}

// WaitLog waits for a line of the log that holds text and returns it.
func (d *Daemon) WaitLog(text string) (line string) {
	d.t.Helper()
	d.Until("the log says "+text, func() bool {
		for l := range strings.Lines(d.Log()) {
			if strings.Contains(l, text) {
				line = l
				return true
			}
		}
		return false
	})
	return line
}

// Until tries until try succeeds, and fails the test if it never does.
func (d *Daemon) Until(what string, try func() bool) {
	d.t.Helper()
	if !treetest.Eventually(try) {
		d.t.Fatalf("never: %s; the log:\n%s", what, d.Tail())
	}
}

// Ask sends a selector and returns the whole reply.
func (d *Daemon) Ask(selector string) string {
	d.t.Helper()
	reply, err := Ask(d.Addr, selector)
	if err != nil {
		d.t.Fatalf("asking for %q: %v; the log:\n%s", selector, err, d.Tail())
	}
	return reply
}

// Ask sends a selector to a server and returns the whole reply.
func Ask(addr, selector string) (string, error) {
	reply, err := Exchange("", addr, selector, nil)
	return string(reply), err
}

// Signal sends a signal.
func (d *Daemon) Signal(sig syscall.Signal) {
	d.t.Helper()
	if err := d.Process.Signal(sig); err != nil {
		d.t.Fatal(err)
	}
}

// Kill ends gophd without a warning.
func (d *Daemon) Kill() {
	d.t.Helper()
	d.Signal(syscall.SIGKILL)
	<-d.done
	d.killed = true
}

// End waits for the end, and returns the exit status.
func (d *Daemon) End() int {
	d.t.Helper()
	select {
	case <-d.done:
	case <-time.After(Timeout):
		d.t.Fatalf("gophd did not end; the log:\n%s", d.Tail())
	}
	return d.ProcessState.ExitCode()
}

// Stop sends SIGTERM and waits for a good end. It does nothing after Kill.
func (d *Daemon) Stop() {
	d.t.Helper()
	if d.killed {
		return
	}
	d.Signal(syscall.SIGTERM)
	if d.End() != 0 {
		d.t.Fatalf("gophd ended with %v; the log:\n%s", d.ProcessState, d.Tail())
	}
}

// Exchange is one request from an address of this machine, over TLS if conf is
// not nil, and its whole reply. The error is ErrLate, too, if the request was late.
func Exchange(from, addr, selector string, conf *tls.Config) (reply []byte, err error) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), Timeout)
	defer cancel()
	d := ask.Dialer{Dial: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).DialContext, TLS: conf}
	r, err := d.Send(ctx, addr, conf != nil, selector+"\r\n", math.MaxInt64)
	late := time.Since(began) > settling
	if err == nil {
		reply, err = io.ReadAll(r)
		_ = r.Close()
	}
	if err != nil && late {
		err = errors.Join(err, ErrLate)
	}
	return reply, err
}

// ErrLate says that this machine has sent a request so long after it connected that gophd
// may have taken the client for a silent one, and given its place to another.
var ErrLate = errors.New("the request was sent late")

// settling is after how long gophd does that.
const settling = 300 * time.Millisecond

// ExchangeAtTheEnd is Exchange with a gophd that may be ending. It waits 1 s for the
// requests on its connections; a later client, or the proxy between them, asks again.
func ExchangeAtTheEnd(from, addr, selector string) ([]byte, error) {
	for {
		began := time.Now()
		reply, err := Exchange(from, addr, selector, nil)
		if len(reply) > 0 || time.Since(began) < time.Second {
			return reply, err
		}
	}
}

// AnyCert is a client that takes any certificate, as Gopher clients do that know
// a server by sight.
func AnyCert(name string) *tls.Config {
	return &tls.Config{ServerName: name, InsecureSkipVerify: true}
}
