package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gophd/gophd/robots/internal/dial"
)

// A Store keeps a [Client]'s data about hosts between runs. An origin is a URL
// without a path, such as https://example.org:443. A Client calls its methods
// concurrently, but one at a time for each origin, and answers about a host when its file
// is saved.
type Store interface {
	// List returns the origins that were saved, in any order.
	List(ctx context.Context) ([]string, error)
	// Load returns the data last saved for an origin, or an error that is
	// [fs.ErrNotExist].
	Load(ctx context.Context, origin string) ([]byte, error)
	// Save stores data for an origin. It replaces earlier data.
	Save(ctx context.Context, origin string, data []byte) error
}

// DirStore is a [Store] of one file for each origin in a directory, which must exist.
type DirStore string

const storeSuffix = ".json"

// maxFileName is how long the name of a file becomes. A longer origin is a directory with
// the first part of its name, and a file in it with the rest.
const maxFileName = 200

func (d DirStore) path(origin string) string {
	name := url.PathEscape(origin)
	if len(name) > maxFileName {
		return filepath.Join(string(d), name[:maxFileName]+"_", name[maxFileName:]+storeSuffix)
	}
	return filepath.Join(string(d), name+storeSuffix)
}

// List is part of [Store].
func (d DirStore) List(context.Context) (origins []string, err error) {
	entries, err := os.ReadDir(string(d))
	add := func(name string) {
		name, ok := strings.CutSuffix(name, storeSuffix)
		if origin, err := url.PathUnescape(name); ok && err == nil {
			origins = append(origins, origin)
		}
	}
	for _, e := range entries {
		first, long := strings.CutSuffix(e.Name(), "_")
		if !e.IsDir() || !long {
			add(e.Name())
			continue
		}
		rest, failed := os.ReadDir(filepath.Join(string(d), e.Name()))
		err = errors.Join(err, failed)
		for _, r := range rest {
			add(first + r.Name())
		}
	}
	return origins, err
}

// Load is part of [Store].
func (d DirStore) Load(_ context.Context, origin string) ([]byte, error) {
	return os.ReadFile(d.path(origin))
}

// Save is part of [Store]. A crash leaves the old or the new data.
func (d DirStore) Save(_ context.Context, origin string, data []byte) error {
	path := d.path(origin)
	dir := filepath.Dir(path)
	if dir != filepath.Clean(string(d)) {
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	f, err := os.CreateTemp(dir, "*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// savedHost is a host as JSON.
type savedHost struct {
	memory
	Answer *HostRules `json:"answer,omitempty"`
	Error  string     `json:"error,omitempty"`
	Last   time.Time  `json:"last,omitzero"` // request
	Hold   time.Time  `json:"hold,omitzero"` // the pace
}

// save writes a host into the store. The caller must not hold the lock.
func (c *Client) save(ctx context.Context, h *host) error {
	if c.Store == nil {
		return nil
	}
	c.cache.mu.Lock()
	s := savedHost{memory: h.memory, Answer: h.good}
	if h.err != nil {
		s.Error = h.err.Error()
	}
	s.Last, s.Hold = h.pace.times()
	data, err := json.Marshal(s)
	c.cache.mu.Unlock()
	if err == nil {
		err = c.Store.Save(ctx, h.origin.String(), data)
	}
	if err != nil {
		return fmt.Errorf("saving %s: %w", h.origin, err)
	}
	return nil
}

// load reads a host from the store, once. If the store lacks it or fails, h remains
// unchanged.
func (c *Client) load(ctx context.Context, h *host) {
	if c.Store == nil {
		return
	}
	c.cache.mu.Lock()
	loaded := h.loaded
	h.loaded = true
	c.cache.mu.Unlock()
	if loaded {
		return
	}
	data, err := c.Store.Load(ctx, h.origin.String())
	var s savedHost
	if err != nil || json.Unmarshal(data, &s) != nil {
		return
	}
	h.pace.setTimes(s.Last, s.Hold)
	c.cache.mu.Lock()
	defer c.cache.mu.Unlock()
	if !h.Tried.IsZero() {
		return // fetched meanwhile
	}
	h.memory = s.memory
	if s.Error != "" {
		h.err = storedError(s.Error)
	}
	if s.Answer != nil {
		c.keep(h, s.Answer)
	}
	h.Had = h.Had || s.Had
	c.count(h)
	c.shrink(h)
}

// storedError returns the error that a text describes.
func storedError(text string) error {
	if text == errEmpty.Error() {
		return errEmpty
	}
	return errors.New(truncate(text, maxErrorText))
}

// Restore reads all hosts of the Store. Without it each is read when it is first needed.
func (c *Client) Restore(ctx context.Context) error {
	if c.Store == nil {
		return nil
	}
	origins, err := c.Store.List(ctx)
	if err != nil {
		return err
	}
	for _, origin := range origins {
		_, o, err := dial.ParseURL(origin, dial.FilePorts)
		if err != nil {
			continue
		}
		c.cache.mu.Lock()
		h := c.host(o)
		c.cache.mu.Unlock()
		c.load(ctx, h)
	}
	return nil
}

// Flush saves all hosts that must not be requested now, with the times of their last
// requests. Files are saved when they are fetched. Flush also returns the last error of the
// Store since it was last called.
func (c *Client) Flush(ctx context.Context) error {
	if c.Store == nil {
		return nil
	}
	var waiting []*host
	c.cache.mu.Lock()
	for e := c.cache.recent.Front(); e != nil; e = e.Next() {
		if h := e.Value.(*host); h.pace.busy(time.Now()) {
			waiting = append(waiting, h)
		}
	}
	all := c.cache.saved
	c.cache.saved = nil
	c.cache.mu.Unlock()
	for _, h := range waiting {
		all = errors.Join(all, c.save(ctx, h))
	}
	return all
}
