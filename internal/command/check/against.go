package check

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gophd/gophd/answer/gopher"
	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/ask"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/robots/client"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
)

// The codes of differences from a running server.
const (
	codeGone   = "AGAINST-GONE"   // the old server answers, gophd does not
	codeLess   = "AGAINST-LESS"   // links that gophd's menu does not have
	codeMore   = "AGAINST-MORE"   // what gophd has besides
	codeOrder  = "AGAINST-ORDER"  // the same links in another order
	codeText   = "AGAINST-TEXT"   // other lines of text, other bytes
	codeSilent = "AGAINST-SILENT" // the old server was busy, or sent nothing, each time
)

// Bounds of a comparison. Replies are compared one by one, and not kept.
const (
	maxAsked    = 20_000 // selectors
	maxSelector = 1024   // bytes; longer ones are not requested
	maxReply    = 8 << 20
	replyTime   = 30 * time.Second
	askedPause  = 250 * time.Millisecond // between requests, unless robots.txt wants more
	maxTries    = 5                      // of one selector that the server does not answer
	maxRefused  = 3                      // such selectors in a row, after which none is tried
)

// A comparison sends the same requests to a running server and to gophd.
type comparison struct {
	URL  string // gopher://old.example:70/
	Mine bool   // the server is the user's: its robots.txt and a pause do not matter
}

// A Difference counts differences of one kind in what one owner has in one tree.
type Difference struct {
	Tree  string `json:"tree"`
	Owner string `json:"owner"`
	Code  string `json:"code"`
	Count int    `json:"count"`
}

// comparing is a comparison in progress.
type comparing struct {
	*checking
	comparison
	url    selector.URL
	server *server.Server
	rules  *client.HostRules
	own    map[string]bool // names of the old server

	queue  []menu.Item
	known  map[string]bool
	gone   map[string]bool              // resources that gophd lacks and that were lost before, or are reported
	absent map[string][sha256.Size]byte // digests of replies for names that do not exist, by extension
	less   map[string][]menu.Item       // links of old menus that gophd's do not have
}

// compare compares what a running server answers with what gophd would, for every
// selector that the server's menus lead to.
func compare(ctx context.Context, dir string, o Options, with comparison) (*Outcome, error) {
	u, err := selector.ParseURL(with.URL)
	if err != nil {
		return nil, err
	}

	// Read the old server's robots.txt.
	rules := &client.HostRules{Pace: &client.Pace{Min: time.Nanosecond}}
	if !with.Mine {
		rules, err = (&client.Client{Agent: "gophd-check", MinDelay: askedPause}).Get(ctx, with.URL)
		if err == nil && rules.Access == client.Unreachable {
			err = fmt.Errorf("%s: %w", with.URL, rules.Err)
		}
		if err != nil {
			return nil, err
		}
	}
	base, stop, err := begin(ctx, dir, "comparing with "+with.URL, o)
	if err != nil {
		return nil, err
	}
	c := &comparing{
		checking:   base,
		comparison: with,
		url:        u,
		server: &server.Server{
			Handler: &gopher.Front{Host: base.host},
			Host:    u.Host,
			Port:    u.Port,
			Log:     slog.New(slog.DiscardHandler),
		},
		rules: rules,
		own: map[string]bool{
			strings.ToLower(u.Host):                 true,
			strings.ToLower(cmp.Or(o.Host, u.Host)): true,
		},
		known:  map[string]bool{},
		gone:   map[string]bool{},
		absent: map[string][sha256.Size]byte{},
		less:   map[string][]menu.Item{},
	}

	// Follow the old server's links.
	c.enqueue(menu.Item{Type: menu.TypeMenu, Selector: u.Selector})
	if err := c.all(); err != nil {
		return nil, errors.Join(err, stop())
	}
	for sel, links := range c.less { // gophd may have nothing at their ends
		lost := slices.DeleteFunc(links, func(it menu.Item) bool {
			return c.gone[resource(it.Selector)]
		})
		if len(lost) > 0 {
			c.found(sel, diag.Error, codeLess, "%s not in gophd's menu, the first: %s %.60q",
				diag.Count(len(lost), "link is", "links are"), lost[0].Selector, lost[0].Label)
		}
	}
	r := c.done()
	r.Asked = int(c.checked.Load())
	for _, p := range r.Parts {
		for _, code := range slices.Sorted(maps.Keys(p.codes)) {
			r.Classes = append(r.Classes, Difference{p.Tree, p.Owner, code, p.codes[code]})
		}
	}
	return r, stop()
}

