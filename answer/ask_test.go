package answer_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// source answers selectors of a test.
type source map[string]func(*answer.Asked) (*answer.Value, error)

func (s source) Answers(sel string) bool { return s[sel] != nil }

func (s source) Answer(q *answer.Asked) (*answer.Value, error) {
	return s[q.Request.Selector](q)
}

// says answers with a value, or fails.
func says(a answer.Value, err error) func(*answer.Asked) (*answer.Value, error) {
	return func(q *answer.Asked) (*answer.Value, error) {
		made := a
		made.Selector, made.Class = q.Request.Selector, cmp.Or(a.Class, answer.File)
		return &made, err
	}
}

// streams answers with a text that is not in memory.
func streams(text string) func(*answer.Asked) (*answer.Value, error) {
	return func(q *answer.Asked) (*answer.Value, error) {
		return &answer.Value{Class: answer.File, Selector: q.Request.Selector, Size: -1,
			Stream: io.NopCloser(strings.NewReader(text))}, nil
	}
}

// show draws an answer: its class, selector, item type and media type, and what it holds.
func show(a *answer.Value, err error) string {
	if err != nil {
		return [...]string{server.BadRequest: "bad request", server.NotFound: "not found",
			server.Busy: "busy", server.Gone: "gone",
			server.Internal: "internal"}[server.KindOf(err)]
	}
	defer a.Close()
	var b bytes.Buffer
	for _, it := range a.Items {
		b.WriteString(strings.TrimSuffix(string(it.AppendTo(nil)), "\r\n") + "|")
	}
	if _, err := a.WriteTo(&b); err != nil {
		b.WriteString(err.Error())
	}
	body := b.String()
	if len(body) > 300 {
		body = fmt.Sprintf("%d bytes", len(body))
	}
	kind := [...]string{answer.Menu: "menu", answer.File: "file", answer.Question: "question", answer.Moved: "moved",
		answer.Leaving: "leaving"}[a.Class]
	return fmt.Sprintf("%s %s %c %s: %s", kind, a.Selector, a.Type, a.MediaType(), body)
}

