package keypair

import (
	"crypto/tls"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gophd/gophd/internal/treetest"
)

// hello is what a client with TLS 1.3 sends to reach a name.
func hello(name string) *tls.ClientHelloInfo {
	return &tls.ClientHelloInfo{
		ServerName: name, SupportedVersions: []uint16{tls.VersionTLS13},
		CipherSuites:     []uint16{tls.TLS_AES_128_GCM_SHA256},
		SignatureSchemes: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256},
		SupportedCurves:  []tls.CurveID{tls.CurveP256},
	}
}

func made(t *testing.T, dir, name string) CertKey {
	t.Helper()
	f, err := SelfSigned(dir, name)
	treetest.Must(t, err)
	return f
}

func subject(t *testing.T, s *Certificates, name string) string {
	t.Helper()
	c, err := s.Get(hello(name))
	treetest.Must(t, err)
	return c.Leaf.Subject.CommonName
}

func TestReadAgainWhenChanged(t *testing.T) {
	dir, next := t.TempDir(), t.TempDir()
	s := Certificates{Log: slog.New(slog.DiscardHandler)}
	f := made(t, dir, "old.example")
	treetest.Must(t, s.Add(f))
	g := made(t, next, "new.example")
	move := func(from, to string) {
		treetest.Must(t, os.Rename(from, to))
		s.refresh()
	}
	if got := subject(t, &s, ""); got != "old.example" {
		t.Fatal(got)
	}
	move(g.Key, f.Key) // and the certificate is not there yet: the old pair stays
	if got := subject(t, &s, ""); got != "old.example" {
		t.Error(got)
	}
	move(g.Cert, f.Cert)
	if got := subject(t, &s, ""); got != "new.example" {
		t.Error(got)
	}
	treetest.Must(t, os.Remove(f.Key))
	s.refresh()
	if got := subject(t, &s, ""); got != "new.example" {
		t.Error(got)
	}
}

// TestSelfSignedIsKept: each name has a pair of its own, with no other name in it, which is
// never made again.
func TestSelfSignedIsKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "dir")
	f := made(t, dir, "a.example")
	first, err := os.ReadFile(f.Cert)
	treetest.Must(t, err)
	if again := made(t, dir, "a.example"); again != f {
		t.Errorf("%v, %v", f, again)
	}
	if second, err := os.ReadFile(f.Cert); err != nil || string(second) != string(first) {
		t.Errorf("it was made again (%v)", err)
	}
	if info, err := os.Stat(f.Key); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key: %v, %v", info.Mode(), err)
	}
	s := Certificates{Log: slog.New(slog.DiscardHandler)}
	for _, pair := range []CertKey{f, made(t, dir, "b.example"), made(t, dir, "192.0.2.1")} {
		treetest.Must(t, s.Add(pair))
	}
	for _, name := range []string{"a.example", "b.example"} {
		c, _ := s.Get(hello(name))
		if c.Leaf.VerifyHostname(name) != nil || len(c.Leaf.DNSNames)+len(c.Leaf.IPAddresses) != 1 {
			t.Errorf("%s: for %v, %v", name, c.Leaf.DNSNames, c.Leaf.IPAddresses)
		}
	}
	treetest.Must(t, os.Remove(f.Key))
	if err := s.Add(made(t, dir, "a.example")); err == nil ||
		!strings.Contains(err.Error(), f.Key) {
		t.Errorf("half a pair: %v", err)
	}
}

// TestOlderPairStays: a pair that an earlier gophd has made is used for the names in it.
func TestOlderPairStays(t *testing.T) {
	dir := t.TempDir()
	older := Older(dir)
	treetest.Must(t, older.make(dir, "a.example"))
	if f := made(t, dir, "a.example"); f != older {
		t.Errorf("a.example has %v", f)
	}
	if f := made(t, dir, "b.example"); f != Named(dir, "b.example") {
		t.Errorf("b.example has %v", f)
	}
}
