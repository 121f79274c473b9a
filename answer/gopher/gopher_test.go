package gopher_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/gopher"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

type reply struct{ bytes.Buffer }

func (r *reply) WriteItem(it menu.Item) error {
	_, err := r.Write(it.AppendTo(nil))
	return err
}

// get asks for a line, from memory if it is there.
func get(t *testing.T, f *gopher.Front, line string) (text string, quick bool) {
	t.Helper()
	parsed, err := selector.Parse([]byte(line))
	treetest.Must(t, err)
	r := &server.Request{RequestLine: parsed, Host: "h", Port: 70}
	if a, ok := f.Quick(r); ok && a.File == nil {
		return string(a.Body), true
	}
	var w reply
	if err := f.ServeGopher(&w, r); err != nil {
		return string(server.ErrorBody(err)), false
	}
	return w.String(), false
}

// program prints a menu in its own way.
type program struct{}

const printed = "0A\t/a\th\t70\tmore\n.\r\n"

func (program) Answers(sel string) bool { return sel == "/program" }

func (program) Answer(q *answer.Asked) (*answer.Value, error) {
	return &answer.Value{Class: answer.File, Selector: q.Request.Selector,
		Stream: io.NopCloser(strings.NewReader(printed)), Size: -1}, nil
}

// What is sent, made and kept: menus, as a Gopher+ client wants the root's, strict
// texts small and large, and errors.
func TestReplies(t *testing.T) {
	dir := t.TempDir()
	large := strings.Repeat("caf\xe9\n", 30_000)
	treetest.Write(t, dir, map[string]string{"x.txt": "caf\xe9\n.\n", "large.txt": large,
		"b.bin": "\x00\n", ".robots": "Disallow: /b.bin\n"})
	tree, err := site.Open(dir, site.Config{})
	treetest.Must(t, err)
	_, stop, err := tree.Read(context.Background())
	treetest.Must(t, err)
	defer func() { treetest.Must(t, stop()) }()
	host := &answer.Host{Site: tree, Before: []answer.Source{program{}},
		Cache: answer.NewCache(8 << 20)}
	plain, strict := &gopher.Front{Host: host}, &gopher.Front{Host: host, StrictText: true}
	root := "9b.bin\t/b.bin\th\t70\r\n0large.txt\t/large.txt\th\t70\r\n0x.txt\t/x.txt\th\t70\r\n.\r\n"
	missing := "3Not found: nothing here has that name\t\terror.host\t1\r\n.\r\n"
	for _, test := range []struct {
		front      *gopher.Front
		line, want string
		kept       bool
	}{
		{plain, "", root, true},
		{plain, "\t$", "+-1\r\n+INFO: " +
			strings.Replace(strings.Replace(root, "\n0", "\n+INFO: 0", 2), "\n9",
				"\n+INFO: 9", 1), true},
		{strict, "", root, true},
		{plain, "/x.txt", "café\n.\n", true},
		{strict, "/x.txt", "café\r\n..\r\n.\r\n", true},
		{strict, "/large.txt", strings.Repeat("café\r\n", 30_000) + ".\r\n", false},
		{strict, "/b.bin", "\x00\n", true},
		{plain, "/none", missing, true},
		{strict, "/none", missing, true},
		{plain, "/program", printed, false}, // as it is, though it is a menu
		{strict, "/program", printed, false},
		{plain, "/%62.bin", "9/b.bin\t/b.bin\th\t70\r\n", false},
		{strict, "/robots.txt", string(tree.Now().Robots), true},
	} {
		quick := false
		for range 3 {
			var got string
			if got, quick = get(t, test.front, test.line); got != test.want {
				t.Errorf("%q, strict %v: got %.80q, want %.80q", test.line, test.front.StrictText,
					got, test.want)
			}
		}
		if quick != test.kept {
			t.Errorf("%q, strict %v: kept: %v", test.line, test.front.StrictText, quick)
		}
	}
}
