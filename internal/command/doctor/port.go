package doctor

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gophd/gophd/diag"
)

// sockets returns the units of sockets that the service has: its own, and those of fronts that
// are enabled.
func (x *examination) sockets() (names []string) {
	for _, name := range unitNames[1:] {
		if name == socketOf("listen") || x.units[name]["UnitFileState"] == "enabled" {
			names = append(names, name)
		}
	}
	return names
}

// socketOf returns the unit of the socket that a flag would open.
func socketOf(flag string) string {
	return strings.Replace("gophd-"+flag+".socket", "-listen", "", 1)
}

// listening returns the addresses to connect to for a protocol: each port that a socket or a flag
// names, at an address of this machine, if possible a public one.
func (x *examination) listening(flag string) (all []string) {
	var list []string
	if name := socketOf(flag); slices.Contains(x.sockets(), name) {
		for line := range strings.Lines(x.units[name]["Listen"]) {
			if addr, ok := strings.CutSuffix(strings.TrimSpace(line), " (Stream)"); ok {
				list = append(list, addr)
			}
		}
	}
	for _, a := range x.flags.Addresses() {
		if a.Flag == flag {
			list = append(list, a.Addr)
		}
	}
	if len(list) == 0 && flag == "listen" {
		list = []string{":70"}
	}
	for _, addr := range list {
		if !strings.HasPrefix(addr, "/") {
			all = append(all, x.reached(addr))
		}
	}
	return all
}

func portOf(addr string) string {
	_, port, _ := net.SplitHostPort(addr)
	return port
}

// reached is where this machine reaches an address that something listens at: in place of all
// addresses, the one that others are most likely to reach.
func (x *examination) reached(addr string) string {
	host, port, _ := net.SplitHostPort(addr)
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		best := netip.AddrFrom4([4]byte{127, 0, 0, 1})
		for _, a := range x.Addrs {
			if a.IsGlobalUnicast() && a.Is4() && (best.IsLoopback() || best.IsPrivate()) {
				best = a
			}
		}
		host = best.String()
	}
	return net.JoinHostPort(host, port)
}

// port reports which processes listen on the ports of the server.
func (x *examination) port(ctx context.Context) {
	var ports []string
	for _, at := range x.at {
		ports = append(ports, portOf(at))
	}
	slices.Sort(ports)
	for _, port := range slices.Compact(ports) {
		x.onePort(ctx, port)
	}
}

// onePort reports which process listens on a port.
func (x *examination) onePort(ctx context.Context, port string) {
	inodes := x.listeners(port)
	pid, program, other := x.holder(inodes)
	bySystemd := program == "systemd"
	if bySystemd || program == "" { // for which unit?
		other = ""
		out, _ := x.command(ctx, "systemctl", "list-sockets", "--no-legend", "--no-pager", "--plain")
		for line := range strings.Lines(string(out)) {
			f := strings.Fields(line)
			if len(f) > 1 && strings.HasSuffix(":"+f[0], ":"+port) &&
				!strings.HasPrefix(f[1], "gophd") && other == "" {
				other = f[1]
				program = "systemd, for " + other
			}
		}
	}
	switch {
	case len(inodes) == 0:
		x.fault(x.start(), "nothing listens at port %s", port)
		return
	case program == "gophd":
		x.ok("port %s is held by gophd", port)
		return
	case other == "" && bySystemd:
		x.ok("port %s is held by systemd, for gophd", port)
		return
	case program == "" && portOf(x.at[0]) != port:
		x.ok("port %s is held; root sees by which program", port)
		return
	case program == "": // only root sees the process: gophd is recognized by its reply
		text, err := x.ask(ctx, "robots.txt")
		if err == nil && bytes.HasPrefix(text, []byte(madeByGophd)) {
			x.ok("port %s is held by gophd", port)
			return
		}
		x.fault(diag.Command("sudo", "gophd", "doctor", "-only", "port"),
			"port %s is held by another program than gophd; root sees by which", port)
		return
	case other == "":
		x.fault(diag.Command("kill", pid), "port %s is held by %s, which no unit has started", port,
			program)
		return
	}

	// Let gophd have the port, or give it another one.
	f := Finding{Text: fmt.Sprintf("port %s is held by %s", port, program)}
	name := strings.TrimSuffix(strings.TrimSuffix(other, ".service"), ".socket")
	if !x.underSystemd() {
		service := func(name, verb string) string { return diag.Command("rc-service", name, verb) }
		f.Type = then(service(name, "stop"), service("gophd", "start"))
		f.Back = then(service("gophd", "stop"), service(name, "start"))
		f.Both = then(diag.Command("echo", "GOPHD_LISTEN=:7070")+" >>"+openrcFile,
			service("gophd", "start"))
		x.add(f)
		return
	}
	disable := []string{"disable", "--now", other}
	for _, more := range []string{name + ".socket", name + ".service"} {
		out, _ := x.command(ctx, "systemctl", "show", "--value", "-p", "LoadState", more)
		if more != other && strings.TrimSpace(string(out)) == "loaded" {
			disable = append(disable, more)
		}
	}
	f.Type = then(systemctl(disable...), enableGophd)
	f.Back = then(systemctl("disable", "--now", "gophd.socket", "gophd.service"),
		systemctl("enable", "--now", other))
	f.Both = then(diag.Command("mkdir", "-p", "/etc/systemd/system/gophd.socket.d"),
		diag.Command("cp", "/usr/share/gophd/systemd/gophd-port.conf",
			"/etc/systemd/system/gophd.socket.d/"), daemonReload, enableGophd)
	x.add(f)
}

// listeners returns the inodes of the TCP sockets that listen at a port (proc_net_tcp(5)).
func (x *examination) listeners(port string) (inodes []string) {
	const listening = "0A"
	number, _ := strconv.Atoi(port)
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		for line := range strings.Lines(x.read(table)) {
			f := strings.Fields(line)
			if len(f) > 9 && f[3] == listening &&
				strings.HasSuffix(f[1], fmt.Sprintf(":%04X", number)) {
				inodes = append(inodes, f[9])
			}
		}
	}
	return inodes
}

// holder returns the process that has one of these sockets open, its program, and the unit
// that it runs in. systemd keeps the sockets of the services that it has started, so it is
// named last.
func (x *examination) holder(inodes []string) (pid, program, service string) {
	list, _ := filepath.Glob(x.onMachine("/proc/[0-9]*/fd/*"))
	for _, fd := range list {
		to, err := os.Readlink(fd)
		if err != nil || !slices.Contains(inodes,
			strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")) {
			continue
		}
		dir := filepath.Dir(filepath.Dir(fd))
		comm, _ := os.ReadFile(filepath.Join(dir, "comm"))
		name := strings.TrimSpace(string(comm))
		if program != "" && name == "systemd" {
			continue
		}
		pid = filepath.Base(dir)
		program = name
		service = ""
		group, _ := os.ReadFile(filepath.Join(dir, "cgroup"))
		if last := filepath.Base(strings.TrimSpace(string(group))); strings.HasSuffix(last, ".service") {
			service = last
		}
		if program == "gophd" {
			break
		}
	}
	return pid, program, service
}

// pid returns the id of the process that listens on the server's port, or the word PID if
// this user cannot identify it.
func (x *examination) pid() string {
	if len(x.at) == 0 {
		return "PID"
	}
	pid, _, _ := x.holder(x.listeners(portOf(x.at[0])))
	return cmp.Or(pid, "PID")
}
