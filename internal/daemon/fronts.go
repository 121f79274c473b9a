package daemon

import (
	"cmp"
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"syscall"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/front/smallnet"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
)

// frontNames are the protocols beside Gopher. Each has a flag, and a socket of systemd's
// may have its name (FileDescriptorName=).
var frontNames = []string{"gemini", "spartan", "nex", "finger"}

// FrontAddrs are where each of them listens.
type FrontAddrs struct{ Gemini, Spartan, Nex, Finger []string }

// frontAddr is where a protocol is to listen.
type frontAddr struct{ name, addr string }

// frontListener is a listener of a protocol.
type frontListener struct {
	name string
	net.Listener
}

// otherProtocols checks -gemini, -spartan, -nex and -finger.
func (c *Settings) otherProtocols() error {
	taken := map[string]string{}
	for _, addr := range c.listen {
		taken[withPort(addr, "70")] = "listen"
	}
	for _, p := range []struct {
		name  string
		addrs []string
	}{{"gemini", c.Gemini}, {"spartan", c.Spartan}, {"nex", c.Nex}, {"finger", c.Finger}} {
		port := strconv.Itoa(selector.PortOf(p.name))
		for _, addr := range p.addrs {
			if err := checkAddr(p.name, addr, port); err != nil {
				return err
			}
			if p.name == "gemini" && len(c.certs) == 0 && c.TLSSelfSigned == "" {
				return exit.Usagef("Gemini is always encrypted: add -tls-self-signed DIR, or -tls-cert FILE -tls-key FILE", "-gemini without a certificate")
			}
			at := withPort(addr, port)
			if other := taken[at]; other != "" && !strings.HasSuffix(at, ":0") {
				return exit.Usagef("each protocol needs a port of its own, such as -"+p.name+" :"+port, "-%s %s: -%s listens there, too", p.name, addr, other)
			}
			taken[at] = p.name
			c.fronts = append(c.fronts, frontAddr{p.name, at})
		}
	}
	return nil
}

// openFronts listens for the other protocols.
func (d *daemon) openFronts(ctx context.Context) error {
	for _, f := range d.fronts {
		if f.name == "gemini" && len(d.conf.certs) == 0 && d.conf.TLSSelfSigned == "" {
			return exit.Usagef("Gemini is always encrypted: add -tls-self-signed DIR, or -tls-cert FILE -tls-key FILE", "a socket for Gemini, but no certificate")
		}
	}
	for _, f := range d.conf.fronts {
		l, err := server.Listen(ctx, f.addr)
		switch {
		case d.checking && errors.Is(err, syscall.EADDRINUSE):
			d.log.Warn(addressInUse, "error", err)
		case err != nil:
			return frontListenError(f, err)
		default:
			d.fronts = append(d.fronts, frontListener{f.name, l})
		}
	}
	return nil
}

func frontListenError(f frontAddr, err error) error {
	var told *exit.CommandError
	if explained := listenError(f.addr, failed(f.name, f.addr, err)); errors.As(explained, &told) {
		told.Hint = strings.NewReplacer("-listen ", "-"+f.name+" ", "-listen,", "-"+f.name+",").Replace(told.Hint) // not gophd-listen.conf
		return told
	}
	return err
}

// protocol returns one of the protocols beside Gopher.
func (d *daemon) protocol(name string) *server.Protocol {
	front := &smallnet.Protocols{Hosts: d.hostOf}
	return map[string]func() *server.Protocol{"gemini": front.Gemini, "spartan": front.Spartan, "nex": front.Nex, "finger": front.Finger}[name]()
}

// hostOf returns the host that a request of another protocol is for.
func (d *daemon) hostOf(r *server.Request, name string) (*answer.Host, *server.Request, bool) {
	h, ok := d.hosts.called(r, name, false)
	if !ok {
		return nil, nil, false
	}
	r.Site = h.name
	own := *h.own(r)
	own.Port = d.gopherPort()
	return h.front.Host, &own, true
}

// gopherPort is the port of Gopher in links.
func (d *daemon) gopherPort() int {
	if d.srv.Port != 0 {
		return d.srv.Port
	}
	for _, l := range d.listeners {
		if addr, ok := l.Addr().(*net.TCPAddr); ok {
			return addr.Port
		}
	}
	return 70
}

// ports returns the ports of the fronts by the schemes of their URLs.
func (d *daemon) ports() map[string]int {
	ports := map[string]int{"gopher": d.gopherPort()}
	for _, f := range d.fronts {
		if addr, ok := f.Addr().(*net.TCPAddr); ok {
			ports[f.name] = addr.Port
		}
	}
	if d.conf.HTTP == "view" {
		ports["http"] = ports["gopher"]
	}
	return ports
}

// announceFronts logs where the other protocols can be reached, and the fingerprint of
// the certificate, by which Gemini's clients know the host.
func (d *daemon) announceFronts() {
	for _, f := range d.fronts {
		addr, ok := f.Addr().(*net.TCPAddr)
		if !ok {
			continue
		}
		host, more := cmp.Or(d.srv.Host, "localhost"), []any(nil)
		if f.name == "gemini" {
			more = []any{"fingerprint", d.certs.Fingerprint()}
		}
		url := f.name + "://" + net.JoinHostPort(host, strconv.Itoa(addr.Port)) + "/"
		d.log.Info("serving "+f.name, append([]any{"url", url}, more...)...)
	}
}