// enqueue notes what is to be requested, each selector once, unless robots.txt denies it.
func (c *comparing) enqueue(links ...menu.Item) {
	for _, it := range links {
		sel := it.Selector
		if c.known[sel] || len(c.known) >= maxAsked || len(sel) > maxSelector ||
			!c.Mine && sel != "" &&
				!c.rules.Allowed(selector.Canonical(strings.Trim(sel, "/"),
					strings.HasSuffix(sel, "/"))) {
			continue
		}
		sel = strings.Clone(sel)
		c.known[sel] = true
		c.queue = append(c.queue, menu.Item{Type: it.Type, Selector: sel})
	}
}

// all requests everything in the queue. Once the server answers no selector of several in a row,
// it does not try the rest.
func (c *comparing) all() error {
	var last error
	for refused := 0; len(c.queue) > 0; {
		it := c.queue[0]
		c.queue = c.queue[1:]
		if refused < maxRefused {
			err := c.one(it)
			if err == nil {
				refused = 0
				continue
			}
			if c.ctx.Err() != nil || it.Selector == c.url.Selector {
				return fmt.Errorf("%s does not answer: %w", c.URL, err)
			}
			last = err
			refused++
		}
		c.result.Silent++
		c.found(it.Selector, diag.Warning, codeSilent, "not compared: %v", last)
	}
	return nil
}

// one requests a selector of both, and reports how they differ.
func (c *comparing) one(it menu.Item) error {
	ours, weFail := c.ours(it.Selector)
	isEmpty := !weFail && len(bytes.Trim(ours, ".\r\n")) == 0 // a text or a menu, of which others send nothing
	old, err := c.old(it.Selector, isEmpty)
	if err != nil {
		return err
	}
	_, oldFails := ask.IsError(old)
	if weFail && !oldFails {
		if oldFails, err = c.isAbsent(it.Selector, old); err != nil {
			return err
		}
	}
	c.checked.Add(1)
	if weFail || oldFails {
		c.gone[resource(it.Selector)] = true
	}
	switch {
	case oldFails && weFail:
	case oldFails:
		c.found(it.Selector, diag.Notice, codeMore, "gophd answers, the other server does not")
	case weFail:
		line, _, _ := strings.Cut(string(ours), "\r\n")
		c.found(it.Selector, diag.Error, codeGone, "gophd does not answer: %.60q", line)
		if it.Type == menu.TypeMenu {
			links, _ := c.parse(old)
			c.enqueue(links...)
		}
	case it.Type == menu.TypeMenu:
		c.compareMenus(it.Selector, old, ours)
	case !bytes.Equal(plainText(old), plainText(ours)):
		c.found(it.Selector, diag.Warning, codeText, "the other server sends %d bytes, gophd %d",
			len(old), len(ours))
	}
	return nil
}

func (c *comparing) found(sel string, severity diag.Severity, code, format string, args ...any) {
	c.find("", severity, code, cmp.Or(strings.Trim(sel, "/"), "."), 0, "", format, args...)
}

// compareMenus reports differences of two menus, and follows the old one's links.
func (c *comparing) compareMenus(sel string, old, ours []byte) {
	if sel == c.url.Selector {
		c.nameItself(old)
	}
	theirs, their := c.parse(old)
	links, text := c.parse(ours)
	c.enqueue(theirs...)
	less, more := missing(theirs, links), missing(links, theirs)
	if len(less) > 0 {
		c.less[sel] = less[:min(len(less), maxAsked)]
	}
	if len(more) > 0 {
		c.found(sel, diag.Notice, codeMore, "%s only in gophd's menu, the first: %s",
			diag.Count(len(more), "link is", "links are"), more[0].Selector)
	}
	if len(less)+len(more) == 0 && !slices.EqualFunc(theirs, links, func(a, b menu.Item) bool {
		return resource(a.Selector) == resource(b.Selector) &&
			(a.Type == menu.TypeMenu) == (b.Type == menu.TypeMenu)
	}) {
		c.found(sel, diag.Notice, codeOrder, "the same links in another order")
	}
	if their != text {
		c.found(sel, diag.Notice, codeText, "other lines of text around the links")
	}
}

// nameItself finds the name that the old server has for itself: the one host at its port
// to which most links of its root lead.
func (c *comparing) nameItself(root []byte) {
	counts := map[string]int{}
	all, best := 0, ""
	for _, it := range items(root) {
		if it.Type == menu.TypeInfo || it.Type == menu.TypeError || isURL(it.Selector) {
			continue
		}
		all++
		if it.Port == c.url.Port {
			counts[it.Host]++
			if counts[it.Host] > counts[best] || counts[it.Host] == counts[best] && it.Host < best {
				best = it.Host
			}
		}
	}
	if best != "" && !c.own[best] && counts[best]*2 > all {
		c.own[best] = true
		c.result.Host = best
		c.found("", diag.Notice, codeHost,
			"the server calls itself %s: links to that name are compared", best)
	}
}

