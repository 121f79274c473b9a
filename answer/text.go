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

// smallFile is the size in bytes below which files are read and cached. Larger ones are sent
// with sendfile(2). Copying this much costs about as much as opening and closing a file.
const smallFile = 96 << 10

// ready returns a large file that the kernel has in memory, for Host.Quick.
func (h *Host) ready(r *server.Request, form *Format) (a server.Answer, ok bool) {
	if form.Draws != nil || form.Seek || selector.IsEscaped(r.Selector) {
		return a, false
	}
	name, dir, err := selector.Path(r.Selector)
	if err != nil || dir || menu.IsMenuFile(path.Base(name)) || h.closed(name, false, r.Selector) {
		return a, false
	}
	f, size, ok := h.view(r.Context(), form).Ready(name, smallFile)
	if !ok {
		return a, false
	}
	if mayBeText(name) && h.charsetOf(name, f, size) != menu.CharsetUTF8 {
		_ = f.Close()
		return a, false
	}
	return server.Answer{File: f, Size: size}, true
}

// file returns the answer for a file, which it closes or returns as the Stream. The length of
// the reply is that of the file now. If the file shrinks while it is sent, sending fails.
func (q *Asked) file(f *site.Resource) (*Value, error) {
	a := &Value{
		Class:    File,
		Selector: selector.Canonical(f.Name, false),
		Type:     fileType(f),
		Size:     f.Info.Size(),
		Stream:   f,
		name:     f.Name,
	}
	switch {
	case q.Format.Draws != nil && q.Format.Draws(a):
		_ = f.Close()
		return q.make(f.Name, false, func(_ *Asked, made *Value) error {
			made.Class, made.Type, made.Size, made.Keep = File, a.Type, a.Size, true
			return nil
		})
	case q.Format.Seek:
		a.Resource = f
		if isLabelled(f.Name) {
			a.Charset = q.Host.charsetOf(f.Name, f, a.Size).Label()
		}
	case a.Size < smallFile:
		defer func() { _ = f.Close() }()
		return q.small(f, a)
	case isLabelled(f.Name):
		a.Charset = menu.CharsetUTF8.Label()
		if c := q.Host.charsetOf(f.Name, f, a.Size); a.Type != menu.TypeText {
			a.Charset = c.Label()
		} else if c != menu.CharsetUTF8 && c != menu.CharsetAuto {
			a.Stream = &decoded{c.Reader(a.Reader()), f}
			a.Size = -1
		} else {
			a.Charset = c.Label()
		}
	}
	return a, nil
}

// decoded is a file with a Reader that converts it to UTF-8.
type decoded struct {
	io.Reader
	io.Closer
}

// Text returns the content of a File as UTF-8, for Format.Draw.
func (q *Asked) Text(a *Value) ([]byte, error) {
	body, err := q.File(a)
	if err != nil || a.name == "" {
		return body, err
	}
	body, a.Charset = q.Host.utf8(a.name, body, true)
	return body, nil
}

// File returns the content of a File unconverted, for Format.Draw.
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

// Read returns up to most bytes of a text of the site, converted to UTF-8, and whether that
// is the whole text. For a file that is no text it returns "".
func (q *Asked) Read(name string, most int) (text string, whole bool, err error) {
	f, err := q.View.Lookup(name)
	if err != nil {
		return "", false, err
	}
	defer func() { _ = f.Close() }()
	if fileType(f) != menu.TypeText {
		return "", false, nil
	}
	size := f.Info.Size()
	body, err := contents(f, min(size, int64(most)))
	if err != nil {
		return "", false, err
	}
	whole = size <= int64(most)
	body, _ = q.Host.utf8(name, body, whole)
	return string(body), whole, nil
}

// OwnersLine returns the first line of a file in the root with which the owner configures
// the site, such as .feed-id, or "".
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

// maxLine bounds OwnersLine, in bytes.
const maxLine = 500

// whole reads the first N bytes of a file. It fails with ErrShort if the file is shorter.
type whole struct{ io.LimitedReader }

func (r *whole) Read(p []byte) (int, error) {
	n, err := r.LimitedReader.Read(p)
	if errors.Is(err, io.EOF) && r.N > 0 {
		err = server.ErrShort
	}
	return n, err
}

