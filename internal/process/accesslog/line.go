package accesslog

import (
	"cmp"
	"net/netip"
	"strconv"
	"time"

	"github.com/gophd/gophd/server"
)

// entry is a request for the log.
type entry struct {
	server.Served
	at time.Time // when its connection was accepted
}

// appendTo adds the line of an entry.
func (e entry) appendTo(b []byte, ips IPs) []byte {
	b = append(b, cmp.Or(e.Host, "-")...)
	b = append(b, ':')
	b = strconv.AppendInt(b, int64(e.Port), 10)
	b = append(b, ' ')
	b = append(b, ips.Name(e.Remote.Addr())...)
	b = append(b, ' ')
	b = append(b, cmp.Or(e.Protocol, "-")...)
	b = append(b, " - ["...)
	b = e.at.AppendFormat(b, "02/Jan/2006:15:04:05 -0700")
	b = append(b, `] "`...)
	b = appendQuoted(b, e.Selector)
	b = append(b, `" `...)
	b = strconv.AppendInt(b, int64(e.HTTPStatus()), 10)
	b = append(b, ' ')
	if e.Bytes == 0 {
		b = append(b, '-')
	} else {
		b = strconv.AppendInt(b, e.Bytes, 10)
	}
	if ips == None { // what a browser says of itself may name its user
		return append(b, ` "-" "-"`+"\n"...)
	}
	b = append(b, ` "`...)
	b = appendQuoted(b, cmp.Or(e.Referer, "-"))
	b = append(b, `" "`...)
	b = appendQuoted(b, cmp.Or(e.Agent, "-"))
	return append(b, "\"\n"...)
}

// appendQuoted adds text from a client, in visible ASCII: as in Apache's
// logs, the quote and the backslash get a backslash, and every other byte is
// \x and two digits.
func appendQuoted(b []byte, s string) []byte {
	const digits = "0123456789abcdef"
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c > '~':
			b = append(b, '\\', 'x', digits[c>>4], digits[c&15])
		default:
			b = append(b, c)
		}
	}
	return b
}

// IPs is how logs name addresses.
type IPs int

// The ways.
const (
	Full   IPs = iota // as they are
	Masked            // the network: /24 of IPv4, /48 of IPv6
	None              // -
)

// UnmarshalText reads full, masked or none.
func (p *IPs) UnmarshalText(text []byte) error {
	switch string(text) {
	case "full":
		*p = Full
	case "masked":
		*p = Masked
	case "none":
		*p = None
	default:
		return strconv.ErrSyntax
	}
	return nil
}

// Name returns an address as p has it, - if it is not known.
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
