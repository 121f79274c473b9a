package doctor

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/ask"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/site"
)

// heard is what the server has answered, or why it has not.
type heard struct {
	body []byte
	err  error
}

// maxReply bounds a reply.
const maxReply = 16 << 20

// ask asks the server for a selector over Gopher. It remembers the reply.
func (x *examination) ask(ctx context.Context, sel string) ([]byte, error) {
	if r, ok := x.said[sel]; ok {
		return r.body, r.err
	}
	body, err := x.exchange(ctx, sel+"\r\n")
	x.said[sel] = heard{body, err}
	return body, err
}

func (x *examination) exchange(ctx context.Context, request string) ([]byte, error) {
	if len(x.at) == 0 {
		return nil, errNoPort
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return ask.Dialer{}.All(ctx, x.at[0].String(), false, request, maxReply)
}

var errNoPort = errors.New("no port to ask at")

func (x *examination) dial(ctx context.Context) (net.Conn, error) {
	if len(x.at) == 0 {
		return nil, errNoPort
	}
	conn, err := ask.Dialer{}.Connect(ctx, x.at[0].String(), false)
	if err == nil {
		err = conn.SetDeadline(time.Now().Add(askTimeout))
	}
	return conn, err
}

// robots compares the robots.txt that is served with the policy of the tree now.
func (x *examination) robots(ctx context.Context) []Finding {
	switch {
	case x.silent != "":
		return okf("%s", x.silent)
	case x.snap == nil:
		return nil
	}
	served, err := x.ask(ctx, "robots.txt")
	if err != nil {
		return faultf(x.restart(), "the server does not answer: %v", err)
	}
	want := x.snap.Robots
	if x.flags.Sitemap {
		want = x.withSitemaps(ctx, served)
	}
	switch {
	case bytes.Equal(served, want):
		return okf("as the annotations say, %d bytes", len(served))
	case !bytes.HasPrefix(served, []byte("# robots.txt made by gophd")) && bytes.HasPrefix(want, []byte("# robots.txt made by gophd")):
		return faultf(diag.Command("gophd", "doctor", "-only", "port"), "the server at %s is not gophd, or serves another tree", x.at[0])
	}
	return faultf(x.reload(), "what is served differs from what the annotations say: %s", firstDifference(string(served), string(want)))
}

// withSitemaps reads the tree again, for the file with the sitemaps that are served: the
// server alone knows the URLs of its own.
func (x *examination) withSitemaps(ctx context.Context, served []byte) []byte {
	own, had := robots.Parse(robots.RFC9309, x.snap.Robots).Sitemaps(), x.snap
	x.readTree(ctx, slices.DeleteFunc(robots.Parse(robots.RFC9309, served).Sitemaps(), func(url string) bool { return slices.Contains(own, url) })...)()
	with := x.snap
	if x.snap = had; with == nil {
		with = had
	}
	return with.Robots
}

// reload is the command that makes the server read everything again.
func (x *examination) reload() string {
	switch {
	case x.Settings != nil:
		return diag.Command("kill", "-HUP", x.pid())
	case x.unit == nil:
		return diag.Command("rc-service", "gophd", "reload")
	}
	return diag.Command("systemctl", "reload", "gophd")
}

func firstDifference(served, want string) string {
	a, b := strings.Split(served, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return fmt.Sprintf("line %d", i+1)
		}
	}
	return "the end"
}

