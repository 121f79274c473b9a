// Package keypair keeps the TLS certificates of a server: pairs of files, read
// again when they have changed, and a self-signed pair for servers that have none.
//
// A program with one pair that never changes does not need it: there is
// tls.LoadX509KeyPair.
package keypair

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/gophd/gophd/internal/limit"
)

// CertKey names a certificate, with the chain that belongs to it, and its key, as
// PEM.
type CertKey struct{ Cert, Key string }

// A Store gives out certificates. It is safe for many goroutines.
type Store struct {
	// Log gets a line for each pair that was read again or cannot be. If nil,
	// nothing is logged.
	Log *slog.Logger

	mu      sync.Mutex
	pairs   []*pair
	checked time.Time
}

// pair is the last good version of two files.
type pair struct {
	CertKey
	cert *tls.Certificate
	seen [2]stamp // of the files when they were read last, good or not
}

// stamp distinguishes versions of a file.
type stamp struct {
	info os.FileInfo
}

func (s stamp) same(now os.FileInfo) bool {
	return s.info != nil && now != nil && os.SameFile(s.info, now) && s.info.ModTime().Equal(now.ModTime()) && s.info.Size() == now.Size()
}

// interval is how often the files are looked at, at most.
const interval = time.Second

// Add reads a pair and adds it. The first one added is given to clients that
// ask for no name, or for one that no pair has.
func (s *Store) Add(f CertKey) error {
	p := &pair{CertKey: f}
	p.seen = p.stamps()
	if err := p.read(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pairs = append(s.pairs, p)
	return nil
}

// Files lists the pairs.
func (s *Store) Files() []CertKey {
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

// Get is for tls.Config.GetCertificate: the first pair that fits the name and
// the algorithms of the client. If the files of a pair have changed they are
// read first; while they cannot be, the old pair stays. Connections that are
// open keep what they have.
func (s *Store) Get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); now.Sub(s.checked) >= interval {
		s.checked = now
		s.refresh(false)
	}
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

// Reload reads all pairs again. A nil store has none.
func (s *Store) Reload() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh(true)
}

func (s *Store) refresh(all bool) {
	for _, p := range s.pairs {
		now := p.stamps()
		if !all && p.seen[0].same(now[0].info) && p.seen[1].same(now[1].info) {
			continue
		}
		err := p.read()
		if !limit.Reached(err) {
			p.seen = now
		}
		if err != nil {
			s.log().Error("keeping the old certificate", "error", err)
		} else {
			s.log().Info("read a certificate", "file", p.Cert, "until", p.cert.Leaf.NotAfter)
		}
	}
}

func (p *pair) stamps() (s [2]stamp) {
	for i, name := range []string{p.Cert, p.Key} {
		s[i].info, _ = os.Stat(name)
	}
	return s
}

func (p *pair) read() error {
	cert, err := tls.LoadX509KeyPair(p.Cert, p.Key)
	if err != nil {
		return fmt.Errorf("reading %s and %s: %w", p.Cert, p.Key, err)
	}
	p.cert = &cert
	return nil
}

func (s *Store) log() *slog.Logger {
	if s.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Log
}
