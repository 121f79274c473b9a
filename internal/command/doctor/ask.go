package doctor

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/ask"
	"github.com/gophd/gophd/internal/daemon"
)

const (
	maxReply    = 16 << 20        // bytes
	noticed     = 2 * time.Second // within which gophd notices a change
	madeByGophd = "# robots.txt made by gophd"
)

// silent returns why nothing is requested of the server, or "".
func (x *examination) silent() string {
	switch {
	case x.faults > 0 && x.Only == "":
		return "not requested: fix the faults above first"
	case len(x.at) == 0:
		return "the settings name no port"
	}
	return ""
}

// ask requests a selector over Gopher.
func (x *examination) ask(ctx context.Context, sel string) ([]byte, error) {
	return send(ctx, ask.Dialer{}, x.at[0], false, sel+"\r\n")
}

// send sends a request, and returns the reply.
func send(ctx context.Context, dialer ask.Dialer, addr string, secure bool,
	request string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	body, err := dialer.All(ctx, addr, secure, request, maxReply)
	if err == nil && len(body) == 0 {
		err = fmt.Errorf("asking %s: the reply is empty", addr)
	}
	return body, err
}

// insecure makes connections whose certificate is not verified: another check compares it.
func insecure(name string) ask.Dialer {
	return ask.Dialer{TLS: &tls.Config{ServerName: name, InsecureSkipVerify: true}} // #nosec G402: see above
}

// robots reports whether the server has the robots.txt and the tree that are examined.
func (x *examination) robots(ctx context.Context) {
	if served := x.served(ctx); served != nil {
		x.ok("matches the annotations, %d bytes", len(served))
	}
}

// served returns the robots.txt of the server. It reports a fault and returns nil if the file
// differs from the policy of the tree now, without the sitemaps, whose URLs the server alone
// knows, or if a text differs: another tree may have the same robots.txt.
func (x *examination) served(ctx context.Context) []byte {
	if why := x.silent(); why != "" {
		x.unknown("%s", why)
		return nil
	}
	want := daemon.WithoutSitemaps(x.sight.Robots)
	served, err := x.ask(ctx, "robots.txt")
	if err == nil && daemon.WithoutSitemaps(served) != want && ask.Sleep(ctx, noticed) == nil {
		served, err = x.ask(ctx, "robots.txt") // a change just made may not have been noticed
	}
	switch got := daemon.WithoutSitemaps(served); {
	case err != nil:
		x.restarted("", "the server does not answer: %v", err)
		return nil
	case len(want) == 0:
		x.unknown("the policy of the tree is not known")
		return nil
	case got != want && !strings.HasPrefix(got, madeByGophd) && strings.HasPrefix(want, madeByGophd):
		x.fault(diag.Command("gophd", "doctor", "-only", "port"),
			"the server at %s is not gophd, or serves another tree", x.at[0])
		return nil
	case got != want:
		difference := "its length"
		a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				difference = fmt.Sprintf("%q, which should be %q", a[i], b[i])
				break
			}
		}
		x.fault(x.reload(), "the served file differs from the annotations in %s", difference)
		return nil
	}
	for _, t := range x.sight.Texts {
		got, err := x.ask(ctx, t.Selector)
		if err == nil && !x.flags.StrictText &&
			!bytes.Equal(bytes.ReplaceAll(got, []byte("\r"), nil), t.Body) {
			x.restarted("", "the server at %s has another %s: it serves another tree", x.at[0],
				t.Selector)
			return nil
		}
	}
	return served
}

// fronts requests the start over each protocol that a flag or an enabled socket names.
func (x *examination) fronts(ctx context.Context) {
	host := cmp.Or(x.flags.Host, "localhost")
	for _, p := range []struct{ flag, request string }{
		{"gemini", "gemini://" + host + "/\r\n"},
		{"spartan", host + " / 0\r\n"},
		{"nex", "/\r\n"},
		{"finger", "\r\n"},
	} {
		for _, addr := range x.listening(p.flag) {
			if why := x.silent(); why != "" && x.none() {
				x.unknown("%s", why)
				return
			}
			body, err := send(ctx, insecure(host), addr, p.flag == "gemini", p.request)
			line, _, _ := bytes.Cut(body, []byte("\r\n"))
			hasStatus := p.flag == "gemini" || p.flag == "spartan"
			switch {
			case err != nil:
				x.restarted("", "%s://%s: %v", p.flag, addr, err)
			case hasStatus && body[0] != '2':
				x.restarted("", "%s://%s: the reply is %q", p.flag, addr, line)
			default:
				x.ok("%s://%s answers", p.flag, addr)
			}
		}
	}
}

// noindex requests the start page and those of the top-level directories over HTTP, and
// compares their X-Robots-Tag with the policy.
func (x *examination) noindex(ctx context.Context) {
	if x.flags.HTTP != "view" || x.served(ctx) == nil {
		return
	}
	marked := 0
	for _, p := range x.sight.Pages {
		sel := cmp.Or(p.Selector, "/")
		head := &http.Request{
			Method: http.MethodHead,
			URL: &url.URL{
				Scheme: "http",
				Host:   x.at[0],
				Path:   sel,
			},
			Host:   x.flags.Host,
			Header: http.Header{"Accept": {"text/html"}},
			Close:  true,
		}
		ctx, cancel := context.WithTimeout(ctx, askTimeout)
		r, err := new(http.Transport).RoundTrip(head.WithContext(ctx))
		cancel()
		if err != nil {
			x.restarted("", "no page at %s: %v", sel, err)
			return
		}
		_ = r.Body.Close()
		has := strings.Contains(r.Header.Get("X-Robots-Tag"), "noindex")
		switch {
		case r.StatusCode != http.StatusOK:
			x.restarted("", "the page of %s has status %d: the server has another tree", sel,
				r.StatusCode)
			return
		case has != p.NoIndex:
			x.fault(x.reload(), "the page of %s has noindex: %t; the annotations say: %t", sel, has,
				p.NoIndex)
			return
		case has:
			marked++
		}
	}
	if len(x.sight.Pages) == 0 {
		x.unknown("no page to request")
		return
	}
	x.ok("%d of %d pages have noindex, as the annotations say", marked, len(x.sight.Pages))
}

// search searches for the names of the newest texts: a current index finds them.
func (x *examination) search(ctx context.Context) {
	if !x.flags.Search || x.served(ctx) == nil {
		return
	}
	found := 0
	for _, t := range x.sight.Texts {
		words := strings.Map(func(r rune) rune {
			if r < 0x80 && !('a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9') {
				return ' '
			}
			return r
		}, path.Base(t.Selector))
		got, err := x.ask(ctx, "/search\t"+strings.TrimSpace(words))
		switch {
		case err != nil:
			x.restarted("", "/search does not answer: %v", err)
			return
		case bytes.Contains(got, []byte("\t"+t.Selector+"\t")):
			found++
		case bytes.Contains(got, []byte("The index is being built")):
			x.unknown("the index is being built")
			return
		case !bytes.Contains(got, []byte("\r\n1More results\t")):
			x.restarted("", "%s is not found by its name: the index does not follow the tree",
				t.Selector)
			return
		}
	}
	switch {
	case len(x.sight.Texts) == 0:
		x.unknown("no text that is older than ten seconds to search for")
	case found == 0:
		x.unknown("too many results for the names of the newest texts")
	default:
		x.ok("finds %d of the newest texts", found)
	}
}