// What a selector leads to, in each format, the first time and kept.
func TestAsk(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("long\n", 40_000)
	write(t, dir, map[string]string{
		"a.txt": "caf\xe9\n", "d/x.txt": "x", "d/index.gmi": "# I", "e/index.gmi/y": "",
		"f/x.txt": "", "pic.PNG": "\x89PNG", "b.bin": "\x00", "long.txt": long,
		"latin.txt": long + "caf\xe9", "x.html": "<p>",
		"head.txt": "caf\xe9\n" + long, ".robots": "Disallow: /it's/\n", "it's/x": "",
		"open's": "text", "m.gph": "Hi\n", "beside": "a file",
	})
	denied := t.TempDir()
	write(t, denied, map[string]string{".robots": "Disallow: /\nAllow: /x\n", "x": "x"})
	closed := run(t, denied)
	h := &answer.Host{Site: run(t, dir), Cache: answer.NewCache(1 << 20)}
	h.Before = []answer.Source{source{"/a.txt": says(answer.Value{}, server.ErrDeclined), "/p": streams("text"),
		"/large": streams(strings.Repeat("\x00", 4<<20)),
		"/more":  streams(strings.Repeat("\x00", 4<<20+1))},
		source{"/p/menu": streams("0A\t/a\th\t70\r\n.\r\n"),
			"/p/items": says(answer.Value{Class: answer.Menu,
				Items: []menu.Item{{Type: '1', Label: "I"}, menu.Info("info"),
					{Type: '3', Label: "E"}}}, nil),
			"/p/drawn": says(answer.Value{Class: answer.Menu, Drawn: true, Body: []byte("drawn")}, nil),
			"/p/fails": says(answer.Value{}, errors.New("fails"))}}
	stalls := fmt.Errorf("in %w", stall.Err)
	h.Beside = []answer.Source{source{"/made": says(answer.Value{}, server.ErrDeclined),
		"made": says(answer.Value{}, server.ErrDeclined), "/declined": says(answer.Value{}, server.ErrDeclined)},
		source{"/made": says(answer.Value{Body: []byte("made"), Type: '0', Media: "x/y"}, nil),
			"/beside": says(answer.Value{}, nil), "/hangs": says(answer.Value{}, stalls),
			"/denied":  says(answer.Value{}, fs.ErrPermission),
			"/invalid": says(answer.Value{}, fs.ErrInvalid),
			"/late":    says(answer.Value{}, context.DeadlineExceeded),
			"/words": func(q *answer.Asked) (*answer.Value, error) {
				return &answer.Value{Class: answer.File, Body: []byte(q.Request.Query)}, nil
			}}}
	formats := map[string]*answer.Format{
		"items": {}, "strict": {Strict: true, Index: "index.gmi"},
		"seek": {Seek: true}, "raw": wire,
		"drawn": {Query: true, Draws: func(a *answer.Value) bool {
			return a.Type == '0'
		}, Draw: func(q *answer.Asked, a *answer.Value) ([]byte, error) {
			text, err := q.Text(a)
			return fmt.Appendf(nil, "<%s%s>", text, q.Request.Query), err
		}},
	}
	const x = "file /d/x.txt 0 text/plain; charset=utf-8: x"
	aText, aLatin := "file /a.txt 0 text/plain; charset=utf-8: café\n",
		"file /a.txt 0 text/plain; charset=windows-1252: caf\xe9\n"
	moved := func(sel string) string { return "moved " + sel }
	for _, tt := range []struct{ format, line, want string }{
		{"items", "/a.txt", aText}, {"items", "a.txt", aText}, {"raw", "/a.txt", aText},
		{"strict", "/a.txt", aText}, {"seek", "/a.txt", aLatin},
		{"drawn", "/a.txt", "file /a.txt 0 text/plain; charset=utf-8: <café\n>"},
		{"drawn", "/b.bin", "file /b.bin 9 application/octet-stream: \x00"},
		{"drawn", "/d/\tq", "menu /d/ 1 application/octet-stream: <q>"},
		{"items", "/long.txt", "file /long.txt 0 text/plain; charset=utf-8: 200000 bytes"},
		{"items", "/latin.txt", "file /latin.txt 0 text/plain; charset=utf-8: 200004 bytes"},
		{"items", "/head.txt", "file /head.txt 0 text/plain; charset=utf-8: 200006 bytes"},
		{"seek", "/head.txt", "file /head.txt 0 text/plain; charset=windows-1252: 200005 bytes"},
		{"items", "/pic.PNG", "file /pic.PNG I image/png: \x89PNG"},
		{"items", "/x.html", "file /x.html h text/plain; charset=utf-8: <p>"},
		{"items", "/m.gph", "menu /m.gph 1 application/octet-stream: iHi\t\terror.host\t1|"},
		{"items", "/d/", "menu /d/ 1 application/octet-stream: i# I\t\terror.host\t1|"},
		{"items", "/d", "menu /d/ "}, {"strict", "/d", moved("/d/ 1 ")},
		{"strict", "d/x.txt", moved("/d/x.txt 0 ")},
		{"strict", "/d/", "file /d/index.gmi 0 text/plain; charset=utf-8: # I"},
		{"strict", "/e/", "menu /e/ "}, {"strict", "/f/", "menu /f/ "},
		{"strict", "/m.gph", "menu /m.gph "}, {"strict", "/d/x.txt", x},
		{"items", "/d/x.txt/", "not found"},
		{"items", "URL:https://a.test/", "leaving "}, {"items", "/URL:https://a.test/", "leaving "},
		{"items", "URL:javascript:x", "not found"},
		{"items", "/about-robots", "file /about-robots 0 text/plain; charset=utf-8: "},
		{"items", "about-robots", "file /about-robots 0 "},
		{"items", "/caps.txt", "file /caps.txt 0 text/plain; charset=utf-8: "},
		{"items", "caps.txt", "file /caps.txt 0 "}, {"items", "caps.txt/", "not found"},
		{"items", "/caps.txt/", "not found"},
		{"items", "robots.txt", "file /robots.txt 0 text/plain; charset=utf-8: "},
		{"items", "/made", "file /made 0 x/y: made"}, {"raw", "/made", "file /made 0 x/y: made"},
		{"items", "nothing", "not found"}, {"items", "/declined", "not found"},
		{"items", "/beside", "file /beside 0 text/plain; charset=utf-8: a file"},
		{"items", "/hangs", "busy"}, {"items", "/denied", "not found"},
		{"items", "/invalid", "not found"}, {"items", "/late", "gone"},
		{"items", "/p/fails", "internal"},
		{"items", "/words\ta b", "file  \x00 application/octet-stream: a b"},
		{"items", "/words\tc", "file  \x00 application/octet-stream: c"},
		{"items", "/p", "file /p 0 text/plain; charset=utf-8: text"},
		{"raw", "/p", "file /p \x00 application/octet-stream: text"},
		{"items", "/large", "file /large 9 application/octet-stream: 4194304 bytes"},
		{"items", "/more", "internal"},
		{"raw", "/more", "file /more \x00 application/octet-stream: 4194305 bytes"},
		{"items", "/p/menu", "menu /p/menu 1 application/octet-stream: 0A\t/a\th\t70|"},
		{"raw", "/p/menu", "file /p/menu \x00 application/octet-stream: 0A\t/a\th\t70\r\n.\r\n"},
		{"raw", "/p/items", "menu /p/items \x00 application/octet-stream: 1I\t\th\t70\r\niinfo\t\terror.host\t1\r\n3E\t\terror.host\t1\r\n.\r\n"},
		{"items", "/p/drawn", "menu /p/drawn \x00 application/octet-stream: drawn"},
		{"drawn", "/p", "file /p 0 text/plain; charset=utf-8: <text>"},
	} {
		for range 2 {
			if got := show(h.Ask(request(t, tt.line), formats[tt.format])); got != tt.want &&
				(len(tt.want) > 28 && !strings.HasSuffix(tt.want, " ") ||
					!strings.HasPrefix(got, tt.want)) {
				t.Errorf("%s, %q: %q, want %q", tt.format, tt.line, got, tt.want)
			}
		}
	}
	for sel, want := range map[string]string{"caps.txt": "moved /caps.txt 0 ",
		"made": "moved /made 0 ", "/caps.txt": "file ", "/made": "file ", "caps.txt/": "not found",
		"none": "not found", "/none": "not found", "x": "file "} {
		if got := show((&answer.Host{Site: closed, Beside: h.Beside}).Ask(request(t, sel),
			&answer.Format{})); !strings.HasPrefix(got, want) {
			t.Errorf("where all is denied, %q: %q, want %q", sel, got, want)
		}
	}
	for sel, want := range map[string]byte{"/a.txt": '0', "/d": '1', "/d/": '1', "/none": 0,
		"/../x": 0, "beside": '0', "/b.bin": '9', "/open's": '0'} {
		if got := h.ItemType(t.Context(), sel); got != want {
			t.Errorf("%s has type %c", sel, got)
		}
	}
	for path, want := range map[string]bool{"/it's/x": false, "/it%27s/x": true,
		"/open%27s": false} {
		if got := h.ClosedPath(strings.ReplaceAll(path, "%27", "'"), path); got != want {
			t.Errorf("%s is closed: %v", path, got)
		}
	}
	h.Admission = admits(false)
	if _, quick := h.Quick(request(t, "robots.txt"), wire); quick ||
		show(h.Ask(request(t, "robots.txt"), wire)) != "busy" {
		t.Error("a request that is not admitted is answered")
	}
	if h.Admission = admits(true); !strings.HasPrefix(show(h.Ask(request(t, "robots.txt"),
		wire)), "file") {
		t.Error("a request that is admitted is not answered")
	}
}

