package feed_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/feed"
	"github.com/gophd/gophd/answer/gopher"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// tree makes a content tree and a handler for it.
func tree(t *testing.T, files map[string]string) (server.Handler, string) {
	t.Helper()
	dir := t.TempDir()
	treetest.Write(t, dir, files)
	s, err := site.Open(dir, site.Config{})
	treetest.Must(t, err)
	treetest.Run(t, s.Run)
	return &gopher.Front{Host: &answer.Host{Site: s, Fronts: map[string]int{"http": 70},
		Beside: []answer.Source{&feed.Feeds{}}}}, dir
}

type writerTo struct{ bytes.Buffer }

func (w *writerTo) WriteItem(menu.Item) error { return errors.New("a menu") }

func ask(t *testing.T, h server.Handler, sel string) (string, error) {
	t.Helper()
	return askAs(h, &server.Request{RequestLine: selector.RequestLine{Selector: sel},
		Host: "gopher.example", Port: 70})
}

func askAs(h server.Handler, r *server.Request) (string, error) {
	var w writerTo
	err := h.ServeGopher(&w, r)
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
	"latin/2025-01-02":              "Caf\xe9 cr\xe8me\r\n\r\n  \x1b[31mred\x1b[0m <tag>\n",
	"latin/2025-01-01.txt":          strings.Repeat("a long line\n", 100_000),
}

func TestFeed(t *testing.T) {
	h, dir := tree(t, phlog)
	got, err := ask(t, h, "/phlog/feed.xml")
	f := feedOf(t, got, err)
	var told []string
	for _, e := range f.Entry {
		told = append(told, e.Title+" "+e.Published[:10]+" "+e.Link[0].Href+" "+e.Link[1].Href)
	}
	want := "The second 2026-01-02 gopher://gopher.example/0/phlog/2026-01-02-second.txt http://gopher.example:70/phlog/2026-01-02-second.txt|" +
		"The first & <best> 2026-01-01 gopher://gopher.example/0/phlog/2026-01-01-first.txt http://gopher.example:70/phlog/2026-01-01-first.txt"
	if strings.Join(told, "|") != want || f.Updated != "2026-01-02T00:00:00Z" ||
		f.ID != "tag:gopher.example,2026:/phlog/" {
		t.Errorf("%s %s\n%s\nwant\n%s", f.ID, f.Updated, strings.Join(told, "|"), want)
	}
	if got, err := ask(t, h, "/mapped/feed.xml"); err != nil ||
		!strings.Contains(got, ">My label<") || !strings.Contains(got, ">2026-02-02.txt<") {
		t.Errorf("%v: %s", err, got)
	}
	for _, sel := range []string{"/none/feed.xml", "/nowhere/feed.xml", "/phlog/about.txt/feed.xml",
		"/phlog/feed.xml/", "/phlog/Feed.xml", "/../feed.xml"} {
		if got, err := ask(t, h, sel); server.KindOf(err) != server.NotFound {
			t.Errorf("%s: %v: %s", sel, err, got)
		}
	}
	// A new text is in it as soon as the watcher has seen it.
	treetest.Must(t, os.WriteFile(filepath.Join(dir, "phlog/2026-05-05.txt"),
		[]byte("News\n"), 0o644))
	awaitIn(t, h, "/phlog/feed.xml", ">News<")
}

