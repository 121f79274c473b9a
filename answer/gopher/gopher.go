// Package gopher serves an answer.Host over Gopher (RFC 1436).
package gopher

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/textproto"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/server"
)

// A Front is a server.Handler that serves a Host.
type Front struct {
	Host *answer.Host

	// StrictText sends texts as RFC 1436 section 3.7 requires: lines end in CRLF, leading
	// dots are doubled, a line with a dot ends the text. Otherwise texts are sent
	// unchanged, as today's clients expect.
	StrictText bool
}

// The formats: without and with StrictText, and the root's menu for a Gopher+ client.
var (
	plain  = &answer.Format{Draw: draw, Raw: true}
	strict = &answer.Format{
		Draw: draw,
		Raw:  true,
		Draws: func(a *answer.Value) bool {
			return a.Type == menu.TypeText && a.Media == "" && a.Size < smallText
		},
	}
	plus = &answer.Format{Draw: func(_ *answer.Asked, a *answer.Value) ([]byte, error) {
		return menu.AppendPlusInfo(nil, a.Items), nil
	}}
)

// smallText is the size in bytes up to which strict texts are cached.
const smallText = 96 << 10

// form returns the Format of the reply to a request.
func (f *Front) form(r *server.Request) *answer.Format {
	switch {
	case r.Plus == "$" && (r.Selector == "" || r.Selector == "/"):
		return plus
	case f.StrictText:
		return strict
	}
	return plain
}

// draw returns the bytes of a menu, or of a small text with StrictText.
func draw(q *answer.Asked, a *answer.Value) ([]byte, error) {
	if a.Class == answer.File {
		text, err := q.Text(a)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		err = strictText(&b, bytes.NewReader(text))
		return b.Bytes(), err
	}
	return menu.Menu{Items: a.Items}.AppendTo(nil), nil
}

// missing is the reply to a selector that was not found.
var missing = server.ErrorBody(server.ErrNotFound)

// Quick implements [server.Quick].
func (f *Front) Quick(r *server.Request) (a server.Answer, ok bool) {
	if a, ok = f.Host.Quick(r, f.form(r)); ok && a.Err != nil {
		a.Body = missing
	}
	return a, ok
}

// ServeGopher answers a request.
func (f *Front) ServeGopher(w server.ResponseWriter, r *server.Request) error {
	form := f.form(r)
	a, err := f.Host.Ask(r, form)
	if err != nil {
		return err
	}
	defer a.Close()
	switch {
	case a.Class == answer.Moved || a.Class == answer.Redirect:
		return w.WriteItem(a.Items[0])
	case form == strict && a.Type == menu.TypeText && a.Stream != nil:
		return strictText(w, a.Reader())
	}
	_, err = a.WriteTo(w)
	return err
}

// strictText writes a text as RFC 1436 section 3.7 requires; see Front.StrictText.
func strictText(w io.Writer, r io.Reader) error {
	in := bufio.NewReaderSize(r, 32<<10)
	if _, err := in.Peek(1); errors.Is(err, io.EOF) {
		_, err = io.WriteString(w, menu.End) // a DotWriter would begin with an empty line
		return err
	}
	out := bufio.NewWriterSize(w, 16<<10)
	dots := textproto.NewWriter(out).DotWriter()
	if _, err := io.Copy(dots, in); err != nil {
		return errors.Join(err, out.Flush()) // without the last dot
	}
	return dots.Close()
}
