package fileserver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path"
	"sync"
	"syscall"

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
func (h *Files) ready(r *server.Request) (a server.Answer, ok bool) {
	if h.StrictText || selector.IsEscaped(r.Selector) {
		return a, false
	}
	name, dir, err := selector.Path(r.Selector)
	if err != nil || dir || menu.IsMenuFile(path.Base(name)) || h.closed(r.Selector) {
		return a, false
	}
	view := h.Site.View(r.Context())
	f, ok := view.Ready(name, smallFile)
	if !ok {
		return a, false
	}
	if f.FD != 0 && mayBeText(name) && (!f.Resident || h.convertsFile(name, descriptor(f.FD), f.Size)) {
		_ = syscall.Close(f.FD)
		return a, false
	}
	if judged(r.Selector, false) {
		view.DependOnPolicy()
	}
	if f.FD != 0 {
		return h.opened.lend(r.Selector, f, view.Stamp()), true
	}
	a = server.Answer{Body: h.utf8(name, f.Body)}
	h.replies.put(replyKey{selector: r.Selector}, a, view.Stamp())
	return a, true
}

// descriptor is an opened file.
type descriptor int

// ReadAt reads what there is at an offset.
func (d descriptor) ReadAt(p []byte, off int64) (int, error) {
	n, err := syscall.Pread(int(d), p, off)
	return max(n, 0), err // it is -1 after an error
}

// file sends a file as long as it was when it was opened: one that grows
// meanwhile ends there, one that shrinks ends where it does, which is logged.
func (v *visit) file(f *site.Resource) (err error) {
	size := f.Info.Size()
	body := &io.LimitedReader{R: f, N: size}
	strict := v.StrictText && fileType(f) == menu.TypeText
	if size < smallFile && !strict {
		return v.small(f, body)
	}
	converts := mayBeText(f.Name) && v.convertsFile(f.Name, f, size)
	switch {
	case strict && converts:
		err = strictText(v.w, &latin1{r: &whole{body}})
	case strict:
		err = strictText(v.w, &whole{body})
	case converts:
		_, err = io.Copy(v.w, &latin1{r: &whole{body}})
	default:
		if to, ok := v.w.(server.FileSender); ok {
			_, err = to.SendFile(f.File, size)
		} else {
			_, err = io.Copy(v.w, &whole{body})
		}
	}
	if err != nil {
		return fmt.Errorf("sending %s: %w", f.Name, err)
	}
	return nil
}

// whole is the beginning of a file that has to be there.
type whole struct{ *io.LimitedReader }

func (r *whole) Read(p []byte) (int, error) {
	n, err := r.LimitedReader.Read(p)
	if errors.Is(err, io.EOF) && r.N > 0 {
		err = server.ErrShort
	}
	return n, err
}

func (v *visit) small(f *site.Resource, r io.Reader) error {
	body := make([]byte, f.Info.Size())
	n, err := io.ReadFull(r, body)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("reading %s: %w", f.Name, err)
	}
	text := v.utf8(f.Name, body[:n])
	if n == len(body) {
		v.keep(text, false, false)
	}
	_, err = v.w.Write(text)
	return err
}

// judgedHead is how many bytes of a large text tell its character set.
const judgedHead = 4096

var heads = sync.Pool{New: func() any { return new([judgedHead]byte) }}

// convertsFile is converts for a file of some size, by its beginning.
func (h *Files) convertsFile(name string, f io.ReaderAt, size int64) bool {
	head := heads.Get().(*[judgedHead]byte)
	defer heads.Put(head)
	n, _ := f.ReadAt(head[:], 0)
	return h.converts(name, head[:n], int64(n) == size)
}

// mayBeText reports whether a name does not say that the file is something else.
func mayBeText(name string) bool {
	typ, known := menu.TypeOf(name)
	return !known || typ == menu.TypeText
}

// utf8 returns the body of a file as it is sent: a text in Latin-1 as UTF-8.
func (h *Files) utf8(name string, body []byte) []byte {
	if !mayBeText(name) || !h.converts(name, body, true) {
		return body
	}
	return menu.AppendLatin1(make([]byte, 0, len(body)+len(body)/16), body)
}

// converts reports whether a file that may be a text, and begins so or is this as a
// whole, is one and is to be converted.
func (h *Files) converts(name string, head []byte, whole bool) bool {
	if !h.Charset.Converts(head, whole) {
		return false
	}
	_, known := menu.TypeOf(name)
	return known || menu.Sniff(head) == menu.TypeText
}

// latin1 reads a text in Latin-1 as UTF-8.
type latin1 struct {
	r    io.Reader
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

// strictText writes a text as RFC 1436 section 3.7 wants it: each line ends in
// CRLF, a dot that begins a line is doubled, and a line with a dot ends all.
func strictText(w io.Writer, r io.Reader) error {
	in := bufio.NewReaderSize(r, 32<<10)
	out := bufio.NewWriterSize(w, 16<<10)
	bol := true // at the beginning of a line
	for {
		part, err := in.ReadSlice('\n')
		ended := len(part) > 0 && part[len(part)-1] == '\n'
		if ended {
			part = trimLineEnd(part)
		}
		if bol && len(part) > 0 && part[0] == '.' {
			_ = out.WriteByte('.')
		}
		_, _ = out.Write(part)
		if ended || errors.Is(err, io.EOF) && (!bol || len(part) > 0) {
			_, _ = out.WriteString("\r\n")
		}
		bol = ended
		switch {
		case errors.Is(err, io.EOF):
			_, _ = out.WriteString(".\r\n")
			return out.Flush()
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return errors.Join(err, out.Flush())
		}
	}
}

func trimLineEnd(line []byte) []byte {
	line = line[:len(line)-1]
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}