// TestFeedOfCapsules: over Gemini an entry links the text on Gopher, too, unless it is in a tree
// that Gopher does not show.
func TestFeedOfCapsules(t *testing.T) {
	dir := t.TempDir()
	treetest.Write(t, dir, map[string]string{"hole/a.txt": "A",
		"homes/ann/public_gopher/2026-01-01.txt": "x",
		"homes/ann/public_gemini/2026-01-02.gmi": "x",
		"homes/bob/public_gopher/2026-01-03.txt": "x"})
	uid := os.Geteuid()
	if uid == 0 { // who is no user
		uid = 2001
		treetest.Must(t, os.Chmod(filepath.Dir(dir), 0o755))
		treetest.Must(t, filepath.Walk(filepath.Join(dir, "homes"),
			func(name string, _ os.FileInfo, _ error) error {
				return os.Chown(name, uid, uid)
			}))
	}
	s, err := site.Open(filepath.Join(dir, "hole"),
		site.Config{Users: dir + "/homes/*/public_gopher", Capsules: dir + "/homes/*/public_gemini",
			UsersMinUID: uid})
	treetest.Must(t, err)
	treetest.Run(t, s.Run)
	host := &answer.Host{Site: s, Beside: []answer.Source{&feed.Feeds{}}}
	for user, want := range map[string]string{"ann": `href="gemini://h/~ann/2026-01-02.gmi"`,
		"bob": `href="gopher://h/0/~bob/2026-01-03.txt"`} {
		r := &server.Request{RequestLine: selector.RequestLine{Selector: "/~" + user + "/feed.xml"},
			Host: "h", Port: 70, Protocol: "gemini", URLPort: 1965}
		a, err := host.Ask(r.WithContext(t.Context()), &answer.Format{Index: "index.gmi"})
		treetest.Must(t, err)
		if got := string(a.Body); !strings.Contains(got, want) ||
			strings.Contains(got, "gopher:") != (user == "bob") {
			t.Errorf("%s: %s", user, got)
		}
	}
}

type parsed struct {
	ID      string `xml:"id"`
	Updated string `xml:"updated"`
	Entry   []struct {
		ID        string `xml:"id"`
		Title     string `xml:"title"`
		Published string `xml:"published"`
		Link      []struct {
			Href string `xml:"href,attr"`
		} `xml:"link"`
		Content struct {
			Type string `xml:"type,attr"`
			Text string `xml:",chardata"`
		} `xml:"content"`
	} `xml:"entry"`
}

