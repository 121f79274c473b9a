package getcmd

import (
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/disk"
)

// call opens the file of known hosts.
var call = disk.Caller(disk.Direct)

// maxKnown bounds the file of known hosts, in bytes.
const maxKnown = 16 << 20

// trust compares the certificate of a Gemini server with the one of last time, since no authority
// signs them, and remembers a new one. Unless insecure, a certificate that has not expired must
// not change.
func trust(addr string, cert *x509.Certificate, insecure bool) error {
	got := fmt.Sprintf("SHA256:%X", sha256.Sum256(cert.Raw))
	var list []byte
	name, err := knownHosts()
	if err == nil {
		if list, err = call.ReadFile(name, maxKnown); errors.Is(err, fs.ErrNotExist) {
			err = os.MkdirAll(filepath.Dir(name), 0o700)
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
	case known != "" && time.Now().Before(until) && !insecure:
		return exit.Hint(fmt.Errorf("the certificate has changed: %s, it was %s until %s", got,
			known, until.Format(time.DateOnly)),
			"if its owner confirms the new one, -insecure remembers it")
	}

	var file *os.File
	if err == nil {
		file, err = call.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	}
	if err == nil {
		_, err = fmt.Fprintf(file, "%s %s %s\n", addr, got,
			cert.NotAfter.UTC().Format(time.RFC3339))
		err = errors.Join(err, file.Close())
	}
	if err != nil && !insecure {
		return exit.Hint(fmt.Errorf("remembering the certificate: %w", err),
			"set XDG_STATE_HOME to a directory that you may write to, or use -insecure")
	}
	return nil
}

// knownHosts returns the name of the file of certificates, by the XDG Base Directory
// Specification. It has a line for each: address, fingerprint, last second. The last line of an
// address counts, so that a new one is appended in one write.
func knownHosts() (string, error) {
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
