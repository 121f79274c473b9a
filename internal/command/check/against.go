package check

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/feed"
	"github.com/gophd/gophd/answer/gopher"
	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/ask"
	"github.com/gophd/gophd/internal/command/terminal"
	"github.com/gophd/gophd/internal/source/programs"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/robots/client"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// The codes of differences from a running server.
const (
	CodeGone  = "AGAINST-GONE"  // the old server answers, gophd does not
	CodeLess  = "AGAINST-LESS"  // links that gophd's menu does not have
	CodeMore  = "AGAINST-MORE"  // what gophd has besides
	CodeOrder = "AGAINST-ORDER" // the same links in another order
	CodeText  = "AGAINST-TEXT"  // other lines of text, other bytes
)

// Bounds of a comparison.
const (
	maxAsked   = 20_000 // selectors
	maxReply   = 8 << 20
	replyTime  = 30 * time.Second
	askedPause = 250 * time.Millisecond // between requests, unless robots.txt wants more
)

// A Comparison asks a running server and gophd the same.
type Comparison struct {
	URL    string // gopher://old.example:70/
	Mine   bool   // the server is the user's: its robots.txt and a pause do not matter
	Resume string // a file that keeps what was asked; "" is none
}

// A comparedSelector is one selector in the resume file.
type comparedSelector struct {
	Selector string            `json:"selector"`
	Links    []menu.Item       `json:"links,omitempty"`
	Findings []diag.Diagnostic `json:"findings,omitempty"`
}

// comparing is a comparison on its way.
type comparing struct {
	*checking
	Comparison
	url    selector.URL
	front  *gopher.Front
	rules  *client.HostRules // nil: it does not matter
	pause  time.Duration
	queue  []menu.Item
	known  map[string]bool
	absent map[string][]byte // answers for names that do not exist, by extension
	dead   map[string]bool   // whether links that gophd lacks lead nowhere there, by selector
	file   *os.File
	count  atomic.Int64
}

// Against compares what a running server answers with what gophd would, for every
// selector that the server's menus lead to.
func Against(ctx context.Context, dir string, o Options, with Comparison) (*Outcome, error) {
	u, err := selector.ParseURL(with.URL)
	if err != nil {
		return nil, err
	}
	if u.Port == 0 {
		u.Port = selector.DefaultPort
	}
	if o.Host == "" {
		if tree, err := Tree(ctx, dir, o); err == nil {
			o.Host = tree.Host
		}
	}
	o.Site.Watch = site.WatchOff
	s, err := site.Open(dir, o.Site)
	if err != nil {
		return nil, err
	}
	_, stop, err := s.Read(ctx)
	if err != nil {
		return nil, err
	}
	host := &answer.Host{Site: s, Beside: []answer.Source{&feed.Feeds{}}}
	if len(o.Programs) > 0 {
		all := &programs.Programs{Rules: o.Programs}
		host.Before, host.Runner = []answer.Source{all}, all
	}
	c := &comparing{checking: &checking{ctx: ctx, Options: o, site: s, seen: map[diag.Diagnostic]bool{}, parts: map[Part]*Part{}, users: map[int]string{}},
		Comparison: with, url: u, front: &gopher.Front{Host: host}, known: map[string]bool{}, absent: map[string][]byte{}, dead: map[string]bool{}}
	if err := c.open(dir); err != nil {
		return nil, err
	}
	c.add1(menu.Item{Type: menu.TypeMenu, Selector: u.Selector})
	if err := c.prepare(); err != nil {
		return nil, err
	}
	defer terminal.Progress(o.Progress, func() string {
		return fmt.Sprintf("comparing with %s: %s asked", with.URL, diag.Count(int(c.count.Load()), "selector", "selectors"))
	})()
	err = c.all()
	if c.file != nil {
		err = errors.Join(err, c.file.Close())
	}
	r := c.done()
	r.Asked, r.Classes = int(c.count.Load()), c.classes(r.Findings)
	return r, errors.Join(err, stop())
}

