package getcmd

import (
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gophd/gophd/internal/disk"
)

// maxKnown bounds the file of known hosts, in bytes.
const maxKnown = 16 << 20

// knownHosts are the certificates of Gemini servers, trusted on first use until they expire, since
// no authority signs them. They are stored in
// $XDG_STATE_HOME/gophd/known_hosts, a line each: address, fingerprint, last second. The
// last line of an address counts, so that a new one is appended in one write.
type knownHosts struct {
	insecure bool // a changed certificate takes the place of the old one
}

// changedError reports a certificate that is not the one of last time.
type changedError struct {
	known, got string
	until      time.Time
}

func (e *changedError) Error() string {
	return fmt.Sprintf("the certificate has changed: %s, it was %s until %s", e.got, e.known,
		e.until.Format(time.DateOnly))
}

// unwritableError reports a certificate that could not be remembered.
type unwritableError struct{ error }

func (e *unwritableError) Unwrap() error { return e.error }

// check compares a certificate with the one of last time, and remembers a new one.
func (k *knownHosts) check(addr string, cert *x509.Certificate) error {
	got := fmt.Sprintf("SHA256:%X", sha256.Sum256(cert.Raw))
	name, err := k.file()
	var list []byte
	if err == nil {
		if list, err = disk.Caller(disk.Direct).ReadFile(name, maxKnown); os.IsNotExist(err) {
			err = nil
		}
	}
	var known string
	var until time.Time
	for line := range strings.Lines(string(list)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == addr {
			known = f[1]
			until, _ = time.Parse(time.RFC3339, f[2])
		}
	}
	switch {
	case known == got:
		return nil
	case known != "" && time.Now().Before(until) && !k.insecure:
		return &changedError{known, got, until}
	}
	if err == nil {
		err = appendLine(name, fmt.Sprintf("%s %s %s\n", addr, got,
			cert.NotAfter.UTC().Format(time.RFC3339)))
	}
	if err != nil && !k.insecure {
		return &unwritableError{fmt.Errorf("remembering the certificate: %w", err)}
	}
	return nil
}

// file returns the name of the file, by the XDG Base Directory Specification.
func (k *knownHosts) file() (string, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "gophd", "known_hosts"), nil
}

func appendLine(name, line string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := disk.Caller(disk.Direct).OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
