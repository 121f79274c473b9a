package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gophd/gophd/menu"
)

const (
	plainText = "text/plain; charset=utf-8"
	htmlText  = "text/html; charset=utf-8"
)

// etag returns the ETag of a body, which may be compressed.
func etag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}

// content sends a body from memory. It supports HEAD, ranges and conditional requests.
func content(w http.ResponseWriter, r *http.Request, body []byte) {
	if h := w.Header(); h.Get("Content-Encoding") != "" && r.Header.Get("Range") == "" {
		h.Set("Content-Length", strconv.Itoa(len(body))) // which ServeContent leaves out
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// stream sends a body that is generated while it is sent. It records an error that makes it
// incomplete.
func stream(w http.ResponseWriter, r *http.Request, body io.Reader, zip bool) {
	if zip {
		w.Header().Set("Content-Encoding", "gzip")
	}
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	made := &errorReader{Reader: body}
	if zip {
		z := gzip.NewWriter(w)
		if _, err := io.Copy(z, made); err == nil {
			_ = z.Close() // or the client is gone
		}
	} else {
		_, _ = io.Copy(w, made)
	}
	w.(*recorder).broke = made.err
}

// errorReader is a reader that records its error.
type errorReader struct {
	io.Reader
	err error
}

func (r *errorReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// smallText is the size in bytes up to which texts are not compressed.
const smallText = 1 << 10

// compressed returns a text in gzip, or nil if that is not shorter.
func compressed(text []byte) []byte {
	if len(text) <= smallText {
		return nil
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil || z.Close() != nil || b.Len() >= len(text) {
		return nil
	}
	return b.Bytes()
}

// takesGzip reports whether a client accepts gzip. Range requests are sent uncompressed.
func takesGzip(r *http.Request) bool {
	if r.Header.Get("Range") != "" {
		return false
	}
	for field := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, params, _ := strings.Cut(field, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			q, weighted := strings.CutPrefix(strings.TrimSpace(params), "q=")
			n, err := strconv.ParseFloat(q, 64)
			return !weighted || err == nil && n > 0
		}
	}
	return false
}

// readable converts a text for a page: to UTF-8, from Latin-1 if it is not UTF-8, with LF as the
// end of lines, without control characters except ESC.
func readable(text []byte) string {
	s := string(text)
	if !utf8.ValidString(s) {
		s = menu.FromLatin1(s)
	}
	// BEL may end a command to a terminal; ESC \ does, too, and is dropped elsewhere.
	s = strings.NewReplacer("\r\n", "\n", "\a", "\x1b\\").Replace(s)
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' && r != '\x1b' || 0x7f <= r && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}