// isURL reports whether a selector leads out of Gopher.
func isURL(sel string) bool {
	return strings.HasPrefix(strings.TrimPrefix(sel, "/"), "URL:") || strings.Contains(sel, "://")
}

// items returns the items of a menu, with hosts in small letters.
func items(body []byte) (all []menu.Item) {
	for line := range strings.Lines(string(body)) {
		if it, err := menu.ParseItem(line); err == nil {
			it.Host = strings.ToLower(it.Host)
			all = append(all, it)
		}
	}
	return all
}

// parse returns the links of a menu to the server itself, and all its lines of text.
func (c *comparing) parse(body []byte) (links []menu.Item, text string) {
	for _, it := range items(body) {
		switch {
		case it.Type == menu.TypeInfo:
			text += strings.TrimSpace(it.Label) + "\n"
		case !c.own[it.Host] || it.Port != c.url.Port && it.Host != strings.ToLower(c.Host):
		case isURL(it.Selector), strings.IndexByte("3278T", it.Type) >= 0:
		default:
			links = append(links, it)
		}
	}
	return links, strings.TrimSpace(text)
}

// old requests a selector of the running server, again while the server is busy or sends nothing,
// unless nothing is what gophd sends.
func (c *comparing) old(sel string, mayBeEmpty bool) (body []byte, err error) {
	for range maxTries {
		if err := c.rules.Pace.Wait(c.ctx); err != nil {
			return nil, err
		}
		body, err = c.reply(ask.Dialer{}, c.url.TLS, sel)
		message, isError := ask.IsError(body)
		switch {
		case c.ctx.Err() != nil:
			return nil, c.ctx.Err()
		case err != nil:
		case len(body) == 0 && !mayBeEmpty:
			err = errors.New("the server closed the connection without a byte")
		case isError && ask.IsBusy(message):
			err = fmt.Errorf("the server answers: %q", message)
		default:
			c.rules.Pace.Answered()
			return body, nil
		}
		c.rules.Pace.Refused()
	}
	return nil, err
}

// isAbsent reports whether a reply is what the other server sends for a missing file with that
// extension: some send a picture, gophernicus a line of text.
func (c *comparing) isAbsent(sel string, old []byte) (bool, error) {
	if bytes.HasPrefix(old, []byte("Error: ")) &&
		bytes.Count(bytes.TrimSpace(old), []byte("\n")) == 0 {
		return true, nil
	}
	ext := strings.Clone(path.Ext(sel))
	if _, known := c.absent[ext]; !known {
		body, err := c.old("/gophd-check-no-such-name"+ext, false)
		if err != nil {
			return false, err
		}
		c.absent[ext] = sha256.Sum256(body)
	}
	return sha256.Sum256(old) == c.absent[ext], nil
}

// ours returns the reply of gophd, in this process.
func (c *comparing) ours(sel string) (body []byte, fails bool) {
	here := ask.Dialer{Dial: func(context.Context, string, string) (net.Conn, error) {
		client, served := net.Pipe()
		go c.server.ServeConn(c.ctx, served)
		return client, nil
	}}
	body, _ = c.reply(here, false, sel)
	_, fails = ask.IsError(body)
	return body, fails
}

// reply requests a selector. Replies of both servers are cut at the same length.
func (c *comparing) reply(from ask.Dialer, secure bool, sel string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(c.ctx, replyTime)
	defer cancel()
	addr := net.JoinHostPort(c.url.Host, strconv.Itoa(c.url.Port))
	body, err := from.All(ctx, addr, secure, sel+"\r\n", maxReply)
	if errors.Is(err, ask.ErrTooLarge) {
		err = nil
	}
	return body, err
}

// resource returns one form for all that a selector is written as in old links: with
// escapes, empty elements, "." or ".." in it.
func resource(sel string) string {
	if forms := selector.Forms(sel); len(forms) > 0 {
		sel = forms[len(forms)-1]
	}
	return path.Clean("/" + sel)
}

// missing returns the links of one menu that the other does not have.
func missing(from, in []menu.Item) (list []menu.Item) {
	has := make(map[string]bool, len(in))
	for _, it := range in {
		has[resource(it.Selector)] = true
	}
	for _, it := range from {
		if !has[resource(it.Selector)] {
			list = append(list, it)
		}
	}
	return list
}

// plainText returns a text in the form that all servers share: without CR, and without a dot at
// the end.
func plainText(body []byte) []byte {
	body = bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	return bytes.TrimRight(bytes.TrimSuffix(body, []byte("\n.\n")), "\n")
}

// tooFew reports whether a comparison has seen the root menu alone, and no loss.
func (r *Outcome) tooFew() bool { return r.Asked == 1 && r.Lost == 0 }
