package keypair

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// lifetime is long, since clients with trust on first use warn when a certificate changes.
const lifetime = 10 * 365 * 24 * time.Hour

// SelfSigned returns the pair NAME.crt and NAME.key in dir. If neither file exists, it creates
// the pair, for this name or address only. It overwrites nothing. A pair from before version
// 0.4 stays in use for the names in it.
func SelfSigned(dir, name string) (CertKey, error) {
	f, made := Made(dir, name)
	if made {
		return f, nil
	}
	if err := f.make(dir, name); err != nil {
		return CertKey{}, fmt.Errorf("making a self-signed certificate: %w", err)
	}
	return f, nil
}

// Made returns the pair for a name in dir, and whether one of its files exists.
func Made(dir, name string) (f CertKey, made bool) {
	if older := Older(dir); older.names(name) {
		return older, true
	}
	f = Named(dir, name)
	return f, exists(f.Cert) || exists(f.Key)
}

// Named returns the file names of the pair for one name in dir.
func Named(dir, name string) CertKey {
	return CertKey{filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")}
}

// Older returns the pair in dir that gophd made, for several names, up to version 0.3.
func Older(dir string) CertKey { return Named(dir, "gophd") }

// names reports whether the certificate exists and is valid for a name.
func (f CertKey) names(name string) bool {
	text, err := os.ReadFile(f.Cert)
	if err != nil {
		return false
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return false
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	return err == nil && cert.VerifyHostname(name) == nil
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// make creates the pair, for a host name or an address.
func (f CertKey) make(dir, host string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber:          new(big.Int).SetInt64(time.Now().UnixNano()),
		Subject:               pkix.Name{CommonName: "gophd"},
		NotBefore:             time.Now().Add(-time.Hour), // for clients whose clocks are slow
		NotAfter:              time.Now().Add(lifetime),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
		template.Subject.CommonName = host
	}
	certDER, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := writePEM(f.Key, "PRIVATE KEY", keyDER, 0o600); err != nil {
		return err
	}
	return writePEM(f.Cert, "CERTIFICATE", certDER, 0o644)
}

// writePEM writes a PEM file atomically.
func writePEM(name, kind string, der []byte, mode fs.FileMode) error {
	tmp := name + ".new"
	if err := os.WriteFile(tmp, pem.EncodeToMemory(&pem.Block{
		Type:  kind,
		Bytes: der,
	}), mode); err != nil {
		return err
	}
	return os.Rename(tmp, name)
}
