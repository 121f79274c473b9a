package programs

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/internal/fastcgi"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// params returns the parameters of a program: RFC 3875's variables, and the union of those that
// scripts for other Gopher servers read. Names come from this list only, since
// fcgiwrap puts all of them into its child's environment.
func (h *Programs) params(r *server.Request, v *site.View, s script) [][2]string {
	// What follows the selector's question mark, and what the client searches for, stand for
	// each other.
	_, asked, _ := strings.Cut(r.Selector, "?")
	query, search := cmp.Or(asked, r.Query), cmp.Or(r.Query, asked)

	protocol, port := "gopher", r.Port
	switch {
	case r.Protocol != "":
		protocol, port = r.Protocol, cmp.Or(r.URLPort, int(r.Local.Port()))
	case r.TLS:
		protocol = "gophers"
	}
	address := ""
	if protocol == "gemini" {
		address = strings.TrimSpace(r.Raw)
		_, query, _ = strings.Cut(address, "?")
	}
	software, version, _ := strings.Cut(h.Software, "/")
	remote := ""
	if r.Remote.IsValid() {
		remote = r.Remote.Addr().String()
	}
	p := [][2]string{
		{"GATEWAY_INTERFACE", "CGI/1.1"},
		{"REQUEST_METHOD", "GET"},
		{"SERVER_SOFTWARE", h.Software},
		{"SERVER_PROTOCOL", "HTTP/1.0"}, // libraries for FastCGI refuse anything else
		{"GOPHER_PROTOCOL", protocol},
		{"GOPHER_CHARSET", "UTF-8"},
		{"SERVER_NAME", r.Host},
		{"SERVER_HOST", r.Host},
		{"SERVER_VERSION", version},
		{"SERVER_ARCH", runtime.GOOS + "/" + runtime.GOARCH},
		{"SERVER_DESCRIPTION", software},
		{"SERVER_CODENAME", software},
		{"SERVER_PORT", strconv.Itoa(port)},
		{"REMOTE_ADDR", remote},
		{"REMOTE_HOST", remote},
		{"DOCUMENT_ROOT", v.Path(".")},
		{"SCRIPT_NAME", "/" + s.called},
		{"PATH_INFO", s.info},
		{"TRAVERSAL", s.info},
		{"SELECTOR", r.Selector},
		{"REQUEST", r.Selector},
		{"QUERY_STRING", query},
		{"SEARCHREQUEST", search},
		{"X_GOPHER_SEARCH", search},
		{"COLUMNS", "67"},
	}
	if r.Remote.IsValid() {
		p = append(p, [2]string{"REMOTE_PORT", strconv.Itoa(int(r.Remote.Port()))})
	}
	if r.Local.IsValid() {
		p = append(p, [2]string{"LOCAL_ADDR", r.Local.Addr().String()})
	}
	if cert := r.Certificate; cert != nil {
		p = append(p, [][2]string{
			{"AUTH_TYPE", "Certificate"},
			{"REMOTE_USER", cert.Subject.CommonName},
			{"TLS_CLIENT_HASH", fmt.Sprintf("SHA256:%x", sha256.Sum256(cert.Raw))},
			{"TLS_CLIENT_SUBJECT", cert.Subject.String()},
			{"TLS_CLIENT_SERIAL_NUMBER", cert.SerialNumber.String()},
		}...)
	}
	if s.name != "" {
		p = append(p, [2]string{"SCRIPT_FILENAME", v.Path(s.name)})
	}
	if s.info != "" {
		p = append(p, [2]string{"PATH_TRANSLATED", filepath.Join(v.Path("."), s.info)})
	}
	switch {
	case address != "":
		p = append(p, [2]string{"GEMINI_URL", address})
	case r.TLS:
		p = append(p, [2]string{"GOPHERS", "on"}, [2]string{"HTTPS", "on"})
	}
	return p
}

