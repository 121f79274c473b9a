package main

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"log/slog"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/gophd/gophd/internal/keypair"
	"github.com/gophd/gophd/server"
)

func tlsFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "tls-cert", Usage: "`FILE` of a certificate: TLS, on the same port", Category: catNetwork, EnvVars: env("tls-cert")},
		&cli.StringSliceFlag{Name: "tls-key", Usage: "`FILE` of its key", Category: catNetwork, EnvVars: env("tls-key")},
		&cli.StringFlag{Name: "tls-self-signed", Usage: "`DIR` to make and keep a certificate in", Category: catNetwork, EnvVars: env("tls-self-signed")},
	}
}

// openCerts reads the certificates, before gophd becomes another user: keys are
// often root's. It returns nil if there are none.
func openCerts(c *cli.Context, logger *slog.Logger) (*keypair.Store, error) {
	certs, keys := c.StringSlice("tls-cert"), c.StringSlice("tls-key")
	if len(certs) != len(keys) {
		return nil, usageError("each -tls-cert FILE needs a -tls-key FILE", "%d of -tls-cert, %d of -tls-key", len(certs), len(keys))
	}
	if len(certs) == 0 && c.String("tls-self-signed") == "" {
		return nil, nil
	}
	s := &keypair.Store{Log: logger}
	for i := range certs {
		if err := s.Add(keypair.Files{Cert: certs[i], Key: keys[i]}); err != nil {
			return nil, certError(err)
		}
	}
	return s, nil
}

func certError(err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return withHint(err, "the user that starts gophd must be able to read them")
	case errors.Is(err, fs.ErrNotExist):
		return withHint(err, "without a certificate from elsewhere: -tls-self-signed DIR")
	}
	return withHint(err, "both are PEM, the certificate first in its file, the key without a password")
}

// setTLS makes srv offer TLS if there are certificates, with a self-signed one
// if that is wanted: it belongs to the user that gophd has become.
func setTLS(c *cli.Context, srv *server.Server, certs *keypair.Store) error {
	if certs == nil {
		return nil
	}
	if dir := c.String("tls-self-signed"); dir != "" {
		name, _ := os.Hostname()
		f, err := keypair.SelfSigned(dir, unique(srv.Host, name, "localhost")...)
		if err == nil {
			err = certs.Add(f)
		}
		if err != nil {
			return withHint(err, "-tls-self-signed wants a directory that gophd may write to, or one with both gophd.crt and gophd.key")
		}
	}
	srv.TLS = &tls.Config{GetCertificate: certs.Get, MinVersion: tls.VersionTLS12}
	return nil
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