func feedOf(t *testing.T, text string, err error) (f parsed) {
	t.Helper()
	if err == nil {
		err = xml.Unmarshal([]byte(text), &f)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return f
}

// TestFeedOverTLS: a feed that is kept for clients without TLS is none for those with it.
func TestFeedOverTLS(t *testing.T) {
	h, _ := tree(t, phlog)
	h.(*gopher.Front).Host.Cache = answer.NewCache(1 << 20)
	r := &server.Request{RequestLine: selector.RequestLine{Selector: "/phlog/feed.xml"},
		Host: "gopher.example", Port: 70}
	treetest.Until(t, "the feed is kept", func() bool {
		_, _ = askAs(h, r)
		_, ok := h.(server.Quick).Quick(r)
		return ok
	})
	for _, want := range []string{"gopher://", "gophers://", "gopher://"} {
		r.TLS = want == "gophers://"
		got, err := askAs(h, r)
		if f := feedOf(t, got, err); !strings.HasPrefix(f.Entry[0].Link[0].Href, want) {
			t.Errorf("%s, want %s", f.Entry[0].Link[0].Href, want)
		}
	}
}

// TestWholeTexts: a feed has its newest texts in it, in UTF-8 and with their lines.
func TestWholeTexts(t *testing.T) {
	files := map[string]string{"latin/2025-01-02": phlog["latin/2025-01-02"],
		"latin/2025-01-01.txt": phlog["latin/2025-01-01.txt"]}
	for i := range 30 {
		files[fmt.Sprintf("many/2026-01-%02d.txt", i+1)] = fmt.Sprintf("Text %d\n", i+1)
	}
	h, _ := tree(t, files)
	got, err := ask(t, h, "/latin/feed.xml")
	f := feedOf(t, got, err)
	if c := f.Entry[0].Content; f.Entry[0].Title != "Café crème" || c.Type != "html" ||
		c.Text != "<pre>Café crème\n\n  red &lt;tag&gt;\n</pre>" {
		t.Errorf("%q: %+v", f.Entry[0].Title, c)
	}
	if c := f.Entry[1].Content; c.Type != "" {
		t.Errorf("a text of more than 1 MiB is in the feed as %.100q", c.Text)
	}
	got, err = ask(t, h, "/many/feed.xml")
	for i, e := range feedOf(t, got, err).Entry {
		if want := fmt.Sprintf("<pre>Text %d\n</pre>",
			30-i); (e.Content.Text == want) != (i < 20) {
			t.Errorf("entry %d has %q", i, e.Content.Text)
		}
	}
}

// TestIDs: a reader knows a text again, however the site is reached.
func TestIDs(t *testing.T) {
	h, dir := tree(t, phlog)
	ids := func(host string, port int, tls bool, protocol string) string {
		r := &server.Request{RequestLine: selector.RequestLine{Selector: "/phlog/feed.xml"},
			Host: host, Port: port, TLS: tls, Protocol: protocol,
			Local: netip.MustParseAddrPort("127.0.0.1:1965")}
		got, err := askAs(h, r)
		f := feedOf(t, got, err)
		return f.ID + " " + f.Entry[0].ID
	}
	for _, want := range []string{"tag:gopher.example,2026:/phlog/ tag:gopher.example,2026-01-02:/phlog/2026-01-02-second.txt", "tag:ann@example.org,2020-05:/phlog/ tag:ann@example.org,2020-05:/phlog/2026-01-02-second.txt"} {
		a, b, c := ids("gopher.example", 70, false, ""), ids("Gopher.example", 7070, true, ""),
			ids("gopher.example", 70, true, "gemini")
		if a != want || b != want || c != want {
			t.Errorf("%s\n%s\n%s, want\n%s", a, b, c, want)
		}
		treetest.Must(t, os.WriteFile(filepath.Join(dir, ".feed-id"),
			[]byte("Ann@example.org,2020-05\n"), 0o644))
		awaitIn(t, h, "/phlog/feed.xml", "tag:ann@example.org")
	}
	if got := ids("other.example", 70, false, ""); !strings.HasPrefix(got,
		"tag:ann@example.org,2020-05:/phlog/ ") {
		t.Errorf("another -host has the ids %s", got)
	}
	treetest.Must(t, os.WriteFile(filepath.Join(dir, ".feed-id"), []byte("no authority\n"), 0o644))
	awaitIn(t, h, "/phlog/feed.xml", "tag:gopher.example,2026:")
}

// awaitIn waits until a reply has a text.
func awaitIn(t *testing.T, h server.Handler, sel, want string) {
	t.Helper()
	treetest.Until(t, sel+" has "+want, func() bool {
		got, _ := ask(t, h, sel)
		return strings.Contains(got, want)
	})
}

// TestSiteFeed: the feed of the root has the newest texts of all directories, without what
// robots may not fetch, and follows new phlogs and their end.
func TestSiteFeed(t *testing.T) {
	h, dir := tree(t, phlog)
	titles := func() (all []string) {
		got, err := ask(t, h, "/feed.xml")
		for _, e := range feedOf(t, got, err).Entry {
			all = append(all, e.ID[strings.LastIndexByte(e.ID, '/')+1:])
		}
		return all
	}
	want := "2026-03-01%5D%5D%3E%3Cb%3E&%22'.txt 2026-02-02.txt 2026-02-01.txt 2026-01-02-second.txt 2026-01-01-first.txt 2025-01-02 2025-01-01.txt"
	if got := strings.Join(titles(), " "); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	treetest.Must(t, os.MkdirAll(filepath.Join(dir, "new/deep"), 0o755))
	treetest.Must(t, os.WriteFile(filepath.Join(dir, "new/deep/2026-06-06.txt"),
		[]byte("Deep news\n"), 0o644))
	awaitIn(t, h, "/feed.xml", ">Deep news<")
	treetest.Must(t, os.WriteFile(filepath.Join(dir, "new/.robots"),
		[]byte("Disallow: /\n"), 0o644))
	treetest.Until(t, "the feed lacks what became denied", func() bool {
		return strings.Join(titles(), " ") == want
	})
}

// Names and texts of strangers are text in a feed, whatever is in them.
func TestVileNames(t *testing.T) {
	h, _ := tree(t, phlog)
	got, err := ask(t, h, "/vile/feed.xml")
	treetest.Must(t, err)
	if strings.Contains(got, "<script>") || strings.ContainsAny(got, "\x00\x1b") ||
		!strings.Contains(got, "title&gt;&lt;script&gt;") {
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