// client returns the program for a file or a selector below the root; nil if it is not a
// user's and the rule is for users alone.
func (r Mapping) client(name string) *fastcgi.Program {
	if r.Fixed() {
		return r.Client
	}
	user := userOf(name)
	if user == "" {
		return nil
	}
	its := *r.Client
	its.Socket = strings.Replace(its.Socket, "*", user, 1)
	return &its
}

// run runs the program. Its reply is streamed, unless it is a menu, which is parsed.
func (h *Programs) run(q *answer.Asked, rule Mapping, s script) (*answer.Value, error) {
	client := rule.client(s.called)
	if client == nil {
		return nil, errNoScript
	}
	s.isMap = strings.HasSuffix(s.name, ".dcgi")
	out, head, err := h.begin(q, client, s)
	if err != nil {
		return nil, err
	}
	if head.Location != "" || head.Line != "" {
		_ = out.Close()
	}
	media := fastcgi.MediaType(head.ContentType)
	switch {
	case head.Line != "":
		return &answer.Value{
			Class:    answer.Status,
			Selector: q.Request.Selector,
			Prompt:   head.Line,
		}, nil
	case head.Location != "":
		return redirect(q, head)
	case s.isMap:
		return h.menu(q, s, out)
	}
	return &answer.Value{
		Class:    answer.File,
		Selector: q.Request.Selector,
		Media:    media,
		Type:     typeOf(media),
		Stream:   out,
		Size:     -1,
	}, nil
}

// typeOf returns the item type for a media type, 0 if there is none.
func typeOf(media string) byte {
	switch kind, _, _ := strings.Cut(media, "/"); kind {
	case "":
		return 0
	case "text":
		return menu.TypeText
	case "image":
		return menu.TypeImage
	case "audio":
		return menu.TypeSound
	}
	return menu.TypeBinary
}

// redirect answers with where a program leads: a URL, or a path of the site, which may be
// relative to the program's own.
func redirect(q *answer.Asked, head fastcgi.Header) (*answer.Value, error) {
	// Resolve the reference.
	sel, _, _ := strings.Cut(q.Request.Selector, "?")
	base, err := url.Parse(answer.Reference(sel))
	if err != nil {
		return nil, failed(err)
	}
	to, err := base.Parse(head.Location)
	if err != nil || len(head.Location) > maxLocation {
		return nil, failed(fmt.Errorf("the program's Location %q is no URL", head.Location))
	}

	// Name the target in both ways: as a URL, and as an item for clients of Gopher.
	item := menu.Item{
		Type: menu.TypeMenu,
		Host: q.Request.Host,
		Port: q.Request.Port,
	}
	a := &answer.Value{
		Class:     answer.Redirect,
		Selector:  q.Request.Selector,
		Permanent: head.Status == 301 || head.Status == 308,
	}
	if to.Scheme != "" || to.Host != "" {
		a.URL = to.String()
		item.Type, item.Selector = menu.TypeHTML, "URL:"+a.URL
	} else {
		item.Selector = "/" + strings.TrimLeft(to.Path, "/")
		item.Type = cmp.Or(q.Host.ItemType(q.Context(), item.Selector), item.Type)
		a.URL = answer.Reference(item.Selector)
		if to.RawQuery != "" {
			item.Selector += "?" + to.RawQuery
			a.URL += "?" + to.RawQuery
		}
	}
	if selector.HasControl(item.Selector) {
		return nil, failed(errors.New("the program's Location has control characters"))
	}
	item.Label = a.URL
	a.Items = []menu.Item{item}
	return a, nil
}

// maxLocation is how long a Location may be, in bytes: as a URL of Gemini.
const maxLocation = 1024

// places is how many requests to a socket there are at once.
const places = 16

