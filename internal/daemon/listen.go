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
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/process/keypair"
	"github.com/gophd/gophd/internal/process/systemd"
	"github.com/gophd/gophd/server"
)

// listen opens all listeners, or none.
func listen(ctx context.Context, addrs []string) ([]net.Listener, error) {
	if len(addrs) == 0 {
		addrs = []string{":70"}
	}
	var all []net.Listener
	for _, addr := range addrs {
		l, err := server.Listen(ctx, withPort(addr, "70"))
		if err != nil {
			closeAll(all)
			return nil, listenError(addr, failed("listen", addr, err))
		}
		all = append(all, l)
	}
	return all, nil
}

// withPort adds a protocol's port to an address that has none.
func withPort(addr, port string) string {
	if _, _, err := net.SplitHostPort(addr); err == nil {
		return addr
	}
	if _, err := strconv.Atoi(addr); err == nil {
		return ":" + addr
	}
	return net.JoinHostPort(strings.Trim(addr, "[]"), port)
}

// checkAddr refuses an address whose port no program can listen on.
func checkAddr(flag, addr, port string) error {
	hint := "-" + flag + " takes HOST:PORT, :PORT, HOST or PORT; a port is a number up to 65535"
	if info, err := files.Stat(addr); err == nil && info.IsDir() && !strings.Contains(addr, ".") {
		return exit.Usagef(hint, "-%s has no value: the directory %s follows it", flag, addr)
	}
	_, port, _ = net.SplitHostPort(withPort(addr, port))
	if _, err := net.LookupPort("tcp", port); err != nil || addr == "" {
		return exit.Usagef(hint, "-%s %q: there is no such port", flag, addr)
	}
	return nil
}

// failed returns why an address could not be listened on, without the names of calls.
func failed(flag, addr string, err error) error {
	var lookup *net.DNSError
	var call *os.SyscallError
	switch {
	case errors.As(err, &lookup):
		err = &saying{"the name cannot be looked up", err}
	case errors.As(err, &call):
		err = call.Err
	}
	return fmt.Errorf("-%s %s: %w", flag, addr, err)
}

// saying is an error in other words.
type saying struct {
	text string
	error
}

func (s *saying) Error() string { return s.text }

func (s *saying) Unwrap() error { return s.error }

// forbidden reports whether a unit's settings may be why there is no listener.
func forbidden(err error) bool {
	var lookup *net.DNSError // hides why it could not ask
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EAFNOSUPPORT) || errors.As(err, &lookup)
}

func listenError(addr string, err error) error {
	var unknown *net.DNSError
	_, port, _ := net.SplitHostPort(withPort(addr, "70"))
	number, _ := strconv.Atoi(port)
	switch hint := systemd.DropIn("listen"); {
	case errors.As(err, &unknown) && isHostName(hostName(unknown.Name)):
		return exit.Hint(err, "the name of "+addr+" cannot be looked up now; an address needs no DNS")
	case hint != "" && forbidden(err) && number < 1024:
		return exit.Usagef("gophd.socket listens on ports below 1024: ListenStream= in a drop-in: "+diag.Command("systemctl", "edit", "gophd.socket"), "%w", err)
	case hint != "" && forbidden(err):
		return exit.Usagef(hint, "%w", err)
	case errors.Is(err, fs.ErrPermission):
		return exit.Usagef("ports below 1024 need a privilege: use -listen :7070, or give the program the capability cap_net_bind_service, or start it from systemd", "%w", err)
	case errors.Is(err, syscall.EADDRINUSE):
		return exit.Hint(err, fmt.Sprintf("the port is in use (ss -ltnp shows by which program); choose another with -listen, not %s", addr))
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return exit.Hint(err, "that address is not on this machine; -listen :70 listens on all that are")
	}
	return exit.Usagef("-listen takes HOST:PORT, :PORT, HOST or PORT", "%w", err)
}

// openSockets takes over the sockets that gophd was started with, or else
// listens. With -listen it does both.
func (d *daemon) openSockets(ctx context.Context) (err error) {
	if d.conf.Inetd {
		if d.conn, err = inetdConn(); err != nil {
			return exit.Usagef("-inetd is for inetd, which starts gophd for each connection", "%w", err)
		}
		return nil
	}
	if err := d.openMetrics(ctx); err != nil {
		return err
	}
	if d.notify, err = systemd.NewNotifier(); err != nil {
		d.log.Warn("cannot notify systemd", "error", err)
	}
	handed, err := systemd.Listeners()
	for _, l := range handed {
		shared := server.SharedListener{Listener: l.Listener}
		if slices.Contains(frontNames, l.Name) {
			d.fronts = append(d.fronts, frontListener{l.Name, shared})
		} else {
			d.listeners = append(d.listeners, shared)
		}
	}
	if errors.Is(err, systemd.ErrAccepted) {
		return exit.Usagef("the socket unit wants Accept=no; a service for each connection is gophd -inetd", "%w", err)
	}
	if err != nil {
		return err
	}
	if err := d.openFronts(ctx); err != nil {
		return err
	}
	if len(d.conf.listen) == 0 && len(d.listeners) > 0 {
		return nil
	}
	more, err := listen(ctx, d.conf.listen)
	if d.checking && errors.Is(err, syscall.EADDRINUSE) {
		d.log.Warn(addressInUse, "error", err)
		err = nil
	}
	d.listeners = append(d.listeners, more...)
	return err
}

