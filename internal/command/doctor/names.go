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
		return okf("menus have the address that a visitor has reached: this machine is called %s, without a domain", name)
	case err != nil || len(addrs) == 0:
		return faultf(correct, "menus call this host %s, which cannot be looked up: %v; NAME is the one that others know", name, err)
	}
	public := slices.ContainsFunc(x.Addrs, func(a netip.Addr) bool { return a.IsGlobalUnicast() && !a.IsPrivate() })
	for _, a := range addrs {
		if a = a.Unmap(); a.IsLoopback() || slices.Contains(x.Addrs, a) {
			return okf("%s is this machine", name)
		}
	}
	if !public && !addrs[0].IsPrivate() {
		return okf("%s is %s, not an address of this machine: right if a router forwards the port", name, addrs[0])
	}
	return faultf(correct, "menus call this host %s, which is another machine: %s; NAME is the one of this machine", name, addrs[0])
}

// credentials is where systemd shows a service what LoadCredential= has loaded.
const credentials = "/run/credentials/gophd.service/"

// certificates reports whether each can be read, is valid, and is the one that the server
// shows.
func (x *examination) certificates(ctx context.Context) (all []Finding) {
	for i, file := range x.flags.TLSCert[:min(len(x.flags.TLSCert), len(x.flags.TLSKey))] {
		all = append(all, x.certificate(ctx, file, x.flags.TLSKey[i])...)
	}
	if x.flags.TLSSelfSigned == "" {
		return all
	}
	for _, pair := range x.flags.SelfSigned() {
		if x.exists(pair.Cert) {
			all = append(all, x.certificate(ctx, pair.Cert, pair.Key)...)
		}
	}
	return all
}

func (x *examination) certificate(ctx context.Context, file, key string) []Finding {
	file, handed := x.source(file)
	key, _ = x.source(key)
	pair, err := tls.LoadX509KeyPair(x.onMachine(file), x.onMachine(key))
	var cert *x509.Certificate
	if err == nil {
		cert, err = x509.ParseCertificate(pair.Certificate[0])
	}
	selfSigned := err == nil && bytes.Equal(cert.RawIssuer, cert.RawSubject)
	host := x.flags.Host
	switch {
	case os.IsPermission(err):
		return faultf(diag.Command("sudo", "gophd", "doctor", "-only", "certificate"), "%v", err)
	case os.IsNotExist(err):
		from := "/etc/letsencrypt/live/" + cmp.Or(host, "HOST")
		return faultf(diag.Command("cp", "--", from+"/fullchain.pem", file)+" && "+diag.Command("cp", "--", from+"/privkey.pem", key)+" && "+x.restart(), "%v", err)
	case err != nil:
		return faultf(renew(path.Dir(file) == x.flags.TLSSelfSigned, file, key, x.restart()), "%v", err)
	case time.Now().After(cert.NotAfter):
		return faultf(renew(selfSigned, file, key, x.restart()), "%s is not valid since %s", file, cert.NotAfter.Format(time.DateOnly))
	case time.Until(cert.NotAfter) < 7*24*time.Hour:
		return faultf(renew(selfSigned, file, key, x.restart()), "%s ends on %s and was not renewed", file, cert.NotAfter.Format(time.DateOnly))
	case host != "" && !selfSigned && cert.VerifyHostname(host) != nil:
		return faultf(diag.Command("certbot", "certonly", "-d", host), "%s is not for %s, but for %s", file, host, strings.Join(cert.DNSNames, ", "))
	}
	ends := cert.NotAfter.Format(time.DateOnly)
	if x.silent != "" {
		return okf("%s, valid until %s", file, ends)
	}
	shown, err := x.served(ctx, cmp.Or(host, firstName(cert)))
	switch {
	case err != nil:
		return faultf(x.restart(), "no TLS at %s: %v", x.at[0], err)
	case !bytes.Equal(shown, cert.Raw) && handed:
		return faultf(diag.Command("systemctl", "restart", "gophd"), "the server shows another certificate than %s: systemd hands it over at a start", file)
	case !bytes.Equal(shown, cert.Raw):
		return faultf(x.reload(), "the server shows another certificate than %s", file)
	}
	return okf("%s, valid until %s, is the one that the server shows", file, ends)
}

func firstName(cert *x509.Certificate) string {
	if len(cert.DNSNames) == 0 {
		return ""
	}
	return cert.DNSNames[0]
}

func renew(selfSigned bool, file, key, restart string) string {
	if selfSigned {
		return diag.Command("rm", "--", file, key) + " && " + restart
	}
	return diag.Command("certbot", "renew")
}

// source is the file behind a credential of the unit: what the server has at hand is a copy.
func (x *examination) source(file string) (from string, handed bool) {
	name, ok := strings.CutPrefix(file, credentials)
	if !ok || x.unit == nil {
		return file, false
	}
	from = path.Join("/etc/credstore", name)
	for _, v := range values(x.unit.service, "LoadCredential") {
		if id, at, named := strings.Cut(v, ":"); named && id == name {
			from = at
		}
	}
	return from, true
}
