package daemon

import (
	"crypto/tls"
	"slices"

	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/process/keypair"
)

// openCerts reads the certificates, before gophd becomes another user: keys are
// often root's.
func (d *daemon) openCerts() error {
	if !d.conf.hasTLS() {
		return nil
	}
	d.certs = &keypair.Certificates{Log: d.log}
	for _, f := range d.conf.certs {
		if err := d.certs.Add(f); err != nil {
			return err
		}
	}
	return nil
}

// setTLS makes the server offer TLS if there are certificates, with those of
// -tls-self-signed: they belong to the user that gophd has become.
func (d *daemon) setTLS() error {
	if d.certs == nil {
		return nil
	}
	if d.conf.TLSSelfSigned != "" {
		if err := d.selfSigned(d.conf.TLSSelfSigned); err != nil {
			return exit.Hint(err, d.conf.option("tls-self-signed")+" needs a directory that gophd may write to, or one with both files of each pair")
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

// selfSigned adds the certificates in a directory, one for each name of a host. A start makes
// those that are missing, and a check makes none.
func (d *daemon) selfSigned(dir string) error {
	var pairs []keypair.CertKey
	for _, name := range d.conf.hostNames(d.srv.Host) {
		if _, made := keypair.Made(dir, name); d.checking && !made {
			continue
		}
		f, err := keypair.SelfSigned(dir, name)
		if err != nil {
			return err
		}
		if slices.Contains(pairs, f) { // an older one is for several names
			continue
		}
		pairs = append(pairs, f)
		if err := d.certs.Add(f); err != nil {
			return err
		}
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
