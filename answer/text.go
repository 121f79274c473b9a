package answer

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"sync"
	"unicode"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// smallFile is the size from which files leave through sendfile(2), in bytes;
// smaller ones are read, and kept: to copy so much from memory costs about as much
// as to open and close a file does.
const smallFile = 96 << 10

// ready answers with a file that is to be sent by sendfile(2).
func (h *Host) ready(r *server.Request, form *Format) (a server.Answer, ok bool) {
	if form.Draws != nil || form.Seek || selector.IsEscaped(r.Selector) {
		return a, false
	}
	name, dir, err := selector.Path(r.Selector)
	if err != nil || dir || menu.IsMenuFile(path.Base(name)) || h.closed(name, false, r.Selector) {
		return a, false
	}
	f, ok := h.view(r.Context(), form).Ready(name, smallFile)
	if !ok {
		return a, false
	}
	if mayBeText(name) && (!f.Resident() || h.charsetOf(name, &f, f.Size()) != menu.CharsetUTF8) {
		f.Close()
		return a, false
	}
	return server.Answer{File: &f}, true
}

// file answers with a file as long as it was when it was opened: one that grows
// meanwhile ends there, one that shrinks ends where it does, which is an error.
func (v *visit) file(f *site.Resource) (*Value, error) {
	a := &Value{Class: File, Selector: selector.Canonical(f.Name, false), Type: fileType(f), Size: f.Info.Size(), Stream: f, name: f.Name}
	switch {
	case v.Format.Draws != nil && v.Format.Draws(a):
		_ = f.Close()
		return v.make(f.Name, false, func(_ *Asked, made *Value) error {
			made.Class, made.Type, made.Size, made.Keep = File, a.Type, a.Size, true
			return nil
		})
	case v.Format.Seek:
		a.Resource = f
		if isLabelled(f.Name) {
			a.Charset = v.Host.charsetOf(f.Name, f, a.Size).Label()
		}
	case a.Size < smallFile:
		defer func() { _ = f.Close() }()
		return v.small(f, a)
	case isLabelled(f.Name):
		a.Charset = menu.CharsetUTF8.Label()
		if c := v.Host.charsetOf(f.Name, f, a.Size); a.Type != menu.TypeText {
			a.Charset = c.Label()
		} else if c != menu.CharsetUTF8 && c != menu.CharsetAuto {
			a.Stream = &decoded{c.Reader(&whole{io.LimitedReader{R: f, N: a.Size}}), f}
			a.Size = -1
		} else {
			a.Charset = c.Label()
		}
	}
	return a, nil
}

// decoded reads a text as UTF-8.
type decoded struct {
	io.Reader
	io.Closer
}

// Text returns the text of a File as UTF-8, for Format.Draw.
func (q *Asked) Text(a *Value) ([]byte, error) {
	body, err := q.File(a)
	if err != nil || a.name == "" {
		return body, err
	}
	body, a.Charset = q.Host.utf8(a.name, body, true)
	return body, nil
}

// File returns all of a File, for Format.Draw.
func (q *Asked) File(a *Value) ([]byte, error) {
	if a.name == "" {
		return a.Body, nil
	}
	f, err := q.View.Lookup(a.name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	body, err := contents(f, a.Size)
	if isLabelled(a.name) {
		a.Charset = q.Host.Charset.Of(a.name, body, true).Label()
	}
	return body, err
}

// contents reads a file of some size, or less if it has become shorter.
func contents(f *site.Resource, size int64) ([]byte, error) {
	body := make([]byte, size)
	n, err := io.ReadFull(f, body)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("reading %s: %w", f.Name, err)
	}
	return body[:n], nil
}

// Read returns the beginning of a text of the site as UTF-8, "" of a file that is none, and
// whether that is all of it.
func (q *Asked) Read(name string, most int) (text string, whole bool, err error) {
	f, err := q.View.Lookup(name)
	if err != nil {
		return "", false, err
	}
	defer func() { _ = f.Close() }()
	if fileType(f) != menu.TypeText {
		return "", false, nil
	}
	body, err := io.ReadAll(io.LimitReader(f, int64(most)))
	if err != nil {
		return "", false, err
	}
	whole = f.Info.Size() <= int64(most)
	body, _ = q.Host.utf8(name, body, whole)
	return string(body), whole, nil
}

// OwnersLine returns the first line of a file in the root, in which the site's owner says
// something about all of it; "" if there is none.
func (q *Asked) OwnersLine(name string) string {
	f, err := q.View.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	body := make([]byte, maxLine)
	n, _ := f.Read(body)
	body, _ = q.Host.utf8(name, body[:n], n < maxLine)
	line, _, _ := strings.Cut(string(body), "\n")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, StripEscapes(line)))
}

// maxLine is the longest line of an owner, in bytes.
const maxLine = 500

// whole reads the beginning of a file; it fails if the file is shorter.
type whole struct{ io.LimitedReader }

func (r *whole) Read(p []byte) (int, error) {
	n, err := r.LimitedReader.Read(p)
	if errors.Is(err, io.EOF) && r.N > 0 {
		err = server.ErrShort
	}
	return n, err
}

// small answers with a file that is read into memory, and kept.
func (v *visit) small(f *site.Resource, a *Value) (*Value, error) {
	body, err := contents(f, a.Size)
	if err != nil {
		return nil, err
	}
	a.Body, a.Charset = v.Host.utf8(f.Name, body, true)
	a.Stream = nil
	if int64(len(body)) == a.Size {
		v.keep(a)
	}
	return a, nil
}

