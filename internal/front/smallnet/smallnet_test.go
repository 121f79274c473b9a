package smallnet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/feed"
	"github.com/gophd/gophd/internal/process/keypair"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

var tree = map[string]string{
	"box/gophermap":           "!Box\n\n  +-----+\n  | Box |\n``` not the end\n  +-----+\n\nBox\n\nMore\nBox\n",
	"gophermap":               "!The hole\n\n  a drawing\n  of two lines\n\n0A text\tabout.txt\n1Notes\t/notes\n7Ask\t/ask\nhWeb\tURL:https://example.org/a\n1Far\t/x y\tfar.example\t7070\n* no list\n",
	"about.txt":               "Caf\xe9\n",
	"notes/2026-01-02-a.txt":  "The first\n\nOf January.\n",
	"notes/2026-03-04-b.txt":  "2026-03-04 The second\n",
	"capsule/index.gmi":       "# A capsule\n",
	"capsule/page.gmi":        "=> index.gmi\n",
	"pic.png":                 "\x89PNG",
	"a b%.txt":                "odd name\n",
	"secret/.robots":          "Disallow: /\n",
	"secret/x.txt":            "not for robots\n",
	".hidden":                 "hidden\n",
	"afar/gophermap":          "2Names\tx\tfar.example\t105\n7Find\t/find\tfar.example\n7Book\t/prog/book x\n",
	"marks/gophermap":         "i=> a\t\t\t\ni=: a\t\t\t\ni```\t\t\t\ni#a\t\t\t\ni* a\t\t\t\ni>a\t\t\t\ni*a\t\t\t\ni=a\t\t\t\n",
	"art/notes.md":            "# Notes\n",
	"marks/more.markdown":     "# More\n",
	"art/of.gophermap":        "  /\\\n0In it\t/about.txt\n  \\/\n",
	"run.cgi":                 "#!/bin/sh\n",
	"~ann/gophermap":          "!Ann's place\n",
	"~ann/plan.txt":           "To sleep\x1b[2J.\n",
	"~ann/project.txt":        "A map\nof Mars\n",
	"~ann/log/2026-05-05.txt": "Spring\n",
}

// ask is one source that needs words.
type question struct{}

func (question) Answers(sel string) bool {
	return sel == "/ask" || sel == "/broken"
}

func (question) Answer(q *answer.Asked) (*answer.Value, error) {
	if q.Request.Selector == "/broken" {
		return nil, errors.New("it is broken")
	}
	a := &answer.Value{Class: answer.Question, Selector: "/ask", Type: menu.TypeSearch,
		Prompt: "What for?"}
	if q.Request.Query != "" {
		a.Class, a.Items = answer.Menu,
			[]menu.Item{menu.Info("asked for " + q.Request.Query),
				{Type: menu.TypeText, Label: "A", Selector: "/about.txt"},
				{Type: menu.TypeInfo, Below: true, Label: "a line of it",
					Hits: []menu.Hit{{From: 2,
						To: 6}}}, menu.Info(""), menu.Info("Drawn"), menu.Info(""), menu.Info("  /\\")}
	}
	return a, nil
}

// program answers everything below /prog with the words that it gets.
type program struct{}

func (program) Answers(sel string) bool {
	return strings.HasPrefix(sel, "/prog/")
}

func (program) Answer(q *answer.Asked) (*answer.Value, error) {
	return &answer.Value{Class: answer.File, Selector: q.Request.Selector, Type: menu.TypeText,
		Body: []byte("got " + q.Request.Query)}, nil
}

