package web

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gophd/gophd/menu"
)

const (
	plainText = "text/plain; charset=utf-8"
	htmlText  = "text/html; charset=utf-8"
)

// content answers from memory: HEAD, ranges and conditions included.
func content(w http.ResponseWriter, r *http.Request, kind string, body []byte, tag string) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("ETag", cmp.Or(tag, tagOf(body)))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// tagOf is the ETag of a body.
func tagOf(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}

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