// admits decides alike about all requests.
type admits bool

func (a admits) AdmitNow(*server.Request) bool { return bool(a) }

func (a admits) Admit(*server.Request) error {
	if !a {
		return stall.Err
	}
	return nil
}

// faulty is a tree whose files cannot be opened while it fails.
type faulty struct {
	fstest.MapFS
	fails error
}

func (f *faulty) Open(name string) (fs.File, error) {
	if f.fails != nil && name != "." {
		return nil, f.fails
	}
	return f.MapFS.Open(name)
}

// A name is kept as missing only if it is missing: after an error of another kind, or a
// client that left, the next request looks again.
func TestErrorsAreNotKept(t *testing.T) {
	tree := &faulty{MapFS: fstest.MapFS{"x.txt": {Data: []byte("x")}}}
	s := site.FS(tree, site.Config{})
	go func() { _ = s.Run(t.Context()) }()
	_, err := s.Snapshot(t.Context())
	must(t, err)
	left, leave := context.WithCancel(t.Context())
	leave()
	for want, fails := range map[string]error{"busy": stall.Err, "internal": errors.New("broken"),
		"gone": context.Canceled, "not found": fs.ErrPermission} {
		h := newFiles(s, 1<<20)
		for _, sel := range []string{"/x.txt", "/x", "/none/x"} {
			tree.fails = fails
			if got := show(h.Ask(request(t, sel), wire)); got != want {
				t.Errorf("%s, %v: %q", sel, fails, got)
			}
			tree.fails = nil
			_, _ = h.Ask(request(t, sel).WithContext(left), wire)
		}
		if got := show(h.Ask(request(t, "/x.txt"), wire)); !strings.HasSuffix(got, ": x") {
			t.Errorf("after %v: %q", fails, got)
		}
		for range 2 { // looked up, and kept
			if got := show(h.Ask(request(t, "/none/x"), wire)); got != "not found" {
				t.Errorf("a missing name, after %v: %q", fails, got)
			}
		}
		if a, ok := h.Quick(request(t, "/none/x")); !ok || server.KindOf(a.Err) != server.NotFound {
			t.Errorf("a missing name is not kept: %v, %+v", ok, a)
		}
	}
}

