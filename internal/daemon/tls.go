package daemon

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/gophd/gophd/internal/exit"
	"github.com/gophd/gophd/internal/keypair"
)

// openCerts reads the certificates, before gophd becomes another user: keys are
// often root's.
func (d *daemon) openCerts() error {
	if len(d.conf.certs) == 0 && d.conf.selfSigned == "" {
		return nil
	}
	d.certs = &keypair.Store{Log: d.log}
	for _, f := range d.conf.certs {
		if err := d.certs.Add(f); err != nil {
			return certError(err)
		}
	}
	return nil
}

func certError(err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return exit.Hint(err, "the user that starts gophd must be able to read them")
	case errors.Is(err, fs.ErrNotExist):
		return exit.Hint(err, "without a certificate from elsewhere: -tls-self-signed DIR")
	}
	return exit.Hint(err, "both are PEM, the certificate first in its file, the key without a password")
}

// setTLS makes the server offer TLS if there are certificates, with a
// self-signed one if that is wanted: it belongs to the user that gophd has become.
func (d *daemon) setTLS() error {
	if d.certs == nil {
		return nil
	}
	if dir := d.conf.selfSigned; dir != "" {
		name, _ := os.Hostname()
		f, err := keypair.SelfSigned(dir, unique(d.srv.Host, name, "localhost")...)
		if err == nil {
			err = d.certs.Add(f)
		}
		if err != nil {
			return exit.Hint(err, "-tls-self-signed wants a directory that gophd may write to, or one with both gophd.crt and gophd.key")
		}
	}
	d.srv.TLS = &tls.Config{
		GetCertificate: d.certs.Get, MinVersion: tls.VersionTLS12,
		DynamicRecordSizingDisabled: true, // a reply is of use when it is whole
	}
	if d.srv.HTTP != nil {
		offerHTTP(d.srv.TLS)
	}
	return nil
}

// offerHTTP answers ALPN (RFC 7301) for clients that offer a version of HTTP. For
// others on the port it would be an error to have no protocol of theirs.
func offerHTTP(conf *tls.Config) {
	http := conf.Clone()
	http.NextProtos = []string{"h2", "http/1.1"}
	conf.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		for _, p := range http.NextProtos {
			if slices.Contains(hello.SupportedProtos, p) {
				return http, nil
			}
		}
		return nil, nil
	}
}

func unique(names ...string) []string {
	var all []string
	seen := map[string]bool{"": true}
	for _, n := range names {
		if !seen[n] {
			all = append(all, n)
		}
		seen[n] = true
	}
	return all
}
