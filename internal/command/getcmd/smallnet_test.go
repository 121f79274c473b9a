package getcmd

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/test/e2e/harness"
)

// answering serves replies by their requests, and returns the address. Each connection
// asks for its certificate; nil is without TLS.
func answering(t *testing.T, cert func() *tls.Certificate, replies map[string]string) string {
	t.Helper()
	return treetest.Conns(t, func(c net.Conn) {
		host := c.LocalAddr().String()
		if cert != nil {
			c = tls.Server(c, &tls.Config{Certificates: []tls.Certificate{*cert()}})
			defer func() { _ = c.Close() }()
		}
		buf := make([]byte, 2048)
		n, _ := c.Read(buf)
		reply, ok := replies[strings.ReplaceAll(string(buf[:n]), host, "HOST")]
		if !ok && n > 0 {
			t.Errorf("the request was %q", buf[:n])
		}
		_, _ = io.WriteString(c, reply)
	})
}

func get(t *testing.T, url string, set func(*Get)) (string, error) {
	var out bytes.Buffer
	g := &Get{Timeout: time.Minute, MaxSize: 1 << 20, Out: &out}
	if set != nil {
		set(g)
	}
	err := g.Get(t.Context(), []string{url})
	return out.String(), err
}

func statusOf(err error) int {
	e := &exit.CommandError{Status: exit.Failure}
	if err == nil {
		return exit.OK
	}
	errors.As(err, &e)
	return e.Status
}

func TestOtherProtocols(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	cert := harness.Certificate(t, "localhost", time.Now().Add(time.Hour))
	gemini := answering(t, func() *tls.Certificate { return &cert }, map[string]string{
		"gemini://HOST/\r\n":          "20 text/gemini\r\n# Hello\n",
		"gemini://HOST/dir\r\n":       "31 /dir/\r\n",
		"gemini://HOST/dir/\r\n":      "20 text/gemini\r\nthere\n",
		"gemini://HOST/web\r\n":       "30 https://example.org/\r\n",
		"gemini://HOST/round\r\n":     "30 round\r\n",
		"gemini://HOST/ask\r\n":       "10 What\x1b[2J?\r\n",
		"gemini://HOST/ask?a%20b\r\n": "20 text/plain\r\na b",
		"gemini://HOST/gone\r\n":      "51 Not found: nothing here has that name\r\n",
		"gemini://HOST/odd\r\n":       "hello\r\n",
		"gemini://HOST/none\r\n":      "",
	})
	spartan := answering(t, nil, map[string]string{
		"127.0.0.1 / 0\r\n":       "2 text/gemini\r\n# Hello\n",
		"127.0.0.1 /dir 0\r\n":    "3 /dir/\r\n",
		"127.0.0.1 /dir/ 0\r\n":   "2 text/gemini\r\nthere\n",
		"127.0.0.1 /ask 3\r\na b": "2 text/plain\r\na b",
		"127.0.0.1 /a%20b 0\r\n":  "4 Not found: nothing here has that name\r\n",
	})
	nex := answering(t, nil, map[string]string{"/\r\n": "=> a\n", "/a%20b.txt\r\n": "x"})
	finger := answering(t, nil, map[string]string{"\r\n": "all\r\n", "ann\r\n": "Ann\r\n"})
	for _, test := range []struct {
		url, want string
		status    int
	}{
		{"gemini://" + gemini, "# Hello\n", exit.OK},
		{"GEMINI://" + gemini + "/#top", "# Hello\n", exit.OK},
		{"gemini://" + gemini + "/dir", "there\n", exit.OK},
		{"gemini://" + gemini + "/ask?a%20b", "a b", exit.OK},
		{"gemini://" + gemini + "/web", "", exit.No},
		{"gemini://" + gemini + "/ask", "", exit.No},
		{"gemini://" + gemini + "/gone", "", exit.No},
		{"gemini://" + gemini + "/odd", "", exit.No},
		{"gemini://" + gemini + "/none", "", exit.Failure},
		{"gemini://" + gemini + "/round", "", exit.Failure},
		{"spartan://" + spartan, "# Hello\n", exit.OK},
		{"spartan://" + spartan + "/dir", "there\n", exit.OK},
		{"spartan://" + spartan + "/ask?a%20b", "a b", exit.OK},
		{"spartan://" + spartan + "/a%20b", "", exit.No},
		{"nex://" + nex, "=> a\n", exit.OK},
		{"nex://" + nex + "/a%20b.txt", "x", exit.OK},
		{"finger://" + finger, "all\r\n", exit.OK},
		{"finger://" + finger + "/ann", "Ann\r\n", exit.OK},
		{"finger://" + finger + "/ann%0d%0abob", "", exit.Usage},
		{"gemini:///x", "", exit.Usage},
		{"spartan://" + spartan + "/?" + strings.Repeat("x", 1025), "", exit.Usage},
	} {
		got, err := get(t, test.url, nil)
		if got != test.want || statusOf(err) != test.status {
			t.Errorf("%.80s: %q, %v, want %q, status %d", test.url, got, err,
				test.want, test.status)
		}
	}
	if got, err := get(t, "gemini://"+gemini+"/gone", func(g *Get) {
		g.Raw = true
	}); got != "51 Not found: nothing here has that name\r\n" || err != nil {
		t.Errorf("raw: %q, %v", got, err)
	}
}

func TestCertificateChanges(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	later := time.Now().Add(time.Hour)
	first, third := harness.Certificate(t, "first", later), harness.Certificate(t, "third", later)
	second := harness.Certificate(t, "second", time.Now().Add(-time.Hour))
	var now atomic.Pointer[tls.Certificate]
	url := "gemini://" + answering(t, func() *tls.Certificate {
		return now.Load()
	}, map[string]string{"gemini://HOST/\r\n": "20 text/plain\r\nbody"})
	insecure := func(g *Get) { g.Insecure = true }
	for _, step := range []struct {
		name   string
		cert   *tls.Certificate
		set    func(*Get)
		status int
	}{
		{"the first one is taken", &first, nil, exit.OK},
		{"it is known again", &first, nil, exit.OK},
		{"another one is refused", &second, nil, exit.Failure},
		{"and again", &second, nil, exit.Failure},
		{"-insecure takes it", &second, insecure, exit.OK},
		{"and remembers it", &second, nil, exit.OK},
		{"it has expired, so another is taken", &third, nil, exit.OK},
		{"the old one is refused", &second, nil, exit.Failure},
	} {
		now.Store(step.cert)
		got, err := get(t, url, step.set)
		if statusOf(err) != step.status || step.status == exit.OK && got != "body" {
			t.Fatalf("%s: %q, %v", step.name, got, err)
		}
		if step.status == exit.Failure &&
			!strings.Contains(err.Error(), "the certificate has changed: SHA256:") {
			t.Errorf("%s: %v", step.name, err)
		}
	}
	list, err := os.ReadFile(filepath.Join(state, "gophd", "known_hosts"))
	if err != nil || strings.Count(string(list), "\n") != 3 {
		t.Errorf("%v: %s", err, list)
	}
	// Where nothing can be remembered, only -insecure goes on.
	notDir := filepath.Join(state, "file")
	treetest.Must(t, os.WriteFile(notDir, nil, 0o600))
	t.Setenv("XDG_STATE_HOME", notDir)
	if _, err := get(t, url, nil); statusOf(err) != exit.Failure ||
		!strings.Contains(err.Error(), "remembering the certificate") {
		t.Error(err)
	}
	if got, err := get(t, url, insecure); got != "body" || err != nil {
		t.Error(got, err)
	}
}