// runner prints the name of a program and for which it is called, and how often it ran.
type runner struct{ ran map[string]int }

func (r *runner) Runs(name string) bool {
	return strings.HasSuffix(name, ".sh") || name == "d/gophermap"
}

func (r *runner) Run(q *answer.Asked, name, called string) (string, error) {
	r.ran[name]++
	switch {
	case strings.HasPrefix(name, "bad"):
		return "", stall.Err
	case q.Context().Err() != nil:
		return "", q.Context().Err()
	}
	return fmt.Sprintf("%s for %s\n", name, called), nil
}

// A long reply of a program, of which a part is read before it has a place: whole, too long,
// and one that fails at its end.
func TestLongRepliesOfPrograms(t *testing.T) {
	line := "ilong\t\th\t1\r\n"
	text := strings.Repeat(line, (512<<10)/len(line))
	h := &answer.Host{Site: run(t, t.TempDir()),
		Before: []answer.Source{source{"/whole": streams(text),
			"/long": streams(strings.Repeat(text, 4<<20/len(text)+1)),
			"/menu": streams(text + ".\r\n"),
			"/fails": func(q *answer.Asked) (*answer.Value, error) {
				return &answer.Value{Class: answer.File, Size: -1,
					Stream: io.NopCloser(io.MultiReader(strings.NewReader(text),
						iotest.ErrReader(errors.New("broken"))))}, nil
			}}}}
	for sel, want := range map[string]string{"/whole": "<nil>", "/menu": "<nil>", "/long": "too long",
		"/fails": "broken"} {
		a, err := h.Ask(request(t, sel), &answer.Format{})
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v", sel, err)
		} else if err == nil && string(a.Body) != text &&
			len(a.Items) != strings.Count(text, "\n") {
			t.Errorf("%s: %d bytes, %d items", sel, len(a.Body), len(a.Items))
		}
	}
}