// noindex asks for pages as a browser does, and compares X-Robots-Tag with the policy: of
// the start, and of the top-level directories.
func (x *examination) noindex(ctx context.Context) []Finding {
	if x.flags.HTTP != "view" || x.snap == nil || x.silent != "" {
		return nil
	}
	everywhere := strings.EqualFold(x.snap.Compiled.Fields().Index, "deny")
	names := []string{"."}
	for _, dir := range x.snap.Tree.Dirs {
		names = append(names, dir.Name)
	}
	marked := 0
	for _, name := range names[:min(len(names), 50)] {
		sel := selector.Canonical(name, true)
		r, err := x.page(ctx, cmp.Or(sel, "/"))
		if err != nil {
			return faultf(x.restart(), "no page at %s: %v", sel, err)
		}
		_ = r.Body.Close()
		if r.StatusCode != http.StatusOK {
			continue
		}
		has := strings.Contains(r.Header.Get("X-Robots-Tag"), "noindex")
		if want := everywhere || x.snap.Compiled.DeniedToAll(name, true); has != want {
			return faultf(x.reload(), "the page of %s has noindex: %t; the annotations say: %t", cmp.Or(sel, "/"), has, want)
		}
		if has {
			marked++
		}
	}
	return okf("%d of %d pages, as the annotations say", marked, min(len(names), 50))
}

// page requests the head of a page.
func (x *examination) page(ctx context.Context, sel string) (*http.Response, error) {
	conn, err := x.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, "http://localhost/", nil)
	if err != nil {
		return nil, err
	}
	r.URL.Path, r.Host = sel, cmp.Or(x.flags.Host, x.at[0].Addr().String())
	r.Header.Set("Accept", "text/html")
	r.Close = true
	if err := r.Write(conn); err != nil {
		return nil, err
	}
	return http.ReadResponse(bufio.NewReader(conn), r)
}

// search asks for the newest texts by name: the index must have them.
func (x *examination) search(ctx context.Context) []Finding {
	if !x.flags.Search || x.snap == nil || x.silent != "" {
		return nil
	}
	texts := x.newest(3)
	for _, name := range texts {
		sel := selector.Canonical(name, false)
		words := strings.Map(func(r rune) rune {
			if r < 0x80 && !('a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9') {
				return ' '
			}
			return r
		}, filepath.Base(name))
		got, err := x.ask(ctx, "/search\t"+strings.TrimSpace(words))
		switch {
		case err != nil:
			return faultf(x.restart(), "/search does not answer: %v", err)
		case bytes.Contains(got, []byte("The index is being built")), bytes.Contains(got, []byte("\r\n1More results\t")):
			continue
		case !bytes.Contains(got, []byte("\t"+sel+"\t")):
			return faultf(x.restart(), "%s is not found by its name: the index does not follow the tree", sel)
		}
	}
	return okf("finds %d of the newest texts", len(texts))
}

// newest returns the names of the newest texts that robots may fetch. What is younger than
// ten seconds may still be on its way into the index.
func (x *examination) newest(n int) []string {
	type text struct {
		name string
		when time.Time
	}
	var all []text
	var walk func(dir *site.Dir, at string)
	walk = func(dir *site.Dir, at string) {
		for _, file := range dir.Files {
			name, when := selector.Join(at, file.Name), time.Unix(0, file.Modified)
			if typ, known := menu.TypeOf(file.Name); file.Type != typ || !known || typ != menu.TypeText || time.Since(when) < 10*time.Second || x.snap.Compiled.DeniedToAll(name, false) {
				continue
			}
			all = append(all, text{name, when})
		}
		for _, sub := range dir.Dirs {
			walk(sub, selector.Join(at, sub.Name))
		}
	}
	walk(x.snap.Tree, ".")
	slices.SortFunc(all, func(a, b text) int { return b.when.Compare(a.when) })
	var names []string
	for _, t := range all[:min(len(all), n)] {
		names = append(names, t.name)
	}
	return names
}

// served returns the certificate that the server shows for a name.
func (x *examination) served(ctx context.Context, name string) (cert []byte, err error) {
	conn, err := x.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	if _, err := netip.ParseAddr(name); err == nil {
		name = ""
	}
	c := tls.Client(conn, &tls.Config{ServerName: name, InsecureSkipVerify: true}) // it is compared with the file
	if err := c.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	return c.ConnectionState().PeerCertificates[0].Raw, nil
}
