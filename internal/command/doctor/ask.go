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
	"strconv"
	"strings"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/ask"
	"github.com/gophd/gophd/selector"
)

const (
	maxReply    = 16 << 20        // bytes
	noticed     = 2 * time.Second // within which gophd notices a change
	madeByGophd = "# robots.txt made by gophd"
)

// mayNotAsk returns a finding in place of questions to the server, while there are other faults
// or no port is known.
func (x *examination) mayNotAsk() []Finding {
	switch {
	case x.faults > 0 && x.Only == "":
		return unknownf("not requested: fix the faults above first")
	case len(x.at) == 0:
		return unknownf("the settings name no port")
	}
	return nil
}

// ask requests a selector over Gopher.
func (x *examination) ask(ctx context.Context, sel string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	body, err := ask.Dialer{}.All(ctx, x.at[0], false, sel+"\r\n", maxReply)
	if err == nil && len(body) == 0 {
		err = fmt.Errorf("asking %s: the reply is empty", x.at[0])
	}
	return body, err
}

// robots compares the robots.txt that is served with the policy of the tree now, without
// the sitemaps, whose URLs the server alone knows.
func (x *examination) robots(ctx context.Context) []Finding {
	if no := x.mayNotAsk(); no != nil {
		return no
	}
	want := withoutSitemaps(x.sight.Robots)
	served, err := x.ask(ctx, "robots.txt")
	if err == nil && withoutSitemaps(served) != want && ask.Sleep(ctx, noticed) == nil {
		served, err = x.ask(ctx, "robots.txt") // a change just made may not have been noticed
	}
	switch {
	case err != nil:
		return faultf(x.restart(), "the server does not answer: %v", err)
	case len(want) == 0:
		return unknownf("the policy of the tree is not known")
	case withoutSitemaps(served) == want:
		return okf("matches the annotations, %d bytes", len(served))
	case !bytes.HasPrefix(served, []byte(madeByGophd)) && strings.HasPrefix(want, madeByGophd):
		return faultf(diag.Command("gophd", "doctor", "-only", "port"),
			"the server at %s is not gophd, or serves another tree", x.at[0])
	default:
		return faultf(x.reload(), "the served file differs from the annotations in %s",
			firstDifference(withoutSitemaps(served), want))
	}
}