// Reader returns a File from its beginning. If the file has become shorter, its
// error is server.ErrShort.
func (a *Value) Reader() io.Reader {
	switch {
	case a.Stream == nil:
		return bytes.NewReader(a.Body)
	case a.Size < 0:
		return a.Stream
	}
	return &whole{io.LimitedReader{R: a.Stream, N: a.Size}}
}

// WriteTo writes the Body or the Stream to w.
func (a *Value) WriteTo(w io.Writer) (n int64, err error) {
	switch {
	case a.Stream == nil:
		m, err := w.Write(a.Body)
		return int64(m), err
	case a.Size < 0:
		n, err = io.Copy(w, a.Stream)
	default:
		var file *os.File
		if f, ok := a.Stream.(*site.Resource); ok {
			file = f.OSFile()
		}
		if to, ok := w.(server.FileSender); ok && file != nil {
			n, err = to.SendFile(file, a.Size)
		} else {
			n, err = io.Copy(w, a.Reader())
		}
	}
	if err != nil {
		err = fmt.Errorf("sending %s: %w", cmp.Or(a.name, a.Selector), err)
	}
	return n, err
}

// judgedHead is how many bytes of a large text decide its character set.
const judgedHead = 4096

var heads = sync.Pool{New: func() any { return new([judgedHead]byte) }}

// charsetOf returns the character set of a file of some size, by its beginning.
func (h *Host) charsetOf(name string, f io.ReaderAt, size int64) menu.Charset {
	head := heads.Get().(*[judgedHead]byte)
	defer heads.Put(head)
	n, _ := f.ReadAt(head[:], 0)
	return h.Charset.Of(name, head[:n], int64(n) == size)
}

// textType returns the item type of a file by its name or its beginning.
func textType(name string, head []byte) byte {
	if typ, known := menu.TypeOf(name); known {
		return typ
	}
	return menu.Sniff(head)
}

// mayBeText reports whether a name does not say that the file is something else.
func mayBeText(name string) bool {
	typ, known := menu.TypeOf(name)
	return !known || typ == menu.TypeText
}

// isLabelled reports whether the media type of a file may name a character set.
func isLabelled(name string) bool { return mayBeText(name) || isHTML(name) }

// utf8 returns the body of a file, or its beginning, as it is sent, and the character set of
// that: a text as UTF-8, if its own is known. Of what menus call binary no byte is changed.
func (h *Host) utf8(name string, body []byte, whole bool) (sent []byte, charset string) {
	if !isLabelled(name) {
		return body, ""
	}
	c := h.Charset.Of(name, body, whole)
	if textType(name, body) != menu.TypeText || c == menu.CharsetAuto {
		return body, c.Label()
	}
	return c.Decode(body), menu.CharsetUTF8.Label()
}

const plainText = "text/plain; charset=utf-8"

// mediaTypes are the types of files by their suffixes. Browsers are sent those that could
// run something, such as HTML, as text.
var mediaTypes = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".avif": "image/avif",
	".bmp": "image/bmp", ".ico": "image/x-icon", ".svg": "image/svg+xml",
	".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".oga": "audio/ogg", ".opus": "audio/ogg", ".flac": "audio/flac", ".wav": "audio/wav", ".m4a": "audio/mp4",
	".mp4": "video/mp4", ".webm": "video/webm", ".ogv": "video/ogg", ".m4v": "video/mp4",
	".mov": "video/quicktime", ".mkv": "video/x-matroska", ".avi": "video/x-msvideo", ".aac": "audio/aac", ".mid": "audio/midi", ".jxl": "image/jxl",
	".heic": "image/heic", ".tif": "image/tiff", ".tiff": "image/tiff", ".woff2": "font/woff2", ".ttf": "font/ttf", ".otf": "font/otf",
	".zip": "application/zip", ".gz": "application/gzip", ".tgz": "application/gzip", ".bz2": "application/x-bzip2", ".xz": "application/x-xz",
	".zst": "application/zstd", ".7z": "application/x-7z-compressed", ".tar": "application/x-tar", ".epub": "application/epub+zip",
	".pdf": "application/pdf", ".ps": "application/postscript", ".rtf": "application/rtf", ".json": "application/json",
	".csv": "text/csv; charset=utf-8", ".css": "text/css; charset=utf-8", ".ics": "text/calendar; charset=utf-8", ".vcf": "text/vcard; charset=utf-8",
	".xml": "application/xml; charset=utf-8", ".atom": "application/atom+xml; charset=utf-8", ".rss": "application/rss+xml; charset=utf-8",
}

// MediaType returns the media type that an answer is sent with where the protocol
// names one.
func (a *Value) MediaType() string {
	kind := mediaTypes[strings.ToLower(path.Ext(a.Selector))]
	switch {
	case a.Media != "":
		return a.Media
	case kind != "":
	case a.Type == menu.TypeText || a.Type == menu.TypeHTML:
		kind = plainText
	default:
		return "application/octet-stream"
	}
	return a.Labelled(kind)
}

// Labelled returns a media type that names a character set with that of an answer. XML that is
// sent as it is names its own.
func (a *Value) Labelled(kind string) string {
	base, _, labelled := strings.Cut(kind, "; charset=")
	switch {
	case !labelled || a.Charset == "":
		return kind
	case a.Charset == menu.CharsetAuto.Label() && strings.HasPrefix(base, "application/"):
		return base
	}
	return base + "; charset=" + a.Charset
}
