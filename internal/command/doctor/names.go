package doctor

import (
	"bytes"
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
	"github.com/gophd/gophd/internal/process/keypair"
)

// hostName reports whether the name in menus leads to this machine.
func (x *examination) hostName(ctx context.Context) []Finding {
	name, own := x.flags.Host, false
	if name == "" {
		name, own = strings.TrimSpace(x.read("/etc/hostname")), true
	}
	correct := diag.Command("echo", "GOPHD_HOST=NAME") + " >>" + settingsFile + " && " + x.restart()
	if x.Settings != nil {
		correct = diag.Command("gophd", "-host", "NAME")
	}
	if name == "" {
		return faultf(correct, "this machine has no name; NAME is the one that others know")
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return okf("%s, an address", name)
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
	switch {
	case own && !strings.Contains(name, "."):
		return okf("this machine is called %s, without a domain: menus have the address that the visitor has reached", name)
	case err != nil || len(addrs) == 0:
		return faultf(correct, "menus call this host %s, which cannot be looked up: %v; NAME is the one that others know", name, err)
	}
	public := slices.ContainsFunc(x.Addrs, func(a netip.Addr) bool {
		return a.IsGlobalUnicast() && !a.IsPrivate()
	})
	for _, a := range addrs {
		if a = a.Unmap(); a.IsLoopback() || slices.Contains(x.Addrs, a) {
			return okf("%s is this machine", name)
		}
	}
	if !public && !addrs[0].IsPrivate() {
		return okf("%s is %s, not an address of this machine: right if a router forwards the port",
			name, addrs[0])
	}
	return faultf(correct, "menus call this host %s, which is another machine: %s; NAME is the one of this machine", name, addrs[0])
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
	mend := x.selfSigned()
	for _, pair := range pairs {
		file, handed := x.source(pair.Cert)
		key, _ := x.source(pair.Key)
		loaded, err := tls.LoadX509KeyPair(x.onMachine(file), x.onMachine(key))
		switch {
		case err == nil:
			certs = append(certs, loaded.Leaf)
			all = append(all, x.certificate(ctx, loaded.Leaf, file, key, handed, names)...)
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
		all = append(all, faultf(mend, "no certificate is for %s", strings.Join(lacking, ", "))...)
	}
	return all
}

func isSelfSigned(cert *x509.Certificate) bool {
	return bytes.Equal(cert.RawIssuer, cert.RawSubject)
}

// certificate examines one certificate.
func (x *examination) certificate(ctx context.Context, cert *x509.Certificate, file, key string,
	handed bool, names []string) []Finding {
	renew := diag.Command("certbot", "renew")
	if isSelfSigned(cert) {
		renew = diag.Command("rm", "--", file, key) + " && " + x.restart()
	}
	ends := cert.NotAfter.Format(time.DateOnly)
	switch {
	case time.Now().After(cert.NotAfter):
		return faultf(renew, "%s expired on %s", file, ends)
	case time.Until(cert.NotAfter) < 7*24*time.Hour:
		return faultf(renew, "%s expires on %s and was not renewed", file, ends)
	}

	// Until version 0.3 gophd put the machine's own name into its pair.
	also := ""
	if machine := strings.TrimSpace(x.read("/etc/hostname")); isSelfSigned(cert) && machine != "" &&
		!slices.Contains(names, machine) && cert.VerifyHostname(machine) == nil {
		also = "; it tells everybody that this machine is called " + machine +
			": without the pair gophd makes one for each host, which clients of Gemini must accept anew (" + renew + ")"
	}
	if x.mayNotAsk() != nil {
		return okf("%s, valid until %s%s", file, ends, also)
	}
	shown, err := x.shown(ctx, slices.Concat(cert.DNSNames, []string{x.flags.Host})[0])
	switch {
	case err != nil:
		return faultf(x.restart(), "no TLS at %s: %v", x.at[0], err)
	case !bytes.Equal(shown, cert.Raw) && handed:
		return faultf(diag.Command("systemctl", "restart", "gophd"),
			"the server shows another certificate than %s: systemd hands it over at a start", file)
	case !bytes.Equal(shown, cert.Raw):
		return faultf(x.reload(), "the server shows another certificate than %s", file)
	}
	return okf("%s, valid until %s, is the one that the server shows%s", file, ends, also)
}

// source is the file behind a credential of the unit: what the server has at hand is a copy.
func (x *examination) source(file string) (from string, handed bool) {
	name, ok := strings.CutPrefix(file, credentials)
	if !ok || !x.underSystemd() {
		return file, false
	}
	from = path.Join("/etc/credstore", name)
	for line := range strings.Lines(x.unit()["LoadCredential"]) {
		if id, at, _ := strings.Cut(strings.TrimSpace(line), ":"); id == name && path.IsAbs(at) {
			from = at
		}
	}
	return from, true
}
