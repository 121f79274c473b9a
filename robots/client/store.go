package client

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// A Store keeps a [Client]'s data about hosts between runs. An origin is a URL
// without a path, such as https://example.org:443. A Client calls its methods
// concurrently, but one at a time for each origin, and answers about a host when its file
// is saved.
type Store interface {
	// Load returns the data last saved for an origin, or an error that is
	// [fs.ErrNotExist].
	Load(ctx context.Context, origin string) ([]byte, error)
	// Save stores data for an origin. It replaces earlier data.
	Save(ctx context.Context, origin string, data []byte) error
}

// DirStore is a [Store] of one file for each origin in a directory, which must exist.
type DirStore string

// maxFileName is how long the name of a file becomes. That of a longer origin ends in a hash.
const maxFileName = 200

func (d DirStore) path(origin string) string {
	name := url.PathEscape(origin)
	if len(name) > maxFileName {
		name = fmt.Sprintf("%.100s_%x", name, sha256.Sum256([]byte(origin)))
	}
	return filepath.Join(string(d), name+".json")
}

// Load is part of [Store].
func (d DirStore) Load(_ context.Context, origin string) ([]byte, error) {
	return os.ReadFile(d.path(origin))
}

// Save is part of [Store]. A crash leaves the old or the new data.
func (d DirStore) Save(_ context.Context, origin string, data []byte) error {
	f, err := os.CreateTemp(string(d), "*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), d.path(origin))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// savedHost is a host as JSON, with the rules that were last fetched.
type savedHost struct {
	memory
	Fetched   time.Time `json:"fetched,omitzero"` // zero: no rules
	URL       string    `json:"url,omitempty"`    // empty: there was no file
	Dialect   string    `json:"dialect,omitempty"`
	Truncated bool      `json:"truncated,omitempty"`
	Text      []byte    `json:"text,omitempty"` // of the file, in base64

	Error string    `json:"error,omitempty"`
	Last  time.Time `json:"last,omitzero"` // request
	Hold  time.Time `json:"hold,omitzero"` // the pace
}

// save writes a host into the store. The caller holds the lock.
func (c *Client) save(ctx context.Context, h *host) error {
	if c.Store == nil {
		return nil
	}
	s := savedHost{memory: h.memory}
	if a := h.good; a != nil {
		s.Fetched = a.Fetched
		s.URL = a.URL
		s.Dialect = a.File.Dialect().String()
		s.Truncated = a.File.Truncated()
		s.Text = a.File.AppendTo(nil)
	}
	if h.err != nil {
		s.Error = h.err.Error()
	}
	s.Last, s.Hold = h.pace.times()
	data, err := json.Marshal(s)
	if err == nil {
		c.unlocked(func() { err = c.Store.Save(ctx, h.origin.String(), data) })
	}
	if err != nil {
		return fmt.Errorf("saving %s: %w", h.origin, err)
	}
	return nil
}

// load reads a host from the store, once. If the store lacks it or fails, h remains
// unchanged. The caller holds the lock.
func (c *Client) load(ctx context.Context, h *host) {
	if c.Store == nil || h.loaded {
		return
	}
	h.loaded = true
	var data []byte
	var err error
	c.unlocked(func() { data, err = c.Store.Load(ctx, h.origin.String()) })
	var s savedHost
	if err != nil || json.Unmarshal(data, &s) != nil {
		return
	}
	good := &HostRules{Access: Unavailable, URL: s.URL, Fetched: s.Fetched}
	if s.URL != "" {
		dialect, err := readers.ParseDialect(s.Dialect)
		if err != nil {
			return
		}
		good.Access = Successful
		good.File = robots.Parser{Dialect: dialect, Truncated: s.Truncated}.Parse(s.Text)
	}

	h.pace.update(func() { h.pace.last, h.pace.hold = s.Last, s.Hold })
	h.memory = s.memory
	switch s.Error {
	case "":
	case errEmpty.Error():
		h.err = errEmpty
	default:
		h.err = errors.New(s.Error)
	}
	if s.Fetched.IsZero() {
		h.validity = validity{}
		c.count(h)
	} else {
		c.keep(h, good)
	}
	c.shrink(h)
}

// Flush saves all hosts that must not be requested now, with the times of their last
// requests. Files are saved when they are fetched. Flush also returns the last error of the
// Store since it was last called.
func (c *Client) Flush(ctx context.Context) error {
	if c.Store == nil {
		return nil
	}
	c.cache.mu.Lock()
	defer c.cache.mu.Unlock()
	var waiting []*host
	for e := c.cache.recent.Front(); e != nil; e = e.Next() {
		if h := e.Value.(*host); h.pace.busy(time.Now()) {
			waiting = append(waiting, h)
		}
	}
	all := c.cache.saved
	c.cache.saved = nil
	for _, h := range waiting {
		all = errors.Join(all, c.save(ctx, h))
	}
	return all
}
