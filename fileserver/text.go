package fileserver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// smallFile is the size from which files leave through sendfile(2), in bytes;
// smaller ones are read, and kept.
const smallFile = 64 << 10

// ready answers with a file that the kernel has in memory, or with one that is to
// be sent by sendfile(2).
func (h *Handler) ready(r *server.Request) (a server.Answer, ok bool) {
	if h.StrictText || r.Plus != "" || strings.Contains(r.Selector, "%") {
		return a, false
	}
	name, dir, err := selector.Path(r.Selector)
	if err != nil || dir || h.closed(r.Selector) {
		return a, false
	}
	view := h.Site.View(r.Context())
	f, ok := view.Ready(name, smallFile)
	if !ok {
		return a, false
	}
	a = server.Answer{Body: f.Body, File: f.File, Size: f.Size, Resident: f.Resident}
	if a.File == nil {
		if judged(r.Selector, false) {
			view.DependOnPolicy()
		}
		h.replies.put(key{selector: r.Selector}, a, view.Stamp())
	}
	return a, true
}

// file sends a file as long as it was when it was opened: one that grows
// meanwhile ends there, one that shrinks ends where it does, which is logged.
func (v *visit) file(f *site.File) (err error) {
	size := f.Info.Size()
	body := &io.LimitedReader{R: f, N: size}
	switch {
	case v.StrictText && fileType(f) == menu.TypeText:
		err = strictText(v.w, &whole{body})
	case size < smallFile:
		return v.small(f, body)
	default:
		var n int64
		if n, err = io.Copy(v.w, body); err == nil && n < size {
			err = server.ErrShort
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

func (v *visit) small(f *site.File, r io.Reader) error {
	body := make([]byte, f.Info.Size())
	n, err := io.ReadFull(r, body)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("reading %s: %w", f.Name, err)
	}
	if n == len(body) {
		v.keep(body, false, false)
	}
	_, err = v.w.Write(body[:n])
	return err
}

// strictText writes a text as RFC 1436 section 3.7 wants it: each line ends in
// CRLF, a dot that begins a line is doubled, and a line with a dot ends all.
func strictText(w io.Writer, r io.Reader) error {
	in := bufio.NewReaderSize(r, 32<<10)
	out := bufio.NewWriterSize(w, 16<<10)
	bol := true // at the begin of a line
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