// robots.txt is answered from memory, in the protocol's own form, by all its spellings.
func TestRobotsIsQuick(t *testing.T) {
	tree, err := site.Open(t.TempDir(), site.Config{})
	treetest.Must(t, err)
	h := &answer.Host{Site: tree}
	front := &Protocols{Hosts: func(r *server.Request, name string) (*answer.Host,
		*server.Request, bool) {
		own := *r
		return h, &own, name != "other.example"
	}}
	ask := func(p *server.Protocol, raw string) (string, bool) {
		a, ok := p.Handler.(server.Quick).Quick(&server.Request{Raw: raw})
		return string(a.Body), ok
	}
	if got, ok := ask(front.Nex(), "robots.txt\n"); ok {
		t.Errorf("before the first scan: %q", got)
	}
	_, stop, err := tree.Read(t.Context())
	treetest.Must(t, err)
	defer func() { _ = stop() }()
	file := string(tree.Now().Robots)
	for _, test := range []struct {
		p    *server.Protocol
		raw  string
		want string // "": it is no request for robots.txt of this host
	}{
		{front.Nex(), "robots.txt\n", file},
		{front.Nex(), "/0/robots.txt\r\n", file},
		{front.Nex(), "/x\n", ""},
		{front.Spartan(), "here.example:300 /robots.txt 0\r\n",
			"2 text/plain; charset=utf-8\r\n" + file},
		{front.Spartan(), "here.example /0/robots.txt 1\r\nx",
			"2 text/plain; charset=utf-8\r\n" + file},
		{front.Spartan(), "here.example /x 0\r\n", ""},
		{front.Gemini(), "gemini://here.example/%72obots.txt\r\n",
			"20 text/plain; charset=utf-8\r\n" + file},
		{front.Gemini(), "gemini://here.example/robots.txt?x\r\n",
			"20 text/plain; charset=utf-8\r\n" + file},
		{front.Gemini(), "gemini://here.example/\r\n", ""},
		{front.Gemini(), "robots.txt\r\n", ""},
	} {
		got, ok := ask(test.p, test.raw)
		if got != test.want || ok != (test.want != "") || test.p.Robots(test.raw) != ok {
			t.Errorf("%s, %q: %q, %v, %v", test.p.Name, test.raw, got, ok, test.p.Robots(test.raw))
		}
	}
	if got, ok := ask(front.Gemini(), "gemini://other.example/robots.txt\r\n"); ok {
		t.Errorf("another host: %q", got)
	}
}

// TestLanguage: texts have the language of the host, unless a program names another.
func TestLanguage(t *testing.T) {
	h := &answer.Host{HostOptions: answer.HostOptions{Lang: "en"}}
	for media, want := range map[string]string{"": "text/plain; charset=utf-8; lang=en",
		"text/gemini": "text/gemini; lang=en", "text/gemini; lang=de": "text/gemini; lang=de",
		"image/png": "image/png"} {
		a := &answer.Value{Class: answer.File, Type: menu.TypeText, Selector: "/a.txt", Media: media}
		if got := mediaType(h, a); got != want {
			t.Errorf("%q: %q, want %q", media, got, want)
		}
	}
}

// start serves the tree with a protocol, and returns a function that sends a request.
func start(t *testing.T, protocol func(*Protocols) *server.Protocol) func(request string) string {
	t.Helper()
	dir := t.TempDir()
	treetest.Write(t, dir, tree)
	s, err := site.Open(dir, site.Config{})
	treetest.Must(t, err)
	h := &answer.Host{Site: s, Fronts: map[string]int{"gemini": 1965, "http": 70},
		Before: []answer.Source{program{}}, Beside: []answer.Source{&feed.Feeds{}, question{}},
		Cache: answer.NewCache(1 << 20)}
	h.Hosts = func() []menu.Item { // its own is among them, as in a gophermap
		return []menu.Item{{Type: menu.TypeMenu, Host: "here.example"},
			{Type: menu.TypeMenu, Host: "other.example"},
			{Type: menu.TypeMenu, Host: "third.example", Port: 7071}, {Type: menu.TypeMenu}}
	}
	front := &Protocols{Hosts: func(r *server.Request, name string) (*answer.Host,
		*server.Request, bool) {
		own := *r
		own.Host, own.Port = "here.example", 70
		return h, &own, name == "" || name == "here.example"
	}}
	p, srv := protocol(front), &server.Server{}
	if p.Name == "gemini" {
		files, err := keypair.SelfSigned(filepath.Join(t.TempDir(), "cert"), "here.example")
		treetest.Must(t, err)
		pair, err := tls.LoadX509KeyPair(files.Cert, files.Key)
		treetest.Must(t, err)
		srv.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	}
	treetest.Run(t, s.Run)
	addr := treetest.Serve(t, func(ctx context.Context, l net.Listener) error {
		return srv.ServeProtocol(ctx, l, p)
	})
	_, err = s.Snapshot(t.Context())
	treetest.Must(t, err)
	return func(request string) string {
		c, err := net.Dial("tcp", addr)
		treetest.Must(t, err)
		defer func() { _ = c.Close() }()
		if p.Name == "gemini" {
			c = tls.Client(c, &tls.Config{InsecureSkipVerify: true,
				VerifyPeerCertificate: func([][]byte, [][]*x509.Certificate) error {
					return nil
				}})
		}
		_, err = io.WriteString(c, request)
		treetest.Must(t, err)
		reply, err := io.ReadAll(c) // with TLS, an error if there is no close_notify
		if err != nil {
			t.Errorf("%q: %v", request, err)
		}
		return string(reply)
	}
}

