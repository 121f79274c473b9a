package daemon

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/front/smallnet"
	"github.com/gophd/gophd/internal/process/keypair"
	"github.com/gophd/gophd/internal/process/systemd"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
)

// A protocol is that of a listener. A flag sets its addresses; a socket from systemd has its
// name (FileDescriptorName=).
type protocol struct {
	name, flag, port string
	addrs            func(*Flags) []string
	make             func(*smallnet.Protocols) *server.Protocol // nil: Gopher, and HTTP on the same port
}

var (
	gopherAndHTTP = &protocol{"gopher", "listen", "70", func(f *Flags) []string {
		return f.Listen
	}, nil}
	protocols = []*protocol{
		gopherAndHTTP,
		{"gemini", "gemini", "1965", func(f *Flags) []string {
			return f.Gemini
		}, (*smallnet.Protocols).Gemini},
		{"spartan", "spartan", "300", func(f *Flags) []string {
			return f.Spartan
		}, (*smallnet.Protocols).Spartan},
		{"nex", "nex", "1900", func(f *Flags) []string { return f.Nex }, (*smallnet.Protocols).Nex},
		{"finger", "finger", "79", func(f *Flags) []string {
			return f.Finger
		}, (*smallnet.Protocols).Finger},
	}
)

// An endpoint is an address to listen at for a protocol.
type endpoint struct {
	*protocol
	typed string // the address as the user gave it
	addr  string // with a port
	port  int
	host  string // of -listen ADDR=NAME
}

type listener struct {
	*protocol
	net.Listener
	host string // of its endpoint
}

// parseEndpoints parses the addresses of all protocols.
func (c *Settings) parseEndpoints() {
	taken := map[string]string{}
	for _, p := range protocols {
		hint := c.option(p.flag) +
			" takes HOST:PORT, :PORT, HOST or PORT; a port is a number up to 65535"
		for _, typed := range p.addrs(&c.Flags) {
			e := endpoint{protocol: p, typed: typed}
			addr := typed
			if p == gopherAndHTTP {
				addr, e.host, _ = strings.Cut(typed, "=")
				e.host = hostName(e.host)
			}
			e.addr = withPort(addr, p.port)
			_, port, _ := net.SplitHostPort(e.addr)
			var unknown error
			e.port, unknown = net.LookupPort("tcp", port)
			info, err := files.Stat(addr)
			switch other := taken[e.addr]; {
			case err == nil && info.IsDir() && !strings.Contains(addr, "."):
				c.refuse(hint, "%s has no value: the directory %s follows it",
					c.option(p.flag), addr)
				c.Root = cmp.Or(c.Root, addr) // probably: then it is not missing, too
			case addr == "" || unknown != nil:
				c.refuse(hint, "%s: there is no such port", c.option(p.flag, strconv.Quote(addr)))
			case e.host != "" && c.configured(e.host) == nil:
				c.refuse(c.option("vhost", e.host+"=DIR")+" makes that host, "+
					c.option("alias", e.host)+" names the first", "%s: there is no host %q",
					c.option(p.flag, strconv.Quote(typed)), e.host)
			case p.name == "gemini" && !c.hasTLS():
				c.refuse(geminiNeeds, "%s without a certificate", c.option(p.flag))
			case other != "" && !strings.HasSuffix(e.addr, ":0"):
				c.refuse("each protocol needs a port of its own, such as "+
					c.option(p.flag, ":"+p.port), "%s: %s listens there, too",
					c.option(p.flag, addr), c.option(other))
			default:
				taken[e.addr] = p.flag
				c.endpoints = append(c.endpoints, e)
			}
		}
	}
}

const geminiNeeds = "Gemini is always encrypted: add -tls-self-signed DIR, or -tls-cert FILE -tls-key FILE"

func (c *Settings) hasTLS() bool {
	return len(c.certs) > 0 || c.TLSSelfSigned != ""
}

// withPort adds the default port of a protocol to an address without one.
func withPort(addr, port string) string {
	if _, _, err := net.SplitHostPort(addr); err == nil {
		return addr
	}
	if _, err := strconv.Atoi(addr); err == nil {
		return ":" + addr
	}
	return net.JoinHostPort(strings.Trim(addr, "[]"), port)
}

// An Address is one that a flag names, with a port.
type Address struct{ Flag, Addr string }

