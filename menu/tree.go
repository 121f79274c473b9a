package menu

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/selector"
)

// fold returns the name that a selector in a map of dir stands for, with "." and
// ".." folded, never above the root.
func fold(dir, sel string) string {
	if !strings.HasPrefix(sel, "/") {
		sel = "/" + dir + "/" + sel
	}
	if name := path.Clean(sel)[1:]; name != "" {
		return name
	}
	return "."
}

// hiddenName reports whether an element of a name begins with a dot.
func hiddenName(name string) bool {
	return name != "." && (name[0] == '.' || strings.Contains(name, "/."))
}

// open opens a regular file; anything else is not there.
func (m *making) open(name string) (fs.File, int64, error) {
	f, err := m.FS.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// read reads a map. A map beyond the bounds is cut at the end of a line.
func (m *making) read(name string) (string, error) {
	f, size, err := m.open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	limit := m.toRead
	text := bytes.NewBuffer(make([]byte, 0, min(size, limit)+bytes.MinRead))
	if _, err := text.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return "", err
	}
	return m.bound(name, text.String()), nil
}

// bound cuts a map beyond the bounds at the end of a line.
func (m *making) bound(name, text string) string {
	rest := ""
	if limit := m.toRead; int64(len(text)) > limit {
		m.report(CodeLimit, name, 0, "maps of more than 4 MiB: the rest is left out")
		text, rest = text[:strings.LastIndexByte(text[:limit], '\n')+1], "... and more: this menu is longer than 4 MiB\n"
	}
	m.toRead -= int64(len(text))
	if c := m.Charset.Of(name, []byte(text), true); c != CharsetLatin1 { // lines of a map are in Latin-1 or not, one by one
		text = string(c.Decode([]byte(text)))
	}
	return strings.TrimPrefix(text, byteOrderMark) + rest
}

// run returns what a program prints, if something runs it. What it cannot print is an
// error item.
func (m *making) run(name string) (text string, ok bool) {
	if m.Run == nil || m.inlining {
		return "", false
	}
	by := name
	if n := len(m.maps); n > 0 {
		by = m.maps[n-1].file
	}
	text, ok, err := m.Run(name, by)
	if !ok {
		return "", false
	}
	m.menu.Changing, m.sources.Run = true, true
	if err != nil {
		m.add(Item{Type: TypeError, Label: err.Error()})
		return "", true
	}
	return m.bound(name, text), true
}

// source reads a source file of a menu, and reports why it cannot be shown.
func (m *making) source(name string) (string, error) {
	text, err := m.read(name)
	switch {
	case err == nil && IsProgram(text):
		if printed, ok := m.run(name); ok {
			return printed, nil
		}
		m.report(CodeProgram, name, 1, "a program: nothing of it is shown")
		return "", errProgram
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		m.report(CodeRead, name, 0, "cannot be read: "+diag.Cause(err).Error())
	}
	return text, err
}

// look reports whether a file or directory beside the maps may still be looked at.
func (m *making) look() bool {
	m.looks--
	return m.looks >= 0
}

// stat reports whether there is something of that name that can be served, and
// whether it is a directory.
func (m *making) stat(name string) (dir, ok bool) {
	if !selector.AskableName(name) || !m.look() {
		return false, false
	}
	info, err := fs.Stat(m.FS, name)
	if err != nil {
		return false, false
	}
	return info.IsDir(), true
}

// head returns the beginning of a file, at most sniffLen bytes.
func (m *making) head(name string) ([]byte, error) {
	f, _, err := m.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, sniffLen)
	n, err := io.ReadFull(f, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return head[:n], err
}

// fileType returns the type of a file, from a line ":ext=T", the table or its content, in
// this order.
func (m *making) fileType(name string) byte {
	var ext [maxExtension]byte
	if t, ok := m.types[string(appendExtension(ext[:0], name))]; ok {
		return t
	}
	if t, ok := TypeOf(name); ok {
		return t
	}
	if !m.look() {
		return TypeText
	}
	head, err := m.head(name)
	if err != nil {
		return TypeBinary
	}
	return Sniff(head)
}

// Label returns the label in a directory's gophertag, "" if it has none.
func (b *Builder) Label(ctx context.Context, dir string) string { return b.begin(ctx, dir).tag(dir) }

// tag returns the label that a directory's gophertag gives it, its first line;
// nothing if there is none.
func (m *making) tag(dir string) string {
	if !m.look() {
		return ""
	}
	name := selector.Join(dir, tagName)
	head, err := m.head(name)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		m.report(CodeRead, name, 0, "cannot be read: "+diag.Cause(err).Error())
	case IsProgram(head):
		m.report(CodeProgram, name, 1, "a program: nothing of it is shown")
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimPrefix(string(head), byteOrderMark), "\n")
	return strings.TrimSpace(m.shown(line))
}
