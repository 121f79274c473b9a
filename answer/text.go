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

// ready answers with a file that the kernel has in memory, or with one that is to
// be sent by sendfile(2).
func (h *Host) ready(r *server.Request, form *Format) (a server.Answer, ok bool) {
	if form.Draws != nil || form.Seek || selector.IsEscaped(r.Selector) {
		return a, false
	}
	name, dir, err := selector.Path(r.Selector)
	if err != nil || dir || menu.IsMenuFile(path.Base(name)) || h.closed(name, false, r.Selector) {
		return a, false
	}
	view := h.view(r.Context(), form)
	f, ok := view.Ready(name, smallFile)
	if !ok {
		return a, false
	}
	if f.Body == nil && mayBeText(name) && (!f.Resident() || h.convertsFile(name, &f, f.Size())) {
		f.Close()
		return a, false
	}
	if f.Body == nil {
		return server.Answer{File: &f}, true
	}
	kept := &Value{Class: File, Selector: selector.Canonical(name, false), Type: textType(name, f.Body), Body: h.utf8(name, f.Body), name: name}
	h.Cache.put(cacheKey{of: h, form: form, selector: r.Selector}, kept, view.Stamp())
	return server.Answer{Body: kept.Body}, true
}

// file answers with a file as long as it was when it was opened: one that grows
// meanwhile ends there, one that shrinks ends where it does, which is an error.
func (v *visit) file(f *site.Resource) (*Value, error) {
	a := &Value{Class: File, Selector: selector.Canonical(f.Name, false), Type: FileType(f), Size: f.Info.Size(), Stream: f, name: f.Name}
	switch {
	case v.Format.Draws != nil && v.Format.Draws(a):
		_ = f.Close()
		return v.make(f.Name, false, func(_ *Asked, made *Value) error {
			made.Class, made.Type, made.Size, made.Keep = File, a.Type, a.Size, true
			return nil
		})
	case v.Format.Seek:
		a.Resource = f
	case a.Size < smallFile:
		defer func() { _ = f.Close() }()
		return v.small(f, a)
	case mayBeText(f.Name) && v.Host.convertsFile(f.Name, f, a.Size):
		a.Stream = &latin1{r: &whole{io.LimitedReader{R: f, N: a.Size}}, Closer: f}
		a.Size = -1
	}
	return a, nil
}

// Text returns the text of a File as UTF-8, for Format.Draw.
func (q *Asked) Text(a *Value) ([]byte, error) {
	body, err := q.File(a)
	if err != nil || a.name == "" {
		return body, err
	}
	return q.Host.utf8(a.name, body), nil
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
	body := make([]byte, a.Size)
	n, err := io.ReadFull(f, body)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("reading %s: %w", a.name, err)
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
	if FileType(f) != menu.TypeText {
		return "", false, nil
	}
	body, err := io.ReadAll(io.LimitReader(f, int64(most)))
	if err != nil {
		return "", false, err
	}
	return string(q.Host.utf8(name, body)), f.Info.Size() <= int64(most), nil
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
	line, _, _ := strings.Cut(string(q.Host.utf8(name, body[:n])), "\n")
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
	body := make([]byte, a.Size)
	n, err := io.ReadFull(f, body)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("reading %s: %w", f.Name, err)
	}
	a.Body, a.Stream = v.Host.utf8(f.Name, body[:n]), nil
	if n == len(body) {
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

// convertsFile is converts for a file of some size, by its beginning.
func (h *Host) convertsFile(name string, f io.ReaderAt, size int64) bool {
	head := heads.Get().(*[judgedHead]byte)
	defer heads.Put(head)
	n, _ := f.ReadAt(head[:], 0)
	return h.converts(name, head[:n], int64(n) == size)
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

// utf8 returns the body of a file as it is sent: a text in Latin-1 or UTF-16 as UTF-8. Of
// what menus call binary no byte is changed.
func (h *Host) utf8(name string, body []byte) []byte {
	if textType(name, body) != menu.TypeText {
		return body
	}
	if text, ok := menu.FromUTF16(body); ok {
		return []byte(text)
	}
	if !h.converts(name, body, true) {
		return body
	}
	return menu.AppendLatin1(make([]byte, 0, len(body)+len(body)/16), body)
}

// converts reports whether a file that may be a text, and begins so or is this as a
// whole, is one in Latin-1 and is to be converted.
func (h *Host) converts(name string, head []byte, whole bool) bool {
	if _, wide := menu.FromUTF16(head[:min(2, len(head))]); wide || !h.Charset.Converts(head, whole) {
		return false
	}
	_, known := menu.TypeOf(name)
	return known || menu.Sniff(head) == menu.TypeText
}

// latin1 reads a text in Latin-1 as UTF-8.
type latin1 struct {
	r io.Reader
	io.Closer
	raw  [4096]byte
	text []byte // what was converted and not read yet
	room []byte
}

func (l *latin1) Read(p []byte) (n int, err error) {
	if len(l.text) == 0 {
		n, err = l.r.Read(l.raw[:])
		l.room = menu.AppendLatin1(l.room[:0], l.raw[:n])
		l.text = l.room
	}
	n = copy(p, l.text)
	if l.text = l.text[n:]; len(l.text) > 0 {
		err = nil // it comes again
	}
	return n, err
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
	".csv": "text/csv; charset=utf-8", ".css": "text/css; charset=utf-8", ".ics": "text/calendar", ".vcf": "text/vcard; charset=utf-8",
	".xml": "application/xml", ".atom": "application/atom+xml", ".rss": "application/rss+xml",
}

// MediaType returns the media type that an answer is sent with where the protocol
// names one.
func (a *Value) MediaType() string {
	if a.Media != "" {
		return a.Media
	}
	if t, ok := mediaTypes[strings.ToLower(path.Ext(a.Selector))]; ok {
		return t
	}
	if a.Type == menu.TypeText || a.Type == menu.TypeHTML {
		return plainText
	}
	return "application/octet-stream"
}