// root is the root's menu as gemtext, with the word that links a question.
func root(question string) string {
	return "# The hole\n\n```\n  a drawing\n  of two lines\n```\n\n=> /about.txt A text\n=> /notes/ Notes\n" + question +
		" /ask Ask\n=> https://example.org/a Web\n=> gopher://far.example:7070/1/x%20y Far\n * no list\n\n=> feed.gmi Subscribe\n"
}

const gemtextHead = "20 text/gemini; charset=utf-8\r\n"

func TestGemini(t *testing.T) {
	ask := start(t, (*Protocols).Gemini)
	for request, want := range map[string]string{
		"gemini://here.example/":          gemtextHead + root("=>"),
		"gemini://here.example":           gemtextHead + root("=>"),
		"gemini://here.example/about.txt": "20 text/plain; charset=utf-8\r\nCafé\n",
		"gemini://here.example/notes":     "31 gemini://here.example/notes/\r\n",
		"gemini://here.example/notes/": gemtextHead +
			"# Notes\n\n=> /notes/2026-03-04-b.txt 2026-03-04 The second\n=> /notes/2026-01-02-a.txt 2026-01-02 The first\n\n=> feed.gmi Subscribe\n",
		"gemini://here.example/capsule/":         gemtextHead + "# A capsule\n",
		"gemini://here.example/capsule/page.gmi": gemtextHead + "=> index.gmi\n",
		"gemini://here.example/pic.png":          "20 image/png\r\n\x89PNG",
		"gemini://here.example/a%20b%25.txt":     "20 text/plain; charset=utf-8\r\nodd name\n",
		"gemini://here.example/secret/x.txt":     "20 text/plain; charset=utf-8\r\nnot for robots\n",
		"gemini://here.example/ask":              "10 What for?\r\n",
		"gemini://here.example/ask?two%20words": gemtextHead +
			"# asked for two words\n\n=> /about.txt A\n   a *line* of it\n\nDrawn\n\n```\n  /\\\n```\n",
		"gemini://here.example/afar/": gemtextHead +
			"# afar\n\nNames\n=> gopher://far.example/7/find Find\n=> /7/prog/book%20x Book\n",
		"gemini://here.example/7/prog/book%20x":       "10 What shall the program get?\r\n",
		"gemini://here.example/7/prog/book%20x?a%20b": "31 gemini://here.example/prog/book%20x?a%20b\r\n",
		"gemini://here.example/notes?\"+":             "31 gemini://here.example/notes/?%22%2B\r\n",
		"gemini://here.example/prog/book%20x?a%20b":   "20 text/plain; charset=utf-8\r\ngot a b",
		"gemini://here.example/7/about.txt":           "31 gemini://here.example/about.txt\r\n",
		"gemini://here.example/art?aa" +
			strings.Repeat("\"", 332): "59 The URL has more than 1024 bytes, escaped\r\n",
		"gemini://here.example/art?a" +
			strings.Repeat("\"", 332): "31 gemini://here.example/art/?a" +
			strings.Repeat("%22", 332) + "\r\n",
		"gemini://here.example/art/of.gophermap": gemtextHead +
			"# of.gophermap\n\n```\n  /\\\n```\n=> /about.txt In it\n```\n  \\/\n```\n",
		"gemini://here.example/URL:https://a.test/": gemtextHead +
			"=> https://a.test/\n",
		"gemini://here.example/1/notes":     "31 gemini://here.example/notes/\r\n",
		"gemini://here.example/0/about.txt": "31 gemini://here.example/about.txt\r\n",
		"gemini://here.example/ask%09two%20words": gemtextHead +
			"# asked for two words\n\n=> /about.txt A\n   a *line* of it\n\nDrawn\n\n```\n  /\\\n```\n",
		"gemini://here.example/%73ecret/x.txt%09two%20words": "31 gemini://here.example/secret/x.txt?two%20words\r\n",
		"gemini://here.example/box/": gemtextHead +
			"# Box\n\n```\n  +-----+\n  | Box |\n ``` not the end\n  +-----+\n```\n\nBox\n\nMore\nBox\n",
		"gemini://here.example/nope":             "51 Not found: nothing here has that name\r\n",
		"gemini://here.example/.hidden":          "51 Not found: nothing here has that name\r\n",
		"gemini://here.example/run.cgi":          "51 Not found: nothing here has that name\r\n",
		"gemini://here.example/../../etc/passwd": "51 Not found: nothing here has that name\r\n",
		"gemini://here.example/%0d%0a20":         "59 Bad path\r\n",
		"gemini://elsewhere.example/":            "53 No such host here\r\n",
		"gemini://here.example:7/":               "53 No such host here\r\n",
		"https://here.example/":                  "53 No such host here\r\n",
		"gemini://ann@here.example/":             "59 The URL has a user or a fragment\r\n",
		"gemini://here.example/#top":             "59 The URL has a user or a fragment\r\n",
		"/":                                      "59 The request is no absolute URL\r\n",
		"gemini://here.example/marks/": gemtextHead +
			"# marks\n\n => a\n =: a\n ```\n #a\n * a\n >a\n*a\n=a\n",
		"//here.example/": "59 The request is no absolute URL\r\n",
		"gemini:///":      "59 The request is no absolute URL\r\n",
		"gemini://here.example/" +
			strings.Repeat("a", 1002): "51 Not found: nothing here has that name\r\n",
		"gemini://here.example/art/notes.md":        "20 text/markdown; charset=utf-8\r\n# Notes\n",
		"gemini://here.example/marks/more.markdown": "20 text/markdown; charset=utf-8\r\n# More\n",
		"gemini://here.example/\x7f":                "59 The URL has characters that must be escaped\r\n",
		"gemini://here.example/broken":              "50 Server error\r\n",
		"gemini://here.example/a b":                 "59 The URL has characters that must be escaped\r\n",
		"gemini:opaque":                             "59 The request is no absolute URL\r\n",
		"gemini://here.example/\xff":                "59 The URL has characters that must be escaped\r\n",
		"":                                          "59 The request is no absolute URL\r\n",
		"gemini://here.example/" +
			strings.Repeat("a", 1003): "59 The URL has more than 1024 bytes\r\n",
	} {
		if got := ask(request + "\r\n"); got != want {
			t.Errorf("%.60q:\n%q, want\n%q", request, got, want)
		}
	}
	if got, want := ask("gemini://here.example/\n"),
		"59 The request does not end in CR LF\r\n"; got != want {
		t.Errorf("a lone LF: %q", got)
	}
	if got := ask("gemini://here.example/robots.txt\r\n"); !strings.HasPrefix(got,
		"20 text/plain; charset=utf-8\r\n# robots.txt") ||
		!strings.Contains(got, "Disallow: /secret/") {
		t.Errorf("robots.txt: %q", got)
	}
	if got := ask("gemini://here.example/notes/feed.xml\r\n"); !strings.HasPrefix(got,
		"20 application/atom+xml") {
		t.Errorf("the feed: %.60q", got)
	}
	// "Subscribing to Gemini pages": a heading, and links whose labels begin with a date.
	page := gemtextHead + "# Notes\n\n=> /notes/2026-03-04-b.txt 2026-03-04 "
	if got := ask("gemini://here.example/notes/feed.gmi\r\n"); !strings.HasPrefix(got, page) {
		t.Errorf("the page to subscribe to: %q, want %q...", got, page)
	}
}