// Addresses returns where the flags make a daemon listen.
func (f *Flags) Addresses() (all []Address) {
	for _, p := range protocols {
		for _, addr := range p.addrs(f) {
			addr, _, _ = strings.Cut(addr, "=")
			all = append(all, Address{p.flag, withPort(addr, p.port)})
		}
	}
	if f.Metrics != "" {
		all = append(all, Address{"metrics", f.Metrics})
	}
	return all
}

// openSockets takes over sockets from inetd or systemd, and listens at the addresses of the
// flags; without either, on port 70.
func (d *daemon) openSockets(ctx context.Context) (err error) {
	if d.conf.Inetd {
		if d.conn, err = inetdConn(); err != nil {
			return exit.Usagef(d.conf.option("inetd")+
				" is for inetd, which starts gophd for each connection", "%w", err)
		}
		return nil
	}
	if d.notify, err = systemd.NewNotifier(); err != nil {
		d.log.Warn("cannot notify systemd", "error", err)
	}

	handed, err := systemd.Listeners()
	if errors.Is(err, systemd.ErrAccepted) {
		return exit.Usagef("the socket unit wants Accept=no; a service for each connection is gophd -inetd", "%w", err)
	} else if err != nil {
		return err
	}
	gopher := slices.ContainsFunc(d.conf.endpoints, func(e endpoint) bool {
		return e.protocol == gopherAndHTTP
	})
	for _, l := range handed {
		p := gopherAndHTTP
		if i := slices.IndexFunc(protocols, func(p *protocol) bool {
			return p.name == l.Name
		}); i >= 0 {
			p = protocols[i]
		}
		if p.name == "gemini" && !d.conf.hasTLS() {
			return exit.Usagef(geminiNeeds, "a socket for Gemini, but no certificate")
		}
		gopher = gopher || p == gopherAndHTTP
		d.listeners = append(d.listeners, listener{p, server.SharedListener{Listener: l.Listener}, ""})
	}

	all := slices.Clone(d.conf.endpoints)
	if !gopher {
		all = append(all, endpoint{
			protocol: gopherAndHTTP,
			typed:    ":70",
			addr:     ":70",
		})
	}
	var failures Failures
	for _, e := range all {
		l, err := d.listen(ctx, e.flag, e.typed, e.addr)
		if err != nil && !d.checking {
			return err
		} else if err != nil {
			failures = append(failures, err)
		} else if l != nil {
			d.listeners = append(d.listeners, listener{e.protocol, l, e.host})
		}
	}
	if d.conf.Metrics != "" {
		if d.metrics, err = d.listen(ctx, "metrics", d.conf.Metrics, d.conf.Metrics); err != nil {
			failures = append(failures, err)
		} else if d.metrics != nil {
			d.log.Info("metrics", "url", "http://"+d.metrics.Addr().String()+"/metrics")
		}
	}
	return failures.orNil()
}

// listen opens a listener. In a check it returns nil for an address in use, since gophd may be
// running.
func (d *daemon) listen(ctx context.Context, flag, typed, addr string) (net.Listener, error) {
	if port, ok := strings.CutPrefix(addr, "localhost:"); ok { // also where /etc/hosts lacks it (RFC 6761)
		addr = "127.0.0.1:" + port
	}
	l, err := server.Listen(ctx, addr)
	if err == nil {
		return l, nil
	}

	// Report the cause, without the names of calls.
	cause := err
	var lookup *net.DNSError
	var call *os.SyscallError
	if errors.As(err, &lookup) {
		cause = errors.New("the name cannot be looked up")
	} else if errors.As(err, &call) {
		cause = call.Err
	}
	named := fmt.Errorf("%s: %w", d.conf.option(flag, typed), cause)
	_, port, _ := net.SplitHostPort(addr)
	number, _ := strconv.Atoi(port)
	dropIn := "listen"
	if flag == "metrics" {
		dropIn = flag
	}
	forbidden := errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EAFNOSUPPORT)
	switch {
	case d.checking && errors.Is(err, syscall.EADDRINUSE):
		d.log.Warn("an address is in use, by a gophd that runs already or by another program",
			"error", named)
		return nil, nil
	case lookup != nil && isHostName(hostName(lookup.Name)):
		return nil, exit.Hint(named,
			"the name of "+typed+" cannot be looked up now; an address needs no DNS")
	case systemd.InUnit() && forbidden && number < 1024 && flag == "listen":
		return nil, exit.Usagef("gophd.socket listens on ports below 1024: ListenStream= in a drop-in: "+diag.Command("systemctl", "edit", "gophd.socket"), "%w", named)
	case systemd.InUnit() && forbidden && number < 1024:
		return nil, exit.Usagef("a socket unit listens on ports below 1024: "+
			diag.Command("systemctl", "enable", "--now", "gophd-"+flag+".socket"), "%w", named)
	case systemd.InUnit() && forbidden:
		return nil, exit.Usagef("the unit forbids it: "+systemd.Activate(dropIn), "%w", named)
	case errors.Is(err, fs.ErrPermission):
		return nil, exit.Usagef("ports below 1024 need a privilege: use "+
			d.conf.option(flag, ":7070")+
			", or give the program the capability cap_net_bind_service, or start it from systemd", "%w", named)
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, exit.Hint(named,
			fmt.Sprintf("the port is in use (ss -ltnp shows by which program); choose another with %s, not %s", d.conf.option(flag), typed))
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, exit.Hint(named,
			"that address is not on this machine; "+d.conf.option(flag, ":"+port)+
				" listens on all that are")
	}
	return nil, exit.Usagef(d.conf.option(flag)+
		" takes HOST:PORT, :PORT, HOST or PORT", "%w", named)
}

