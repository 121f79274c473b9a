package feed

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/gopher"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// tree makes a content tree and a handler for it.
func tree(t *testing.T, files map[string]string) (server.Handler, string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := site.Open(dir, site.Config{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	return &gopher.Front{Host: &answer.Host{Site: s, Beside: []answer.Source{&Feeds{Web: true}}}}, dir
}

type writerTo struct{ bytes.Buffer }

func (w *writerTo) WriteItem(menu.Item) error { return errors.New("a menu") }

func ask(t *testing.T, h server.Handler, sel string) (string, error) {
	t.Helper()
	var w writerTo
	err := h.ServeGopher(&w, &server.Request{RequestLine: selector.RequestLine{Selector: sel}, Host: "gopher.example", Port: 70})
	return w.String(), err
}

var phlog = map[string]string{
	"phlog/2026-01-02-second.txt":   "The second\n",
	"phlog/2026-01-01-first.txt":    "# The first & <best>\n",
	"phlog/2026-01-03-draft.txt":    "not yet\n",
	"phlog/2026-01-04.png":          "\x89PNG",
	"phlog/about.txt":               "no date\n",
	"phlog/20260105/x.txt":          "a directory\n",
	"phlog/.robots":                 "User-agent: *\nDisallow: /2026-01-03-draft.txt\n",
	"mapped/gophermap":              "0My label\t2026-02-01.txt\n",
	"mapped/2026-02-01.txt":         "first line\n",
	"mapped/2026-02-02.txt":         "\n",
	"vile/2026-03-01]]><b>&\"'.txt": "\x00\x1b]]></title><script>alert(1)</script>\ufffe",
	"none/a.txt":                    "x",
}

func TestFeed(t *testing.T) {
	h, dir := tree(t, phlog)
	got, err := ask(t, h, "/phlog/feed.xml")
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		ID      string `xml:"id"`
		Updated string `xml:"updated"`
		Entry   []struct {
			Title     string `xml:"title"`
			Published string `xml:"published"`
			Link      []struct {
				Href string `xml:"href,attr"`
			} `xml:"link"`
		} `xml:"entry"`
	}
	if err := xml.Unmarshal([]byte(got), &f); err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, e := range f.Entry {
		told = append(told, e.Title+" "+e.Published[:10]+" "+e.Link[0].Href+" "+e.Link[1].Href)
	}
	want := "The second 2026-01-02 gopher://gopher.example/0/phlog/2026-01-02-second.txt http://gopher.example:70/phlog/2026-01-02-second.txt|" +
		"The first & <best> 2026-01-01 gopher://gopher.example/0/phlog/2026-01-01-first.txt http://gopher.example:70/phlog/2026-01-01-first.txt"
	if strings.Join(told, "|") != want || f.Updated != "2026-01-02T00:00:00Z" || f.ID != "gopher://gopher.example/1/phlog/" {
		t.Errorf("%s %s\n%s\nwant\n%s", f.ID, f.Updated, strings.Join(told, "|"), want)
	}
	if got, err := ask(t, h, "/mapped/feed.xml"); err != nil || !strings.Contains(got, ">My label<") || !strings.Contains(got, ">2026-02-02.txt<") {
		t.Errorf("%v: %s", err, got)
	}
	for _, sel := range []string{"/none/feed.xml", "/feed.xml", "/nowhere/feed.xml", "/phlog/about.txt/feed.xml", "/phlog/feed.xml/", "/phlog/Feed.xml", "/../feed.xml"} {
		if got, err := ask(t, h, sel); server.KindOf(err) != server.NotFound {
			t.Errorf("%s: %v: %s", sel, err, got)
		}
	}
	// A new text is in it as soon as the watcher has seen it.
	if err := os.WriteFile(filepath.Join(dir, "phlog/2026-05-05.txt"), []byte("News\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if got, _ := ask(t, h, "/phlog/feed.xml"); strings.Contains(got, ">News<") {
			break
		} else if time.Now().After(end) {
			t.Fatalf("the new text is not in %s", got)
		}
	}
}

// Names and texts of strangers are text in a feed, whatever is in them.
func TestVileNames(t *testing.T) {
	h, _ := tree(t, phlog)
	got, err := ask(t, h, "/vile/feed.xml")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(got, "<script>") || strings.ContainsAny(got, "\x00\x1b") || !strings.Contains(got, "title&gt;&lt;script&gt;") {
		t.Errorf("markup of a stranger: %s", got)
	}
	for l := range strings.Lines(got) {
		if _, href, ok := strings.Cut(l, `href="`); ok {
			if _, err := url.Parse(strings.TrimSuffix(strings.TrimSpace(href), `"/>`)); err != nil {
				t.Error(err)
			}
		}
	}
}

// Whatever names and titles are, the feed is one document with the entries that it
// was given, and their text.
func FuzzAppend(f *testing.F) {
	f.Add("a", "b<c>&\x00")
	f.Fuzz(func(t *testing.T, id, heading string) {
		in := Feed{ID: id, Title: heading, Author: id, Links: []Ref{{"self", "a/b", id}}, Entries: []Entry{{ID: id, Title: answer.CleanTitle(heading), Links: []Ref{{"alternate", "c/d", heading}}}}}
		var out struct {
			Entry []struct {
				Title string `xml:"title"`
			} `xml:"entry"`
		}
		if err := xml.Unmarshal(in.Append(nil), &out); err != nil {
			t.Fatalf("%v: %s", err, in.Append(nil))
		}
		if len(out.Entry) != 1 || len(out.Entry[0].Title) > 2*200 {
			t.Fatalf("%+v", out)
		}
	})
}