func TestSpartan(t *testing.T) {
	ask := start(t, (*Protocols).Spartan)
	for request, want := range map[string]string{
		"here.example / 0\r\n":                             "2 text/gemini; charset=utf-8\r\n" + root("=:"),
		"here.example:300 /about.txt 0\r\n":                "2 text/plain; charset=utf-8\r\nCafé\n",
		"here.example /notes 0\r\n":                        "3 /notes/\r\n",
		"here.example /ask 0\r\n":                          "2 text/gemini; charset=utf-8\r\n=: /ask What for?\n",
		"here.example /%73ecret/x.txt%09two%20words 0\r\n": "3 /secret/x.txt?two%20words\r\n",
		"here.example /ask?w%20rd 0\r\n":                   "2 text/gemini; charset=utf-8\r\n# asked for w rd\n\n=> /about.txt A\n   a *line* of it\n\nDrawn\n\n```\n  /\\\n```\n",
		"here.example /ask?w%2 0\r\n":                      "4 Bad query\r\n",
		"here.example /1/capsule/ 0\r\n":                   "3 /capsule/\r\n",
		"here.example /afar/ 0\r\n":                        "2 text/gemini; charset=utf-8\r\n# afar\n\nNames\n=> gopher://far.example/7/find Find\n=: /prog/book%20x Book\n",
		"here.example /prog/book%20x 3\r\na b":             "2 text/plain; charset=utf-8\r\ngot a b",
		"here.example /prog/x 6\r\na\r\nb\r\n":             "2 text/plain; charset=utf-8\r\ngot a b",
		"here.example /ask 5\r\nw\x00\trd":                 "2 text/gemini; charset=utf-8\r\n# asked for w rd\n\n=> /about.txt A\n   a *line* of it\n\nDrawn\n\n```\n  /\\\n```\n",
		"here.example /nope 0\r\n":                         "4 Not found: nothing here has that name\r\n",
		"here.example /broken 0\r\n":                       "5 Server error\r\n",
		"elsewhere.example / 0\r\n":                        "4 No such host here\r\n",
		"here.example / 1025\r\n":                          "4 The block has more than 1024 bytes\r\n",
		"here.example / -1\r\n":                            "4 The length is no number\r\n",
		"here.example /\r\n":                               "4 The request is not HOST PATH LENGTH\r\n",
		"here.example / 0\n":                               "4 The request is not HOST PATH LENGTH\r\n",
		"here.example /robots.txt 0\r\nrest!":              "",
	} {
		if got := ask(request); got != want &&
			!(want == "" && strings.Contains(got, "Disallow: /secret/")) {
			t.Errorf("%q:\n%q, want\n%q", request, got, want)
		}
	}
}