// announce logs for each listener the URL; for Gopher also the directory and a command to try,
// for Gemini the fingerprint of the certificate.
func (d *daemon) announce() {
	for _, l := range d.listeners {
		addr, ok := l.Addr().(*net.TCPAddr)
		if !ok {
			continue
		}
		if l.protocol != gopherAndHTTP {
			attrs := []any{"url", l.name + "://" +
				net.JoinHostPort(cmp.Or(d.srv.Host, "localhost"), strconv.Itoa(addr.Port)) + "/"}
			if l.name == "gemini" && !d.checking {
				attrs = append(attrs, "fingerprint", d.certs.Fingerprint())
			}
			d.log.Info("serving "+l.name, attrs...)
			continue
		}
		host := "localhost"
		if !addr.IP.IsUnspecified() {
			host = addr.IP.String()
		}
		name, dir := cmp.Or(d.srv.Host, host), d.conf.Root
		if h := d.hosts.reached(&server.Request{Local: addr.AddrPort()}); h.name != "" {
			name, dir = h.name, h.dir
		}
		where := net.JoinHostPort(name, strconv.Itoa(addr.Port))
		if addr.Port == selector.DefaultPort {
			where = strings.TrimSuffix(where, ":70")
		}
		d.log.Info(diag.EventServing, "root", dir, "url", "gopher://"+where+"/",
			"try", fmt.Sprintf("echo robots.txt | nc %s %d", host, addr.Port))
	}
}

// fullName returns the machine's fully qualified name, or "" if it cannot be looked up
// quickly.
func fullName(ctx context.Context) string {
	name, err := os.Hostname()
	if err != nil || strings.Contains(name, ".") {
		return name
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second/2)
	defer cancel()
	full, err := net.DefaultResolver.LookupCNAME(ctx, name)
	if full = strings.TrimSuffix(full, "."); err != nil || !strings.Contains(full, ".") {
		return ""
	}
	return full
}

// openCerts reads the certificates while gophd is still root, since keys often belong to root.
func (d *daemon) openCerts() error {
	if !d.conf.hasTLS() {
		return nil
	}
	d.certs = &keypair.Certificates{Log: d.log}
	for _, f := range d.conf.certs {
		if err := d.certs.Add(f); err != nil && !d.checking { // which has reported it
			return err
		}
	}
	return nil
}

// setTLS adds the certificates of -tls-self-signed, which belong to the account of -user, and
// configures TLS if there are any certificates.
func (d *daemon) setTLS() error {
	if d.certs == nil {
		return nil
	}
	if d.conf.TLSSelfSigned != "" {
		if err := d.selfSigned(d.conf.TLSSelfSigned); err != nil {
			return exit.Hint(err, d.conf.option("tls-self-signed")+
				" needs a directory that gophd may write to, or one with both files of each pair")
		}
	}
	d.srv.TLS = &tls.Config{
		GetCertificate:              d.certs.Get,
		MinVersion:                  tls.VersionTLS12,
		DynamicRecordSizingDisabled: true, // it is for clients that use a part of a reply
	}
	if d.srv.HTTP != nil {
		offerHTTP(d.srv.TLS)
	}
	return nil
}

// selfSigned adds the certificates in a directory, one for each name of a host. A start creates
// missing ones; a check does not.
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

// offerHTTP negotiates HTTP by ALPN (RFC 7301) with clients that offer it. With NextProtos set
// for all, package tls would refuse clients that offer only other protocols.
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
