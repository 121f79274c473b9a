// Package keypair loads TLS certificates, reloads them when their files change, and creates
// self-signed ones. For one certificate that never changes, tls.LoadX509KeyPair suffices.
package keypair

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/limit"
	"github.com/gophd/gophd/internal/stall"
)

// CertKey names the PEM files of a certificate with its chain, and of its key.
type CertKey struct{ Cert, Key string }

// Certificates selects a certificate by SNI and reloads changed files. It may be used
// concurrently.
type Certificates struct {
	// Log records each reload by Run, and its failures.
	Log *slog.Logger

	mu    sync.Mutex // never locked while files are read
	pairs []*pair
}

// pair is the last good version of two files.
type pair struct {
	CertKey
	cert *tls.Certificate
	seen [2]disk.Revision // of the files at the last attempt to read them
}

// files makes calls that a file system may delay.
var files = disk.Guarded(&stall.Guard{})

// Add reads a pair and adds it. Clients that send no name, or a name that no certificate has,
// get the first pair.
func (s *Certificates) Add(f CertKey) error {
	p := &pair{CertKey: f}
	p.seen, _ = p.stamps()
	var err error
	if p.cert, err = p.read(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pairs = append(s.pairs, p)
	return nil
}

// Fingerprint returns the SHA-256 of the first certificate, in the form that clients with
// trust on first use show.
func (s *Certificates) Fingerprint() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pairs) == 0 {
		return ""
	}
	return fmt.Sprintf("SHA256:%X", sha256.Sum256(s.pairs[0].cert.Certificate[0]))
}

// Files lists the pairs.
func (s *Certificates) Files() []CertKey {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []CertKey
	for _, p := range s.pairs {
		all = append(all, p.CertKey)
	}
	return all
}

// Get implements tls.Config.GetCertificate. It returns the first certificate that supports the
// name and the algorithms of the client.
func (s *Certificates) Get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pairs {
		if hello.SupportsCertificate(p.cert) == nil {
			return p.cert, nil
		}
	}
	if len(s.pairs) == 0 {
		return nil, errors.New("no certificate")
	}
	return s.pairs[0].cert, nil
}

// Run checks every second whether files have changed, and reloads them, until ctx ends. If
// they cannot be read, the old pair stays. It may be called on nil.
func (s *Certificates) Run(ctx context.Context) {
	if s == nil {
		return
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.refresh()
		case <-ctx.Done():
			return
		}
	}
}

// refresh reads the pairs that have changed.
func (s *Certificates) refresh() {
	s.mu.Lock()
	pairs := slices.Clone(s.pairs)
	s.mu.Unlock()
	for _, p := range pairs {
		now, err := p.stamps()
		if err == nil && p.seen == now {
			continue
		}
		var cert *tls.Certificate
		if err == nil {
			cert, err = p.read()
		}
		if !limit.Reached(err) && !errors.Is(err, stall.Err) {
			p.seen = now
		}
		if err != nil {
			s.Log.Error("keeping the old certificate", "error", err)
			continue
		}
		s.mu.Lock()
		p.cert = cert
		s.mu.Unlock()
		s.Log.Info("read a certificate", "file", p.Cert, "until", cert.Leaf.NotAfter)
	}
}

// stamps returns the current revisions of the files, and withholds these files from all served
// trees. Files in a directory that the process may no longer search count as unchanged. It fails if
// the file system does not respond.
func (p *pair) stamps() (s [2]disk.Revision, err error) {
	for i, name := range []string{p.Cert, p.Key} {
		s[i], err = files.Revision(name)
		if errors.Is(err, stall.Err) {
			return s, err
		} else if errors.Is(err, fs.ErrPermission) {
			s[i] = p.seen[i]
		}
		if info, err := files.Stat(name); err == nil {
			disk.Withhold(name, info)
		}
	}
	return s, nil
}

// maxPEM bounds the size of a PEM file, in bytes.
const maxPEM = 4 << 20

func (p *pair) read() (*tls.Certificate, error) {
	var text [2][]byte
	for i, name := range []string{p.Cert, p.Key} {
		var err error
		if text[i], err = files.ReadFile(name, maxPEM); err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, diag.Cause(err))
		}
	}
	cert, err := tls.X509KeyPair(text[0], text[1])
	if err != nil {
		return nil, fmt.Errorf("reading %s and %s: %s", p.Cert, p.Key,
			strings.TrimPrefix(err.Error(), "tls: "))
	}
	return &cert, nil
}

// InText reports whether a file contains a private key in PEM form (TLS, SSH or PGP), possibly
// after a certificate chain.
func InText(r io.Reader) bool {
	head, _ := io.ReadAll(io.LimitReader(r, 64<<10))
	return bytes.Contains(head, []byte("PRIVATE KEY"))
}