func TestNex(t *testing.T) {
	ask := start(t, (*Protocols).Nex)
	rootMenu := "The hole\n\n  a drawing\n  of two lines\n\n=> /about.txt A text\n=> /notes/ Notes\nAsk\n=> https://example.org/a Web\n=> gopher://far.example:7070/1/x%20y Far\n* no list\n"
	for request, want := range map[string]string{
		"\r\n":           rootMenu,
		"/\n":            rootMenu,
		"\n":             rootMenu,
		"about.txt\r\n":  "Café\n",
		"/pic.png\r\n":   "\x89PNG",
		"/ask\r\n":       "This is a search, which Nex has no way to ask.\n",
		"/nope\r\n":      "Not found: nothing here has that name\n",
		"/.hidden\r\n":   "Not found: nothing here has that name\n",
		"/capsule/\r\n":  "# A capsule\n",
		"/afar/\r\n":     "Names\n=> gopher://far.example/7/find Find\nBook\n",
		"/notes/\r\nGET": "=> /notes/2026-03-04-b.txt 2026-03-04-b.txt\n=> /notes/2026-01-02-a.txt 2026-01-02-a.txt\n",
	} {
		if got := ask(request); got != want {
			t.Errorf("%q:\n%q, want\n%q", request, got, want)
		}
	}
}

