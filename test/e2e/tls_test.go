package e2e_test

import (
	"crypto/tls"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/process/keypair"
	"github.com/gophd/gophd/test/e2e/harness"
)

// large is a file that no socket takes at once.
var large = strings.Repeat("0123456789abcde\n", 1<<20)

func twoFiles(t *testing.T) string {
	t.Helper()
	return tree(t, map[string]string{"a.txt": "alpha\n", "large.bin": large})
}

func pair(t *testing.T, host string) keypair.CertKey {
	t.Helper()
	f, err := keypair.SelfSigned(t.TempDir(), host)
	must(t, err)
	return f
}

// served returns the name in the certificate that a client gets.
func served(t *testing.T, addr, name string) string {
	t.Helper()
	c, err := tls.Dial("tcp", addr, harness.AnyCert(name))
	must(t, err)
	defer func() { _ = c.Close() }()
	return c.ConnectionState().PeerCertificates[0].Subject.CommonName
}

func TestTLSClients(t *testing.T) {
	d := harness.Start(t, "-root", twoFiles(t), "-tls-self-signed",
		filepath.Join(t.TempDir(), "tls"))
	for _, tt := range []struct {
		stdin string
		args  []string
	}{
		{"", []string{"curl", "-sk", "gophers://" + d.Addr + "/0/a.txt"}},
		{"", []string{"curl", "-s", "gopher://" + d.Addr + "/0/a.txt"}},
		{"/a.txt\r\n", []string{"openssl", "s_client", "-quiet", "-connect", d.Addr}},
		{"/a.txt\n", []string{"openssl", "s_client", "-quiet", "-tls1_2", "-connect", d.Addr}},
	} {
		cmd := exec.Command(harness.Tool(t, tt.args[0]), tt.args[1:]...)
		cmd.Stdin = strings.NewReader(tt.stdin)
		if got, err := cmd.Output(); string(got) != "alpha\n" || err != nil {
			t.Errorf("%q got %q, %v", tt.args, got, err)
		}
	}
	got, err := exec.Command(harness.Tool(t, "curl"), "-sk", "https://"+d.Addr+"/a.txt").Output()
	if err != nil || !strings.Contains(string(got), "gophers://") {
		t.Errorf("https got %q, %v", got, err)
	}
}

// TestCertificateRenewed: each name has its certificate. New files are taken in by themselves,
// also in the sandbox, and do no harm to the connections there are.
func TestCertificateRenewed(t *testing.T) {
	old, next, two := pair(t, "old.example"), pair(t, "new.example"), pair(t, "two.example")
	d := harness.Start(t, "-root", twoFiles(t), "-tls-cert", old.Cert, "-tls-key", old.Key,
		"-tls-cert", two.Cert, "-tls-key", two.Key)
	if got := served(t, d.Addr, "two.example"); got != "two.example" {
		t.Errorf("two.example gets the certificate of %s", got)
	}
	c, err := tls.Dial("tcp", d.Addr, harness.AnyCert("old.example"))
	must(t, err)
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(2 * harness.Timeout))
	if _, err := c.Write([]byte("/large.bin\r\n")); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{next.Cert: old.Cert, next.Key: old.Key} {
		must(t, os.Rename(from, to))
	}
	d.Until("the new certificate is served", func() bool {
		return served(t, d.Addr, "") == "new.example"
	})
	if got, err := io.ReadAll(c); err != nil || string(got) != large {
		t.Errorf("the old connection got %d of %d bytes, %v", len(got), len(large), err)
	}
}
