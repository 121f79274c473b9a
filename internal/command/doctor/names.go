package doctor

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/netip"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/ask"
	"github.com/gophd/gophd/internal/process/keypair"
)

// hostName reports whether the name in menus leads to this machine.
func (x *examination) hostName(ctx context.Context) []Finding {
	machine := strings.TrimSpace(x.read("/etc/hostname"))
	name := cmp.Or(x.flags.Host, machine)
	wrong := func(format string, args ...any) []Finding {
		if x.Settings != nil {
			return faultf(diag.Command("gophd", "-host", "NAME"), format, args...)
		}
		return restartf(diag.Command("echo", "GOPHD_HOST=NAME")+" >>"+settingsFile, format, args...)
	}
	if name == "" {
		return wrong("this machine has no name; NAME is the one that others know")
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return okf("%s, an address", name)
	}
	if x.flags.Host == "" && !strings.Contains(name, ".") {
		return okf("this machine is called %s, without a domain: menus have the address that the visitor has reached", name)
	}

	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	resolve := x.Resolve
	if resolve == nil {
		resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	addrs, err := resolve(ctx, name)
	if err != nil || len(addrs) == 0 {
		return wrong("menus call this host %s, which cannot be looked up: %v; NAME is the one that others know", name, err)
	}
	for _, a := range addrs {
		if a = a.Unmap(); a.IsLoopback() || slices.Contains(x.Addrs, a) {
			return okf("%s is this machine", name)
		}
	}
	public := slices.ContainsFunc(x.Addrs, func(a netip.Addr) bool {
		return a.IsGlobalUnicast() && !a.IsPrivate()
	})
	if !public && !addrs[0].IsPrivate() {
		return okf("%s is %s, not an address of this machine: right if a router forwards the port",
			name, addrs[0])
	}
	return wrong("menus call this host %s, which is another machine: %s; NAME is the one of this machine", name, addrs[0])
}

// certificates reports whether each can be read, is valid, and is the one that the server
// shows.
func (x *examination) certificates(ctx context.Context) (all []Finding) {
	var pairs []keypair.CertKey
	if x.flags.TLSSelfSigned != "" {
		pairs = x.flags.SelfSigned()
	}
	for i, file := range x.flags.TLSCert[:min(len(x.flags.TLSCert), len(x.flags.TLSKey))] {
		pairs = append(pairs, keypair.CertKey{Cert: file, Key: x.flags.TLSKey[i]})
	}
	var names []string
	for _, host := range append([]string{x.flags.Host}, x.flags.VHosts...) {
		if name, _, _ := strings.Cut(host, "="); name != "" {
			names = append(names, name)
		}
	}
	var certs []*x509.Certificate
	mend := x.set(x.ownPair())
	for _, pair := range pairs {
		file := pair.Cert
		pair.Cert = x.source(pair.Cert)
		pair.Key = x.source(pair.Key)
		loaded, err := tls.LoadX509KeyPair(x.onMachine(pair.Cert), x.onMachine(pair.Key))
		switch {
		case err == nil:
			certs = append(certs, loaded.Leaf)
			all = append(all, x.certificate(ctx, loaded.Leaf, pair, pair.Cert != file, names)...)
			if !isSelfSigned(loaded.Leaf) {
				mend = diag.Command("certbot", "certonly", "--expand", "-d",
					strings.Join(names, ","))
			}
		case os.IsPermission(err) && os.Geteuid() != 0:
			all = append(all, unknownf("%v", err)...)
		} // the check of keys reports others
	}

	// A client rejects a certificate that does not name the host it connects to.
	lacking := slices.DeleteFunc(names, func(name string) bool {
		_, err := netip.ParseAddr(name)
		return err == nil || slices.ContainsFunc(certs, func(cert *x509.Certificate) bool {
			return cert.VerifyHostname(name) == nil
		})
	})
	if len(certs) > 0 && len(lacking) > 0 && !slices.ContainsFunc(all, isFault) {
		more := faultf(mend, "no certificate is for %s", strings.Join(lacking, ", "))
		more[0].Restart = x.managed()
		all = append(all, more...)
	}
	return all
}

func isSelfSigned(cert *x509.Certificate) bool {
	return bytes.Equal(cert.RawIssuer, cert.RawSubject)
}

// certificate examines one certificate, which systemd may have handed over.
func (x *examination) certificate(ctx context.Context, cert *x509.Certificate,
	pair keypair.CertKey, handed bool, names []string) []Finding {
	own := isSelfSigned(cert)
	renew := diag.Command("certbot", "renew")
	if own {
		renew = diag.Command("rm", "--", pair.Cert, pair.Key)
	}
	ends := cert.NotAfter.Format(time.DateOnly)
	if left := time.Until(cert.NotAfter); left < 7*24*time.Hour {
		text := "expires on %s and was not renewed"
		if left < 0 {
			text = "expired on %s"
		}
		all := faultf(renew, "%s "+text, pair.Cert, ends)
		all[0].Restart = own
		return all
	}

	// Until version 0.3 gophd put the machine's own name into its pair.
	also := ""
	if machine := strings.TrimSpace(x.read("/etc/hostname")); own && machine != "" &&
		!slices.Contains(names, machine) && cert.VerifyHostname(machine) == nil {
		also = "; it tells everybody that this machine is called " + machine +
			": without the pair gophd makes one for each host, which clients of Gemini must accept anew (" + then(renew, x.restart()) + ")"
	}
	if x.mayNotAsk() != nil {
		return okf("%s, valid until %s%s", pair.Cert, ends, also)
	}
	shown, err := x.shown(ctx, append(cert.DNSNames, x.flags.Host)[0])
	switch {
	case err != nil:
		return restartf("", "no TLS at %s: %v", x.at[0], err)
	case bytes.Equal(shown, cert.Raw):
		return okf("%s, valid until %s, is the one that the server shows%s", pair.Cert, ends, also)
	case handed:
		return faultf(diag.Command("systemctl", "restart", "gophd"),
			"the server shows another certificate than %s: systemd hands it over at a start", pair.Cert)
	}
	return faultf(x.reload(), "the server shows another certificate than %s", pair.Cert)
}

// shown returns the certificate that the server sends for a name.
func (x *examination) shown(ctx context.Context, name string) (cert []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	dialer := ask.Dialer{TLS: &tls.Config{ServerName: name, InsecureSkipVerify: true}} // #nosec G402: it is compared with the file
	conn, err := dialer.Connect(ctx, x.at[0], true)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].Raw, nil
}

// source is the file behind a credential of the unit: what the server has at hand is a copy.
func (x *examination) source(file string) string {
	name, ok := strings.CutPrefix(file, credentials)
	if !ok || !x.underSystemd() {
		return file
	}
	for line := range strings.Lines(x.unit()["LoadCredential"]) {
		if id, at, _ := strings.Cut(strings.TrimSpace(line), ":"); id == name && path.IsAbs(at) {
			return at
		}
	}
	return path.Join("/etc/credstore", name)
}