// small reads a file into the Body of its answer and caches the answer.
func (q *Asked) small(f *site.Resource, a *Value) (*Value, error) {
	body, err := contents(f, a.Size)
	if err != nil {
		return nil, err
	}
	a.Body, a.Charset = q.Host.utf8(f.Name, body, true)
	a.Stream = nil
	if int64(len(body)) == a.Size {
		q.keep(a)
	}
	return a, nil
}

// Reader returns a reader of the Body or the Stream. It fails with server.ErrShort if a file
// is shorter than Size.
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

// judgedHead is the number of bytes from which the character set of a large text is detected.
const judgedHead = 4096

var heads = sync.Pool{New: func() any { return new([judgedHead]byte) }}

// charsetOf detects the character set of a file from its beginning.
func (h *Host) charsetOf(name string, f io.ReaderAt, size int64) menu.Charset {
	head := heads.Get().(*[judgedHead]byte)
	defer heads.Put(head)
	n, _ := f.ReadAt(head[:], 0)
	return h.Charset.Of(name, head[:n], int64(n) == size)
}

// textType returns the item type of a file: by its name, else by its beginning.
func textType(name string, head []byte) byte {
	if typ, known := menu.TypeOf(name); known {
		return typ
	}
	return menu.Sniff(head)
}

// mayBeText reports whether the name of a file allows it to be a text.
func mayBeText(name string) bool {
	typ, known := menu.TypeOf(name)
	return !known || typ == menu.TypeText
}

// isLabelled reports whether the media type of a file may name a character set.
func isLabelled(name string) bool { return mayBeText(name) || isHTML(name) }

// utf8 converts the body of a text to UTF-8, if its character set is known, and returns the
// character set of the result. It returns the body of any other file unchanged. whole reports
// whether body is the whole file.
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

// mediaTypes are the media types of files by suffix. Types that a browser could run, such as
// HTML, are missing: these files are sent as text.
var mediaTypes = map[string]string{
	".png":   "image/png",
	".jpg":   "image/jpeg",
	".jpeg":  "image/jpeg",
	".gif":   "image/gif",
	".webp":  "image/webp",
	".avif":  "image/avif",
	".bmp":   "image/bmp",
	".ico":   "image/x-icon",
	".svg":   "image/svg+xml",
	".mp3":   "audio/mpeg",
	".ogg":   "audio/ogg",
	".oga":   "audio/ogg",
	".opus":  "audio/ogg",
	".flac":  "audio/flac",
	".wav":   "audio/wav",
	".m4a":   "audio/mp4",
	".mp4":   "video/mp4",
	".webm":  "video/webm",
	".ogv":   "video/ogg",
	".m4v":   "video/mp4",
	".mov":   "video/quicktime",
	".mkv":   "video/x-matroska",
	".avi":   "video/x-msvideo",
	".aac":   "audio/aac",
	".mid":   "audio/midi",
	".jxl":   "image/jxl",
	".heic":  "image/heic",
	".tif":   "image/tiff",
	".tiff":  "image/tiff",
	".woff2": "font/woff2",
	".ttf":   "font/ttf",
	".otf":   "font/otf",
	".zip":   "application/zip",
	".gz":    "application/gzip",
	".tgz":   "application/gzip",
	".bz2":   "application/x-bzip2",
	".xz":    "application/x-xz",
	".zst":   "application/zstd",
	".7z":    "application/x-7z-compressed",
	".tar":   "application/x-tar",
	".epub":  "application/epub+zip",
	".pdf":   "application/pdf",
	".ps":    "application/postscript",
	".rtf":   "application/rtf",
	".json":  "application/json",
	".csv":   "text/csv; charset=utf-8",
	".css":   "text/css; charset=utf-8",
	".ics":   "text/calendar; charset=utf-8",
	".vcf":   "text/vcard; charset=utf-8",
	".xml":   "application/xml; charset=utf-8",
	".atom":  "application/atom+xml; charset=utf-8",
	".rss":   "application/rss+xml; charset=utf-8",
}

// MediaType returns the media type of an answer, for protocols that send one.
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

// Labelled returns kind with its charset parameter, if it has one, set to the character set
// of the answer. For XML of an unknown character set it removes the parameter, since XML
// declares its own.
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
