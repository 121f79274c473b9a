package main

import (
	"math"
	"net/netip"

	"github.com/urfave/cli/v2"

	"github.com/gophd/gophd/server"
)

// networkFlags are the flags of what protects the server from strangers, and
// of what else it speaks on its ports.
func networkFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "max-conns", Usage: "`N` connections (default: half the limit of files)", Category: catLimits, EnvVars: env("max-conns")},
		&cli.IntFlag{Name: "max-conns-per-ip", Value: server.DefaultMaxConnsPerIP, Usage: "`N` of one address or IPv6 /64; 0 is any", Category: catLimits, EnvVars: env("max-conns-per-ip")},
		&cli.Float64Flag{Name: "rate", Usage: "`N` requests a second per address; 0 is any", Category: catLimits, EnvVars: env("rate")},
		&cli.IntFlag{Name: "burst", Value: server.DefaultBurst, Usage: "`N` requests at once, with -rate", Category: catLimits, EnvVars: env("burst")},
		&cli.StringFlag{Name: "http", Value: "on", Usage: "`MODE` answer HTTP with a page: on or off", Category: catNetwork, EnvVars: env("http")},
		&cli.StringSliceFlag{Name: "trust-proxy", Usage: "`CIDR` of proxies that send PROXY headers", Category: catNetwork, EnvVars: env("trust-proxy")},
	}
}

// setNetwork sets what those flags ask for.
func setNetwork(c *cli.Context, srv *server.Server) error {
	for _, name := range []string{"max-conns", "max-conns-per-ip", "burst"} {
		if c.Int(name) < 0 {
			return usageError("a number of 0 or more", "-%s %d", name, c.Int(name))
		}
	}
	if rate := c.Float64("rate"); !(rate >= 0) || math.IsInf(rate, 1) {
		return usageError("requests per second, such as -rate 2 or -rate 0.5", "-rate %v", c.Float64("rate"))
	}
	srv.MaxConns = c.Int("max-conns")
	srv.MaxConnsPerIP = noneIfZero(c.Int("max-conns-per-ip"))
	srv.Rate, srv.Burst = c.Float64("rate"), c.Int("burst")
	switch c.String("http") {
	case "on":
	case "off":
		srv.NoHTTP = true
	default:
		return usageError("one of on, off", "unknown -http %q", c.String("http"))
	}
	var err error
	srv.TrustProxy, err = prefixes("trust-proxy", c.StringSlice("trust-proxy"))
	return err
}

// prefixes reads address blocks; an address is a block of one.
func prefixes(flag string, list []string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, s := range list {
		p, err := netip.ParsePrefix(s)
		if a, addrErr := netip.ParseAddr(s); addrErr == nil {
			a = a.Unmap()
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			return nil, usageError("an address or a block of them, such as 10.0.0.0/8 or ::1", "-%s: %w", flag, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// noneIfZero turns 0, which means none on the command line, into what server
// takes for none.
func noneIfZero(n int) int {
	if n == 0 {
		return -1
	}
	return n
}
