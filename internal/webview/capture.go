package webview

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
)

// ask is a request in Gopher of the client that asks in HTTP.
func ask(r *server.Request, sel, query string) *server.Request {
	asked := *r
	asked.RequestLine = selector.RequestLine{Selector: sel, Query: query}
	return &asked
}

// capture is a server.ResponseWriter that keeps the reply.
type capture struct {
	bytes.Buffer
	asked *server.Request
	limit int
	turn  *turn // that a large reply has to take; nil: none
	items bool  // it is written item by item
}

func captureFor(r *server.Request, limit int, mine *turn) *capture {
	return &capture{asked: r, limit: limit, turn: mine}
}

var errTooLarge = &server.Error{Kind: server.Internal, Err: errors.New("the reply is too large for a page")}

// Write adds bytes.
func (c *capture) Write(p []byte) (int, error) {
	if c.Len()+len(p) > c.limit {
		return 0, errTooLarge
	}
	if c.turn != nil && c.Len()+len(p) > largeReply {
		if err := c.turn.take(); err != nil {
			return 0, err
		}
	}
	return c.Buffer.Write(p)
}

// WriteItem adds an item.
func (c *capture) WriteItem(it menu.Item) error {
	c.items = true
	if it.Host == "" && it.Type != menu.TypeInfo && it.Type != menu.TypeError {
		it.Host, it.Port = c.asked.Host, c.asked.Port
	}
	_, err := c.Write(it.AppendTo(nil))
	return err
}

// menu returns the reply as items, if it is a menu: each line parses, and a dot
// stands at the end.
func (c *capture) menu() ([]menu.Item, bool) {
	text := c.String()
	if c.items {
		text += menu.End
	}
	return menu.Parse(text)
}

// content answers from memory: HEAD, ranges and conditions included.
func content(w http.ResponseWriter, r *http.Request, body []byte) {
	sum := sha256.Sum256(body)
	w.Header().Set("ETag", `"`+base64.RawURLEncoding.EncodeToString(sum[:12])+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

const (
	plainText = "text/plain; charset=utf-8"
	htmlText  = "text/html; charset=utf-8"
)

// readable returns a text as a page can show it: in UTF-8, from Latin-1 if it is
// none, with LF at the ends of lines, without control characters.
func readable(text []byte) string {
	s := string(text)
	if !utf8.ValidString(s) {
		s = menu.FromLatin1(s)
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || 0x7f <= r && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}