// Programs that make menus run once each, eight at most, for each request; an error of
// one that makes a part is a line there.
func TestMenuPrograms(t *testing.T) {
	const source = "#!/bin/sh\nsecret\n"
	dir := t.TempDir()
	files := map[string]string{"gophermap": "You are $REMOTE_ADDR\n=a.sh\n=a.sh\n=bad.sh\n=none.sh\n", "many/gophermap": "", "d/gophermap": source, "bad/gophermap": "=../bad.sh\n", "a.sh": source, "bad.sh": source, "m.gph": source, "bad.gph": source}
	for i := range 8 + 1 {
		files["many/gophermap"] += fmt.Sprintf("=%d.sh\n", i)
		files[fmt.Sprintf("many/%d.sh", i)] = source
	}
	write(t, dir, files)
	programs := &runner{map[string]int{}}
	h := &answer.Host{Site: run(t, dir), Cache: answer.NewCache(1 << 20), Runner: programs}
	for sel, want := range map[string]string{
		"/": "iYou are 192.0.2.1|ia.sh for a.sh|ia.sh for a.sh|", "/d/": "id/gophermap for d|",
		"/bad/": "3Server error|", "/a.sh": "not found", "/m.gph": "not found",
	} {
		r := request(t, sel)
		r.Remote = netip.MustParseAddrPort("192.0.2.1:7")
		for range 2 {
			got := strings.ReplaceAll(show(h.Ask(r, &answer.Format{})), "\t\terror.host\t1", "")
			if _, items, _ := strings.Cut(got, ": "); !strings.HasPrefix(cmp.Or(items, got),
				want) || strings.Contains(got, "secret") {
				t.Errorf("%s: %q, want %q", sel, got, want)
			}
		}
	}
	if programs.ran["a.sh"] != 2 || programs.ran["d/gophermap"] != 2 {
		t.Errorf("for two requests each, programs ran %v times", programs.ran)
	}
	a, err := h.Ask(request(t, "/many/"), &answer.Format{})
	must(t, err)
	if n := len(programs.ran) - 3; n != 8 ||
		!strings.Contains(fmt.Sprint(a.Items), "7.sh for many/7.sh") ||
		strings.Contains(fmt.Sprint(a.Items), "8.sh for") {
		t.Errorf("%d of %d programs ran: %v", n, 8+1, a.Items)
	}
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if got := show(h.Ask(request(t, "/").WithContext(ctx), wire)); got != "gone" {
		t.Errorf("for a client that left: %q", got)
	}
}

// The dated texts that robots may fetch, the newest first.
func TestNewestTexts(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"2026-01-02-a.txt": "", "2026-01-02-b": "",
		"2026-01-04.png": "", "2026-01-05/x": "", "notes.txt": "", "2026-02-01-no.txt": "",
		"log/20260103.txt":  "",
		"no/2026-01-09.txt": "", "none/x.txt": "",
		".robots": "Disallow: /no/\nDisallow: /2026-02-01-no.txt\n"})
	tree := run(t, dir)
	for _, tt := range []struct {
		dir  string
		deep bool
		n    int
		want string
	}{
		{".", false, 9, "2026-01-02-b 2026-01-02-a.txt"},
		{".", true, 9, "log/20260103.txt 2026-01-02-b 2026-01-02-a.txt"},
		{".", true, 2, "log/20260103.txt 2026-01-02-b"}, {"no", true, 9, ""}, {"none", true, 9, ""},
	} {
		list, err := answer.NewestTexts(tree.View(t.Context()), tt.dir, tt.deep, tt.n)
		must(t, err)
		var names []string
		for _, d := range list {
			names = append(names, d.Name)
		}
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%s, deep %v: %q, want %q", tt.dir, tt.deep, got, tt.want)
		}
	}
	for dir, want := range map[string]bool{".": true, "log": true, "no": false, "none": false} {
		if got := answer.HasFeed(tree.View(t.Context()), dir); got != want {
			t.Errorf("%s has a feed: %v", dir, got)
		}
	}
}

// TestPlacesOfPrograms: of the places of a program, an address has a quarter. Each is free
// when its request ends, and nobody waits for one longer than 45 seconds.
func TestPlacesOfPrograms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &answer.Host{}
		ctx, end := context.WithCancel(t.Context())
		enter := func(ctx context.Context, program string, client int) error {
			q := &answer.Asked{Host: h, Request: &server.Request{Remote: netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, byte(client)}), 1)}}
			return q.Enter(ctx, program, 16)
		}
		for client := range 4 {
			for range 4 {
				must(t, enter(ctx, "a", client))
			}
		}
		must(t, enter(ctx, "b", 1))
		began := time.Now()
		for _, client := range []int{1, 9} {
			if err := enter(t.Context(), "a", client); server.KindOf(err) != server.Busy {
				t.Errorf("beyond the bound: %v", err)
			}
		}
		if took := time.Since(began); took != 90*time.Second {
			t.Errorf("they wait for %v", took)
		}
		time.AfterFunc(time.Second, end)
		for range 4 {
			must(t, enter(t.Context(), "a", 1))
		}
	})
}