func TestFinger(t *testing.T) {
	ask := start(t, (*Protocols).Finger)
	ann := "Ann's place\r\nA map\r\nof Mars\r\nTo sleep[2J.\r\n2026-05-05 Spring\r\ngopher://here.example/1/~ann/\r\ngemini://here.example/~ann/\r\nhttp://here.example:70/~ann/\r\n"
	for request, want := range map[string]string{
		"\r\n":                 "The hole\r\ngopher://here.example/\r\ngemini://here.example/\r\nhttp://here.example:70/\r\ngopher://other.example/\r\ngopher://third.example:7071/\r\n",
		"/W\r\n":               "The hole\r\ngopher://here.example/\r\ngemini://here.example/\r\nhttp://here.example:70/\r\ngopher://other.example/\r\ngopher://third.example:7071/\r\n",
		"ann\r\n":              ann,
		"/W ann\n":             ann,
		"bob\r\n":              "no such user\r\n",
		"root\r\n":             "no such user\r\n",
		"ann/log\r\n":          "no such user\r\n",
		"ann/plan.txt\r\n":     "no such user\r\n",
		"../ann\r\n":           "no such user\r\n",
		"ann@elsewhere\r\n":    "Finger forwarding is not offered\r\n",
		"@elsewhere\r\n":       "Finger forwarding is not offered\r\n",
		"a\x00\x1b[2Jb\tc\r\n": "no such user\r\n",
	} {
		if got := ask(request); got != want {
			t.Errorf("%q:\n%q, want\n%q", request, got, want)
		}
	}
}

// A request is as long as its line and block. One that has not ended is waited for, unless
// it is too long already.
func TestLength(t *testing.T) {
	var f Protocols
	long := strings.Repeat("a", 1022)
	for _, tt := range []struct {
		protocol *server.Protocol
		head     string
		want     int
	}{
		{f.Gemini(), "gemini://h/\r", 0}, {f.Gemini(), "gemini://h/\r\nmore", 13},
		{f.Gemini(), long + "aa\r", 0}, {f.Gemini(), long + "aaaa", 1026},
		{f.Nex(), "", 0}, {f.Nex(), "\n", 1}, {f.Nex(), long + "aa", 0},
		{f.Nex(), long + "aaa", 1025},
		{f.Finger(), "/W ann\nmore", 7}, {f.Finger(), long + "aa", 0},
		{f.Finger(), long + "aaa", 1025},
		{f.Spartan(), "h / 3\r\nab", 0}, {f.Spartan(), "h / 3\r\nabcd", 10},
		{f.Spartan(), "h / 1024\r\n", 0}, {f.Spartan(), "h / 1025\r\n", 10},
		{f.Spartan(), "h / 0\r", 0}, {f.Spartan(), "h /\r\n", 5},
		{f.Spartan(), "h /" + long + strings.Repeat("a", 299), 0},
		{f.Spartan(), "h /" + long + strings.Repeat("a", 300), 1325},
	} {
		if got := tt.protocol.Length([]byte(tt.head)); got != tt.want {
			t.Errorf("%s: %.20q is a request of %d bytes, want %d", tt.protocol.Name,
				tt.head, got, tt.want)
		}
	}
}
