package accesslog

import (
	"cmp"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/gophd/gophd/server"
)

// line formats a request whose connection was accepted at a time.
func line(s server.Served, at time.Time, ips IPs) string {
	size := "-"
	if s.Bytes > 0 {
		size = strconv.FormatInt(s.Bytes, 10)
	}
	if ips == None { // Referer and User-Agent may identify the user
		s.Referer, s.Agent = "", ""
	}
	return fmt.Sprintf(`%s:%d %s %s - [%s] "%s" %d %s "%s" "%s"`+"\n",
		cmp.Or(s.Host, "-"), s.Port, ips.Name(s.Remote.Addr()), cmp.Or(s.Protocol, "-"),
		at.Format("02/Jan/2006:15:04:05 -0700"),
		quoted(s.Selector), s.HTTPStatus(), size, quoted(cmp.Or(s.Referer, "-")),
		quoted(cmp.Or(s.Agent, "-")))
}

// quoted escapes text from a client as Apache does: a backslash before quotes and backslashes,
// and \xHH for every byte that is not visible ASCII.
func quoted(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		switch {
		case c == '"' || c == '\\':
			b.Write([]byte{'\\', c})
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// IPs is the form of addresses in logs.
type IPs string

// The forms.
const (
	Full   IPs = "full"   // the whole address
	Masked IPs = "masked" // the network: /24 of IPv4, /48 of IPv6
	None   IPs = "none"   // -
)

// Name formats an address. It returns "-" if the address is invalid.
func (p IPs) Name(a netip.Addr) string {
	if !a.IsValid() || p == None {
		return "-"
	}
	if p == Masked {
		bits := 48
		if a = a.Unmap().WithZone(""); a.Is4() {
			bits = 24
		}
		a = netip.PrefixFrom(a, bits).Masked().Addr()
	}
	return a.String()
}