func withoutSitemaps(text []byte) string {
	var kept strings.Builder
	for line := range strings.Lines(string(text)) {
		if line != "\n" && !strings.HasPrefix(line, "Sitemap:") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

func firstDifference(served, want string) string {
	a, b := strings.Split(served, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("%q, which should be %q", a[i], b[i])
		}
	}
	return "its length"
}

// sameTree returns a fault unless the server answers for the tree that is examined.
func (x *examination) sameTree(ctx context.Context) []Finding {
	if x.same == nil {
		x.same = x.robots(ctx)
		for _, text := range x.sight.Texts {
			if isFault(x.same[0]) || x.same[0].Unknown || x.flags.StrictText {
				break
			}
			got, err := x.ask(ctx, text.Selector)
			if err == nil && !bytes.Equal(bytes.ReplaceAll(got, []byte("\r"), nil), text.Body) {
				x.same = faultf(x.restart(),
					"the server at %s has another %s: it serves another tree",
					x.at[0], text.Selector)
			}
		}
	}
	if x.same[0].OK {
		return nil
	}
	return x.same
}

// A front is a protocol beside Gopher and where it listens.
type front struct{ name, addr string }

// frontFlags are the fronts that have a flag.
func (x *examination) frontFlags() (all []front) {
	for _, f := range []struct {
		name  string
		addrs []string
	}{{"finger", x.flags.Finger}, {"gemini", x.flags.Gemini}, {"nex", x.flags.Nex},
		{"spartan", x.flags.Spartan}} {
		for _, addr := range f.addrs {
			all = append(all, front{f.name, addr})
		}
	}
	return all
}

// fronts requests the start over each protocol that a flag or an enabled socket names.
func (x *examination) fronts(ctx context.Context) (all []Finding) {
	list := x.frontFlags()
	for _, name := range unitNames[2:] {
		unit := x.units[name]
		if addr, _, ok := strings.Cut(unit["Listen"], " ("); ok &&
			unit["UnitFileState"] == "enabled" {
			list = append(list, front{strings.TrimSuffix(strings.TrimPrefix(name, "gophd-"),
				".socket"), addr})
		}
	}
	if no := x.mayNotAsk(); no != nil && len(list) > 0 {
		return no
	}
	host := cmp.Or(x.flags.Host, "localhost")
	dialer := ask.Dialer{TLS: &tls.Config{ServerName: host, InsecureSkipVerify: true}} // #nosec G402: the check of certificates compares it
	for _, f := range list {
		addr := x.reached(f.addr, strconv.Itoa(selector.PortOf(f.name)))
		request := map[string]string{
			"gemini":  "gemini://" + host + "/\r\n",
			"spartan": host + " / 0\r\n",
			"nex":     "/\r\n",
			"finger":  "\r\n",
		}[f.name]
		limited, cancel := context.WithTimeout(ctx, askTimeout)
		body, err := dialer.All(limited, addr, f.name == "gemini", request, maxReply)
		cancel()
		line, _, _ := bytes.Cut(body, []byte("\r\n"))
		switch {
		case err != nil:
			all = append(all, faultf(x.restart(), "%s://%s: %v", f.name, addr, err)...)
		case len(body) == 0:
			all = append(all, faultf(x.restart(), "%s://%s: the reply is empty", f.name, addr)...)
		case (f.name == "gemini" || f.name == "spartan") && body[0] != '2':
			all = append(all, faultf(x.restart(), "%s://%s: the reply is %q", f.name,
				addr, line)...)
		default:
			all = append(all, okf("%s://%s answers", f.name, addr)...)
		}
	}
	return all
}

// noindex requests the start page and those of the top-level directories over HTTP, and
// compares their X-Robots-Tag with the policy.
func (x *examination) noindex(ctx context.Context) []Finding {
	if x.flags.HTTP != "view" {
		return nil
	}
	if no := x.sameTree(ctx); no != nil {
		return no
	}
	marked := 0
	for _, p := range x.sight.Pages {
		r, err := x.page(ctx, cmp.Or(p.Selector, "/"))
		if err != nil {
			return faultf(x.restart(), "no page at %s: %v", cmp.Or(p.Selector, "/"), err)
		}
		_ = r.Body.Close()
		has := strings.Contains(r.Header.Get("X-Robots-Tag"), "noindex")
		switch {
		case r.StatusCode != http.StatusOK:
			return faultf(x.restart(), "the page of %s has status %d: the server has another tree",
				cmp.Or(p.Selector, "/"), r.StatusCode)
		case has != p.NoIndex:
			return faultf(x.reload(), "the page of %s has noindex: %t; the annotations say: %t",
				cmp.Or(p.Selector, "/"), has, p.NoIndex)
		case has:
			marked++
		}
	}
	if len(x.sight.Pages) == 0 {
		return unknownf("no page to request")
	}
	return okf("%d of %d pages have noindex, as the annotations say", marked, len(x.sight.Pages))
}

// page requests the head of a page.
func (x *examination) page(ctx context.Context, sel string) (*http.Response, error) {
	to := url.URL{Scheme: "http", Host: x.at[0], Path: sel}
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, to.String(), nil)
	if err != nil {
		return nil, err
	}
	r.Host = cmp.Or(x.flags.Host, to.Hostname())
	r.Header.Set("Accept", "text/html")
	client := http.Client{
		Timeout:   askTimeout,
		Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
	return client.Do(r)
}

// search searches for the names of the newest texts: a current index finds them.
func (x *examination) search(ctx context.Context) []Finding {
	if !x.flags.Search {
		return nil
	}
	if no := x.sameTree(ctx); no != nil {
		return no
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
			return faultf(x.restart(), "/search does not answer: %v", err)
		case bytes.Contains(got, []byte("\t"+t.Selector+"\t")):
			found++
		case bytes.Contains(got, []byte("The index is being built")):
			return unknownf("the index is being built")
		case !bytes.Contains(got, []byte("\r\n1More results\t")):
			return faultf(x.restart(),
				"%s is not found by its name: the index does not follow the tree", t.Selector)
		}
	}
	switch {
	case len(x.sight.Texts) == 0:
		return unknownf("no text that is older than ten seconds to search for")
	case found == 0:
		return unknownf("too many results for the names of the newest texts")
	}
	return okf("finds %d of the newest texts", found)
}

// shown returns the certificate that the server sends for a name.
func (x *examination) shown(ctx context.Context, name string) (cert []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	dialer := ask.Dialer{TLS: &tls.Config{ServerName: name, InsecureSkipVerify: true}} // #nosec G402: it is compared with the file
	conn, err := dialer.Connect(ctx, x.at[0], true)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].Raw, nil
}