// prepare reads robots.txt, and what an earlier comparison has found.
func (c *comparing) prepare() error {
	if !c.Mine {
		robot := &client.Client{Agent: "gophd-check"}
		rules, err := robot.Get(c.ctx, c.URL)
		if err != nil {
			return err
		}
		if rules.Access == client.Unreachable {
			return fmt.Errorf("%s: %w", c.URL, rules.Err)
		}
		c.rules, c.pause = rules, askedPause
		if delay, ok := rules.CrawlDelay(); ok {
			c.pause = max(c.pause, delay)
		}
	}
	if c.Resume == "" {
		return nil
	}
	f, err := os.OpenFile(c.Resume, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	c.file = f
	done := map[string]bool{}
	for lines := json.NewDecoder(bufio.NewReader(f)); ; {
		var a comparedSelector
		if err := lines.Decode(&a); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("%s: %w", c.Resume, err)
		}
		done[a.Selector] = true
		c.take(a)
	}
	c.queue = slices.DeleteFunc(c.queue, func(it menu.Item) bool { return done[it.Selector] })
	return nil
}

// add1 asks for a selector later, once.
func (c *comparing) add1(it menu.Item) {
	if !c.known[it.Selector] && len(c.known) < maxAsked {
		c.known[it.Selector] = true
		c.queue = append(c.queue, it)
	}
}

// take adds what a selector has shown to the result.
func (c *comparing) take(a comparedSelector) {
	c.count.Add(1)
	for _, d := range a.Findings {
		c.add(d)
	}
	for _, it := range a.Links {
		c.add1(it)
	}
}

// all asks for everything in the queue.
func (c *comparing) all() error {
	for len(c.queue) > 0 {
		it := c.queue[0]
		c.queue = c.queue[1:]
		if c.denied(it.Selector) {
			continue
		}
		old, err := c.old(it.Selector)
		if c.ctx.Err() != nil {
			return c.ctx.Err()
		} else if err != nil {
			return fmt.Errorf("asking %s for %q: %w", c.URL, it.Selector, err)
		}
		a := c.compare(it, old, c.ours(it.Selector))
		if c.take(a); c.file != nil {
			line, err := json.Marshal(a)
			if err == nil {
				_, err = c.file.Write(append(line, '\n'))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// denied reports whether robots.txt keeps the comparison out.
func (c *comparing) denied(sel string) bool {
	return c.rules != nil && sel != "" && !c.rules.Allowed(selector.Canonical(strings.Trim(sel, "/"), strings.HasSuffix(sel, "/")))
}

// old asks the running server, after a pause.
func (c *comparing) old(sel string) ([]byte, error) {
	if len(c.known) > 1 {
		select {
		case <-time.After(c.pause):
		case <-c.ctx.Done():
		}
	}
	ctx, cancel := context.WithTimeout(c.ctx, replyTime)
	defer cancel()
	body, err := ask.Dialer{}.All(ctx, net.JoinHostPort(c.url.Host, strconv.Itoa(c.url.Port)), false, sel+"\r\n", maxReply)
	if errors.Is(err, ask.ErrTooLarge) {
		err = nil
	}
	return body, err
}

// collected holds an answer of gophd.
type collected struct{ bytes.Buffer }

// WriteItem adds an item.
func (r *collected) WriteItem(it menu.Item) error {
	_, _ = r.Write(it.AppendTo(nil))
	return nil
}

// ours asks gophd, in this process.
func (c *comparing) ours(sel string) []byte {
	var w collected
	r := &server.Request{RequestLine: selector.RequestLine{Selector: sel}, Host: c.url.Host, Port: c.url.Port}
	if err := c.front.ServeGopher(&w, r.WithContext(c.ctx)); err != nil {
		return server.ErrorBody(err)
	}
	return bytes.Clone(w.Bytes())
}