// begin runs a program, and returns its reply and the head of it: a CGI header or a Gemini status
// line. A Gemini client gets every Gemini status; other fronts recognize only redirects and a media
// type, and send any other line as text. The source of a menu has no status line.
func (h *Programs) begin(q *answer.Asked, client *fastcgi.Program, s script) (_ io.ReadCloser,
	head fastcgi.Header, err error) {
	ctx, cancel := context.WithCancel(q.Context())
	defer func() {
		if err != nil {
			cancel()
			err = failed(err)
		}
	}()
	if err := q.Enter(ctx, client.Socket, places); err != nil {
		return nil, head, err
	}
	log := cmp.Or(h.Log, slog.New(slog.DiscardHandler)).With("program", "/"+s.called)
	logged := *client
	logged.Stderr = func(line string) { log.Warn("standard error of a program", "stderr", line) }
	reply, err := logged.Do(ctx, h.params(q.Request, q.View, s))
	if err != nil {
		return nil, head, err
	}
	in := fastcgi.NewReader(reply)
	head, known := fastcgi.ReadHeader(in)
	if !known && !s.isMap {
		head, known = fastcgi.ReadStatus(in, q.Request.Protocol == "gemini")
	}
	switch {
	case head.Status >= 400:
		err = refused(head.Status)
	case !known && in.Buffered() == 0 && reply.Exit() != 0:
		err = &server.Error{
			Kind:    server.Internal,
			Message: "The program failed",
			Err:     fmt.Errorf("/%s ended without output, exit %d", s.called, reply.Exit()),
		}
	}
	return &output{
		in:    in,
		reply: reply,
		end:   cancel,
		log:   log,
	}, head, err
}

// output is the reply of a program without its header.
type output struct {
	in    *bufio.Reader
	reply *fastcgi.Stdout
	end   context.CancelFunc
	log   *slog.Logger
}

// Read returns errors with the words for the client. At its end the program is free again.
func (o *output) Read(p []byte) (int, error) {
	n, err := o.in.Read(p)
	if err != nil {
		o.end()
	}
	switch {
	case errors.Is(err, io.EOF):
		if exit := o.reply.Exit(); exit != 0 {
			o.log.Warn("a program failed", "exit", exit)
		}
	case err != nil:
		err = failed(err)
	}
	return n, err
}

// Close ends the program's request, and a Read.
func (o *output) Close() error {
	o.end()
	return nil
}

// failed returns an error of a program with the words for the client.
func failed(err error) error {
	var known *server.Error
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, fastcgi.ErrBusy):
		return &server.Error{Kind: server.Busy, Err: err}
	case errors.Is(err, fastcgi.ErrHangs), errors.Is(err, fastcgi.ErrLong),
		errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return &server.Error{
			Kind:    server.Busy,
			Message: "The program does not answer",
			Err:     err,
		}
	}
	return &server.Error{
		Kind:    server.Internal,
		Message: "The program failed",
		Err:     err,
	}
}

// refused returns the error for a program's own status.
func refused(status int) error {
	e := &server.Error{
		Kind:    server.Internal,
		Message: "The program failed",
		Err:     fmt.Errorf("the program's status is %d", status),
	}
	switch {
	case status == 401 || status == 403 || status == 404 || status == 410:
		e.Kind, e.Message = server.NotFound, ""
	case status == 429 || status == 503:
		e.Kind, e.Message = server.Busy, "The program is busy"
	case status < 500:
		e.Kind, e.Message = server.BadRequest, "The program refuses the request"
	}
	return e
}

// menu reads a reply as the map of its directory.
func (h *Programs) menu(q *answer.Asked, s script, out io.ReadCloser) (*answer.Value, error) {
	text, err := q.ReadMap(out)
	if err != nil {
		return nil, err
	}
	return q.Limited(func(q *answer.Asked) (*answer.Value, error) {
		m, err := q.Builder().Printed(q.Context(), s.name, text)
		return &answer.Value{
			Class:    answer.Menu,
			Selector: q.Request.Selector,
			Type:     menu.TypeMenu,
			Items:    m.Items,
		}, err
	})
}
