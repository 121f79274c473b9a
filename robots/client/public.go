package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
)

// ErrPrivate is the answer of [DialPublic] to an address that is not public.
var ErrPrivate = errors.New("the address is not public")

// notPublic lists the blocks that are not globally reachable by IANA's special-purpose
// address registries for IPv4 and IPv6 (RFC 6890) of 2026-11, and besides multicast
// and the deprecated blocks that may still be routed inside of a network.
var notPublic = prefixes(
	"0.0.0.0/8",       // this network, RFC 791
	"10.0.0.0/8",      // private, RFC 1918
	"100.64.0.0/10",   // shared by carriers, RFC 6598
	"127.0.0.0/8",     // loopback, RFC 1122
	"169.254.0.0/16",  // link-local, RFC 3927
	"172.16.0.0/12",   // private, RFC 1918
	"192.0.0.0/24",    // protocol assignments, RFC 6890
	"192.0.2.0/24",    // documentation, RFC 5737
	"192.88.99.0/24",  // 6to4 relays, RFC 7526
	"192.168.0.0/16",  // private, RFC 1918
	"198.18.0.0/15",   // benchmarking, RFC 2544
	"198.51.100.0/24", // documentation, RFC 5737
	"203.0.113.0/24",  // documentation, RFC 5737
	"224.0.0.0/4",     // multicast, RFC 5771
	"240.0.0.0/4",     // reserved, RFC 1112, and broadcast, RFC 919
	"::/96",           // unspecified, loopback, IPv4-compatible, RFC 4291
	"::ffff:0:0:0/96", // IPv4-translated, RFC 2765
	"64:ff9b:1::/48",  // local NAT64, RFC 8215
	"100::/64",        // discard, RFC 6666
	"100:0:0:1::/64",  // dummy, RFC 9780
	"2001::/23",       // protocol assignments with Teredo, RFC 2928
	"2001:db8::/32",   // documentation, RFC 3849
	"3fff::/20",       // documentation, RFC 9637
	"5f00::/16",       // segment routing, RFC 9602
	"fc00::/7",        // unique local, RFC 4193
	"fe80::/10",       // link-local, RFC 4291
	"fec0::/10",       // site-local, RFC 3879
	"ff00::/8",        // multicast, RFC 4291
)

// publicAfterAll lists the globally reachable parts of the blocks above.
var publicAfterAll = prefixes(
	"192.0.0.9/32",    // port control anycast, RFC 7723
	"192.0.0.10/32",   // TURN anycast, RFC 8155
	"2001:1::1/128",   // port control anycast, RFC 7723
	"2001:1::2/128",   // TURN anycast, RFC 8155
	"2001:1::3/128",   // DNS-SD anycast, RFC 9665
	"2001:3::/32",     // AMT, RFC 7450
	"2001:4:112::/48", // AS112, RFC 7535
	"2001:20::/28",    // ORCHIDv2, RFC 7343
	"2001:30::/28",    // drone identifiers, RFC 9374
)

// The blocks whose addresses embed IPv4 addresses.
var (
	nat64     = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052: in the last bytes
	sixToFour = netip.MustParsePrefix("2002::/16")    // RFC 3056: behind the prefix
)

func prefixes(blocks ...string) (list []netip.Prefix) {
	for _, block := range blocks {
		list = append(list, netip.MustParsePrefix(block))
	}
	return list
}

// isPublic reports whether an address is globally reachable by IANA's registries. An IPv6
// address that embeds an IPv4 address is public if the latter is.
func isPublic(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if !ip.IsValid() {
		return false
	}
	contains := func(block netip.Prefix) bool { return block.Contains(ip) }
	switch b := ip.As16(); {
	case contains(nat64):
		return isPublic(netip.AddrFrom4([4]byte(b[12:])))
	case contains(sixToFour):
		return isPublic(netip.AddrFrom4([4]byte(b[2:6])))
	}
	return !slices.ContainsFunc(notPublic, contains) ||
		slices.ContainsFunc(publicAfterAll, contains)
}

// DialPublic connects to public addresses only, not to a loopback, private, link-local or
// otherwise special one: it checks the address after the name is resolved, for each redirect
// too. It is for [Fetcher.Dial].
func DialPublic(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if !isPublic(at.Addr()) {
			return fmt.Errorf("%s: %w", at.Addr(), ErrPrivate)
		}
		return nil
	}}
	return d.DialContext(ctx, network, address)
}

// hops connects for one fetch and its redirects. A host with a public address may not
// redirect to one without: it must not lead a robot into a private network.
type hops struct {
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	public bool // the first host has a public address
	later  bool // there was a connection
}

func (h *hops) connect(ctx context.Context, network, address string) (net.Conn, error) {
	dial := h.dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	conn, err := dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	at, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	public := err == nil && isPublic(at.Addr())
	switch {
	case !h.later:
		h.later, h.public = true, public
	case h.public && err == nil && !public:
		_ = conn.Close()
		return nil, fmt.Errorf("redirected to %s: %w", at.Addr(), ErrPrivate)
	}
	return conn, nil
}
