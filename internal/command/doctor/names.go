package doctor

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/process/keypair"
)

// hostName reports whether the name in menus leads to this machine.
func (x *examination) hostName(ctx context.Context) {
	name := cmp.Or(x.flags.Host, strings.TrimSpace(x.read("/etc/hostname")))
	resolve := x.Resolve
	if resolve == nil {
		resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	if _, err := netip.ParseAddr(name); err == nil {
		x.ok("%s, an address", name)
		return
	}
	if x.flags.Host == "" && name != "" && !strings.Contains(name, ".") {
		x.ok("this machine is called %s, without a domain: menus have the address that the visitor has reached", name)
		return
	}

	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	addrs, err := resolve(ctx, name)
	ours := func(a netip.Addr) bool {
		a = a.Unmap()
		return a.IsLoopback() || slices.Contains(x.Addrs, a)
	}
	public := slices.ContainsFunc(x.Addrs, func(a netip.Addr) bool {
		return a.IsGlobalUnicast() && !a.IsPrivate()
	})
	wrong := ""
	switch {
	case name == "":
		wrong = "this machine has no name"
	case err != nil || len(addrs) == 0:
		wrong = fmt.Sprintf("menus call this host %s, which cannot be looked up: %v", name, err)
	case slices.ContainsFunc(addrs, ours):
		x.ok("%s is this machine", name)
	case !public && !addrs[0].IsPrivate():
		x.ok("%s is %s, not an address of this machine: right if a router forwards the port", name,
			addrs[0])
	default:
		wrong = fmt.Sprintf("menus call this host %s, which is another machine: %s", name, addrs[0])
	}
	if wrong != "" {
		x.add(Finding{
			Type:    x.set(map[string]string{"host": "NAME"}),
			Text:    wrong + "; NAME is the one by which others know this machine",
			Restart: x.managed(),
		})
	}
}

// certificates reports whether each can be read, is valid, and is the one that the server
// shows.
func (x *examination) certificates(ctx context.Context) {
	var pairs []keypair.CertKey
	if x.flags.TLSSelfSigned != "" {
		pairs = x.flags.SelfSigned()
	}
	for i, file := range x.flags.TLSCert[:min(len(x.flags.TLSCert), len(x.flags.TLSKey))] {
		pairs = append(pairs, keypair.CertKey{Cert: file, Key: x.flags.TLSKey[i]})
	}
	names := slices.DeleteFunc(x.flags.HostNames(), func(name string) bool {
		return name == "localhost"
	})
	var certs []*x509.Certificate
	command := x.set(x.flags.OwnPair(x.managed()))
	faults := x.faults
	for _, pair := range pairs {
		file := pair.Cert
		pair.Cert = x.source(pair.Cert)
		pair.Key = x.source(pair.Key)
		loaded, err := tls.LoadX509KeyPair(pair.Cert, pair.Key)
		switch {
		case err == nil:
			certs = append(certs, loaded.Leaf)
			x.certificate(ctx, loaded.Leaf, pair, pair.Cert != file, names)
			if !isSelfSigned(loaded.Leaf) {
				command = diag.Command("certbot", "certonly", "--expand", "-d",
					strings.Join(names, ","))
			}
		case os.IsPermission(err) && os.Geteuid() != 0:
			x.unknown("%v", err)
		} // the check of keys reports others
	}

	// A client rejects a certificate that does not name the host it connects to.
	lacking := slices.DeleteFunc(names, func(name string) bool {
		_, err := netip.ParseAddr(name)
		return err == nil || slices.ContainsFunc(certs, func(cert *x509.Certificate) bool {
			return cert.VerifyHostname(name) == nil
		})
	})
	if len(certs) > 0 && len(lacking) > 0 && x.faults == faults {
		x.add(Finding{
			Type:    command,
			Text:    "no certificate is for " + strings.Join(lacking, ", "),
			Restart: x.managed(),
		})
	}
}

func isSelfSigned(cert *x509.Certificate) bool {
	return bytes.Equal(cert.RawIssuer, cert.RawSubject)
}

// certificate examines one certificate, which systemd may have handed over.
func (x *examination) certificate(ctx context.Context, cert *x509.Certificate,
	pair keypair.CertKey, handed bool, names []string) {
	own := isSelfSigned(cert)
	renew := diag.Command("certbot", "renew")
	if own {
		renew = diag.Command("rm", "--", pair.Cert, pair.Key)
	}
	ends := cert.NotAfter.Format(time.DateOnly)
	if left := time.Until(cert.NotAfter); left < 7*24*time.Hour {
		text := pair.Cert + " expires on " + ends + " and was not renewed"
		if left < 0 {
			text = pair.Cert + " expired on " + ends
		}
		x.add(Finding{
			Type:    renew,
			Text:    text,
			Restart: own,
		})
		return
	}

	// Until version 0.3 gophd put the machine's own name into its pair.
	also := ""
	if machine := strings.TrimSpace(x.read("/etc/hostname")); own && machine != "" &&
		!slices.Contains(names, machine) && cert.VerifyHostname(machine) == nil {
		also = "; it tells everybody that this machine is called " + machine +
			": without the pair gophd makes one for each host, which clients of Gemini must accept anew (" + then(renew, x.restart()) + ")"
	}
	if x.silent() != "" {
		x.ok("%s, valid until %s%s", pair.Cert, ends, also)
		return
	}
	shown, err := x.shown(ctx, append(cert.DNSNames, x.flags.Host)[0])
	switch {
	case err != nil:
		x.restarted("", "no TLS at %s: %v", x.at[0], err)
	case bytes.Equal(shown, cert.Raw):
		x.ok("%s, valid until %s, is the one that the server shows%s", pair.Cert, ends, also)
	case handed:
		x.fault(systemctl("restart", "gophd"),
			"the server shows another certificate than %s: systemd hands it over at a start", pair.Cert)
	default:
		x.fault(x.reload(), "the server shows another certificate than %s", pair.Cert)
	}
}

// shown returns the certificate that the server sends for a name.
func (x *examination) shown(ctx context.Context, name string) (cert []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	conn, err := insecure(name).Connect(ctx, x.at[0], true)
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
	return x.onMachine(path.Join("/etc/credstore", name))
}
