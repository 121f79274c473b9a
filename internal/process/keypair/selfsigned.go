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

// The names of a self-signed pair in its directory.
const (
	certName = "gophd.crt"
	keyName  = "gophd.key"
)

// lifetime is long: clients that know a self-signed certificate by sight ask
// their users when it changes.
const lifetime = 10 * 365 * 24 * time.Hour

// SelfSigned returns the pair gophd.crt and gophd.key in dir, and makes it, for
// the given names and addresses, if neither is there. Nothing is written over.
func SelfSigned(dir string, hosts ...string) (CertKey, error) {
	f, made := Made(dir)
	if made {
		return f, nil
	}
	if err := f.make(dir, hosts); err != nil {
		return CertKey{}, fmt.Errorf("making a self-signed certificate: %w", err)
	}
	return f, nil
}

// Made returns the names of the pair in dir, and whether one of them is there.
func Made(dir string) (f CertKey, made bool) {
	f = CertKey{filepath.Join(dir, certName), filepath.Join(dir, keyName)}
	return f, exists(f.Cert) || exists(f.Key)
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

func (f CertKey) make(dir string, hosts []string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	template := template(hosts)
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

func template(hosts []string) *x509.Certificate {
	t := &x509.Certificate{
		SerialNumber:          new(big.Int).SetInt64(time.Now().UnixNano()),
		NotBefore:             time.Now().Add(-time.Hour), // for clients whose clocks are late
		NotAfter:              time.Now().Add(lifetime),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else if h != "" {
			t.DNSNames = append(t.DNSNames, h)
		}
	}
	t.Subject = pkix.Name{CommonName: "gophd"}
	if len(t.DNSNames) > 0 {
		t.Subject.CommonName = t.DNSNames[0]
	}
	return t
}

// writePEM writes a file that is whole once it has its name.
func writePEM(name, kind string, der []byte, mode fs.FileMode) error {
	tmp := name + ".new"
	if err := os.WriteFile(tmp, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), mode); err != nil {
		return err
	}
	return os.Rename(tmp, name)
}
