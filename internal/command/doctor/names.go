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

// certificates reports whether each can be read, is valid, and is the one that the server
// shows.
func (x *examination) certificates(ctx context.Context) (all []Finding) {
	pairs := x.flags.SelfSigned()
	if x.flags.TLSSelfSigned == "" {
		pairs = nil
	}
	for i, file := range x.flags.TLSCert[:min(len(x.flags.TLSCert), len(x.flags.TLSKey))] {
		pairs = append(pairs, keypair.CertKey{Cert: file, Key: x.flags.TLSKey[i]})
	}
	covered, bought := map[string]bool{}, false
	for _, pair := range pairs {
		file, handed := x.source(pair.Cert)
		key, _ := x.source(pair.Key)
		if x.exists(file) {
			f, selfSigned := x.certificate(ctx, file, key, handed, covered)
			all, bought = append(all, f...), bought || !selfSigned
		}
	}

	// A client that asks for a host refuses the certificate of another one.
	var lacking, names []string
	if x.flags.Host != "" {
		names = []string{x.flags.Host}
	}
	for _, host := range x.flags.VHosts {
		name, _, _ := strings.Cut(host, "=")
		names = append(names, name)
	}
	for _, name := range names {
		if _, err := netip.ParseAddr(name); err != nil && len(covered) > 0 && !covered[name] {
			lacking = append(lacking, name)
		}
	}
	if len(lacking) > 0 && !slices.ContainsFunc(all, isFault) {
		mend := x.selfSigned()
		if bought {
			mend = diag.Command("certbot", "certonly", "--expand", "-d", strings.Join(names, ","))
		}
		all = append(all, faultf(mend, "no certificate is for %s", strings.Join(lacking, ", "))...)
	}
	return all
}

// certificate examines one certificate, and notes the hosts that it covers.
func (x *examination) certificate(ctx context.Context, file, key string, handed bool, covered map[string]bool) (all []Finding, selfSigned bool) {
	pair, err := tls.LoadX509KeyPair(x.onMachine(file), x.onMachine(key))
	var cert *x509.Certificate
	if err == nil {
		cert, err = x509.ParseCertificate(pair.Certificate[0])
	}
	if err != nil {
		if os.IsPermission(err) && os.Geteuid() != 0 {
			return unknownf("%v", err), false
		}
		return nil, true // the check of keys says so
	}
	covered[""] = true
	for _, host := range append([]string{x.flags.Host}, x.flags.VHosts...) {
		host, _, _ = strings.Cut(host, "=")
		if host != "" && cert.VerifyHostname(host) == nil {
			covered[host] = true
		}
	}
	selfSigned = bytes.Equal(cert.RawIssuer, cert.RawSubject)
	ends := cert.NotAfter.Format(time.DateOnly)
	switch {
	case time.Now().After(cert.NotAfter):
		return faultf(renew(selfSigned, file, key, x.restart()), "%s expired on %s", file, ends), selfSigned
	case time.Until(cert.NotAfter) < 7*24*time.Hour:
		return faultf(renew(selfSigned, file, key, x.restart()), "%s expires on %s and was not renewed", file, ends), selfSigned
	}

	// Until version 0.3 gophd put the machine's own name into its pair.
	also := ""
	if machine := strings.TrimSpace(x.read("/etc/hostname")); selfSigned && machine != "" && !covered[machine] && machine != x.flags.Host && cert.VerifyHostname(machine) == nil {
		also = "; it tells everybody that this machine is called " + machine + ": without the pair gophd makes one for each host, which clients of Gemini must accept anew (" +
			renew(true, file, key, x.restart()) + ")"
	}
	if x.mayNotAsk() != nil {
		return okf("%s, valid until %s%s", file, ends, also), selfSigned
	}
	shown, err := x.shown(ctx, cmp.Or(firstName(cert), x.flags.Host))
	switch {
	case err != nil:
		return faultf(x.restart(), "no TLS at %s: %v", x.at[0], err), selfSigned
	case !bytes.Equal(shown, cert.Raw) && handed:
		return faultf(diag.Command("systemctl", "restart", "gophd"), "the server shows another certificate than %s: systemd hands it over at a start", file), selfSigned
	case !bytes.Equal(shown, cert.Raw):
		return faultf(x.reload(), "the server shows another certificate than %s", file), selfSigned
	}
	return okf("%s, valid until %s, is the one that the server shows%s", file, ends, also), selfSigned
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