const addressInUse = "an address is in use, by a gophd that runs already or by another program"

// announce logs where each tree can be seen, and one line to try.
func (d *daemon) announce() {
	for _, l := range d.listeners {
		addr, ok := l.Addr().(*net.TCPAddr)
		if !ok {
			continue
		}
		host := "localhost"
		if !addr.IP.IsUnspecified() {
			host = addr.IP.String()
		}
		name, dir := cmp.Or(d.srv.Host, host), d.conf.Root
		if h := d.hosts.of(&server.Request{Local: addr.AddrPort()}); h.name != "" {
			name, dir = h.name, h.dir
		}
		d.log.Info(diag.EventServing, "root", dir, "url", "gopher://"+urlHost(name, addr.Port)+"/",
			"try", fmt.Sprintf("echo robots.txt | nc %s %d", host, addr.Port))
	}
}

func urlHost(host string, port int) string {
	if port == 70 {
		if strings.Contains(host, ":") {
			return "[" + host + "]"
		}
		return host
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}

// fullName returns the machine's name with its domain, "" if it has none that
// can be found out quickly.
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

// openCerts reads the certificates, before gophd becomes another user: keys are
// often root's.
func (d *daemon) openCerts() error {
	if len(d.conf.certs) == 0 && d.conf.TLSSelfSigned == "" {
		return nil
	}
	d.certs = &keypair.Certificates{Log: d.log}
	for _, f := range d.conf.certs {
		if err := d.certs.Add(f); err != nil {
			return certError(err)
		}
	}
	return nil
}

func certError(err error) error {
	switch {
	case systemd.InUnit() && (errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist)):
		return exit.Usagef("the unit hands over /etc/credstore/gophd.crt and gophd.key: GOPHD_TLS_CERT=/run/credentials/gophd.service/gophd.crt, GOPHD_TLS_KEY=/run/credentials/gophd.service/gophd.key", "%w", err)
	case errors.Is(err, fs.ErrPermission):
		return exit.Hint(err, "the user that starts gophd must be able to read them")
	case errors.Is(err, fs.ErrNotExist):
		return exit.Usagef("-tls-self-signed DIR makes a certificate", "%w", err)
	}
	return exit.Usagef("both are PEM, the certificate first in its file, the key without a password", "%w", err)
}

// setTLS makes the server offer TLS if there are certificates, with a
// self-signed one if that is wanted: it belongs to the user that gophd has become.
func (d *daemon) setTLS() error {
	if d.certs == nil {
		return nil
	}
	if dir := d.conf.TLSSelfSigned; dir != "" {
		err := d.selfSigned(dir)
		if errors.As(err, new(*exit.CommandError)) {
			return err
		}
		if err != nil && systemd.InUnit() {
			return exit.Usagef("the unit lets gophd write below /var/lib/gophd: GOPHD_TLS_SELF_SIGNED=/var/lib/gophd", "%w", err)
		}
		if err != nil {
			return exit.Hint(err, "-tls-self-signed needs a directory that gophd may write to, or one with both files of each pair")
		}
	}
	d.srv.TLS = &tls.Config{
		GetCertificate: d.certs.Get, MinVersion: tls.VersionTLS12,
		DynamicRecordSizingDisabled: true, // a reply is of use when it is whole
	}
	if d.srv.HTTP != nil {
		offerHTTP(d.srv.TLS)
	}
	return nil
}

// selfSigned adds the certificates in a directory, one for each name of a host. A start makes
// those that are missing.
func (d *daemon) selfSigned(dir string) error {
	if info, err := files.Stat(dir); err == nil && !info.IsDir() {
		return exit.Usagef("-tls-self-signed DIR, in which gophd makes NAME.crt and NAME.key for each name of a host", "-tls-self-signed: %s is no directory", dir)
	}
	names := d.hostNames()
	missing := slices.ContainsFunc(names, func(name string) bool { _, made := keypair.Made(dir, name); return !made })
	if d.checking && missing {
		for _, err := files.Stat(dir); errors.Is(err, fs.ErrNotExist) && len(dir) > 1; _, err = files.Stat(dir) {
			dir = filepath.Dir(dir)
		}
		return d.writable("a self-signed certificate", dir)
	}
	var pairs []keypair.CertKey
	for _, name := range names {
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

// hostNames returns the names of all hosts, the first one's first.
func (d *daemon) hostNames() (names []string) {
	for _, h := range d.conf.hosts {
		names = append(names, cmp.Or(h.name, hostName(d.srv.Host), "localhost"))
		names = append(names, h.aliases...)
	}
	return names
}

// offerHTTP answers ALPN (RFC 7301) for clients that offer a version of HTTP. For
// others on the port it would be an error to have no protocol of theirs.
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
