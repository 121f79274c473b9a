package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-resty/resty/v2"
	"github.com/gocolly/colly/v2"
	"github.com/gophd/gophd/robots/client"
)

// manners are eleven sites. A polite robot called mybot fetches what is in allowed of
// the paths that it is sent to, and nothing else; colly with its own reader of
// robots.txt (temoto's) gets nine of them wrong.
var manners = []struct {
	name    string
	status  int
	robots  string
	visit   string
	reached string // the last page that may be reached; empty: none
	colly   bool   // is right by itself
}{
	{"a rule", 200, "User-agent: *\nDisallow: /a\n", "/a", "", true},
	{"the longest rule", 200, "User-agent: *\nDisallow: /a/\nAllow: /a/b\n", "/a/b", "/a/b", true},
	{"a redirect to what is denied", 200, "User-agent: *\nDisallow: /private\n", "/to-private",
		"/to-private", false},
	{"429: the host cannot answer now", 429, "", "/a", "", false},
	{"an escape of a letter", 200, "User-agent: *\nDisallow: /%7Euser/\n", "/~user/x", "", false},
	{"a letter beyond ASCII", 200, "User-agent: *\nDisallow: /caf\u00e9\n",
		"/caf%C3%A9", "", false},
	{"a name that mybot begins with", 200,
		"User-agent: my\nDisallow: /\n\nUser-agent: *\nAllow: /\n", "/a", "/a", false},
	{"UTF-16 with its mark", 200,
		"\xff\xfe" + strings.Join(strings.Split("User-agent: *\nDisallow: /\n", ""), "\x00") +
			"\x00", "/a", "", false},
	{"the query as it is", 200, "User-agent: *\nDisallow: /a?z=1\n", "/a?z=1&b=2", "", false},
	{"what is no text", 200, "\x1f\x8b\x08\x00\x00\x00", "/a", "", false},
	{"a delay", 200, "User-agent: *\nCrawl-delay: 1.5\n", "/a", "/a", false},
}

// site counts what is asked of it beside robots.txt.
type site struct {
	mu    sync.Mutex
	asked []string
	at    []time.Time
}

func (s *site) serve(status int, robots string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, robots)
			return
		}
		s.mu.Lock()
		s.asked, s.at = append(s.asked, r.URL.RequestURI()), append(s.at, time.Now())
		s.mu.Unlock()
		if r.URL.Path == "/to-private" {
			http.Redirect(w, r, "/private", http.StatusFound)
		}
	})
}

// crawlers visit a page. The first is colly alone; the others are polite by one line.
var crawlers = []struct {
	name  string
	visit func(url string)
}{
	{"colly", func(url string) {
		c := colly.NewCollector(colly.UserAgent(bot.Agent), colly.AllowURLRevisit())
		c.IgnoreRobotsTxt = false
		_ = c.Visit(url)
	}},
	{"colly with Transport", func(url string) {
		c := colly.NewCollector(colly.UserAgent(bot.Agent), colly.AllowURLRevisit())
		c.WithTransport(&client.Transport{Client: &bot})
		_ = c.Visit(url)
	}},
	{"resty with Transport", func(url string) {
		r := resty.New()
		r.SetTransport(&client.Transport{Client: &bot})
		_, _ = r.R().Get(url)
	}},
}

// bot keeps the pace of hosts for as long as it lives.
var bot = client.Client{Agent: "mybot", MinDelay: time.Millisecond}

// TestManners: colly and resty with client.Transport are right on all sites, and colly by
// itself on those that the table says.
func TestManners(t *testing.T) {
	for _, m := range manners {
		for _, crawler := range crawlers {
			s := &site{}
			server := httptest.NewServer(s.serve(m.status, m.robots))
			crawler.visit(server.URL + m.visit)
			want := []string{m.reached}
			if m.reached == "" {
				want = nil
			}
			delayed := strings.Contains(m.robots, "Crawl-delay")
			if delayed {
				crawler.visit(server.URL + m.visit)
				want = append(want, m.reached)
			}
			server.Close()
			right := strings.Join(s.asked, " ") == strings.Join(want, " ")
			if len(s.at) > 1 && delayed {
				right = right && s.at[1].Sub(s.at[0]) > time.Second
			}
			if right != (crawler.name != "colly" || m.colly) {
				t.Errorf("%s: %s asked for %q, want %q", m.name, crawler.name, s.asked, want)
			}
		}
	}
}

// pages is a web site in memory that notes when each page was requested.
type pages struct {
	mu sync.Mutex
	at map[string]time.Time
}

// transport carries requests to the site as net/http does, over connections in memory.
func (p *pages) transport() *http.Transport {
	return &http.Transport{DisableKeepAlives: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			c, s := net.Pipe()
			go func() {
				defer func() { _ = s.Close() }()
				req, err := http.ReadRequest(bufio.NewReader(s))
				if err != nil {
					return
				}
				p.mu.Lock()
				p.at[req.URL.Path] = time.Now()
				p.mu.Unlock()
				text := "<html>" + req.URL.Path + "</html>"
				if req.URL.Path == "/robots.txt" {
					text = "User-agent: *\nDisallow: /private\n"
				}
				_, _ = fmt.Fprintf(s, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n%s", text)
			}()
			return c, nil
		}}
}

// TestTenPages: a site that asks for no pace gets a request in ten seconds, as long as
// colly's timeout. Whoever walks it in one of the documented ways gets all ten pages, one
// by one.
func TestTenPages(t *testing.T) {
	list := make([]string, 10)
	for i := range list {
		list[i] = fmt.Sprintf("http://site.example/page%d", i)
	}
	var got atomic.Int64
	visit := func(c *colly.Collector) {
		c.OnResponse(func(*colly.Response) { got.Add(1) })
		for _, url := range list {
			_ = c.Visit(url)
		}
		c.Wait()
	}
	for name, walk := range map[string]func(*client.Transport){
		"colly, Patient": func(tr *client.Transport) {
			tr.Patient = true
			c := colly.NewCollector()
			c.WithTransport(tr)
			visit(c)
		},
		"colly, Patient, async": func(tr *client.Transport) {
			tr.Patient = true
			c := colly.NewCollector(colly.Async(true))
			c.WithTransport(tr)
			visit(c)
		},
		"colly, LimitRule, async": func(tr *client.Transport) {
			rules, err := tr.Client.Get(context.Background(), list[0])
			if err != nil {
				return
			}
			delay, asked := rules.CrawlDelay()
			if !asked {
				delay = 10 * time.Second
			}
			c := colly.NewCollector(colly.Async(true))
			c.WithTransport(tr)
			_ = c.Limit(&colly.LimitRule{DomainGlob: "site.example", Parallelism: 1, Delay: delay})
			visit(c)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				site := &pages{at: map[string]time.Time{}}
				base := site.transport()
				got.Store(0)
				walk(&client.Transport{Client: &client.Client{Agent: "mybot",
					Fetcher: &client.Fetcher{Transport: base}}, Base: base})
				delete(site.at, "/robots.txt")
				at := slices.SortedFunc(maps.Values(site.at), time.Time.Compare)
				if n := got.Load(); n != 10 || len(at) != 10 {
					t.Errorf("got %d pages of %d", n, len(at))
				}
				for i := range at[1:] {
					if gap := at[i+1].Sub(at[i]); gap < 10*time.Second {
						t.Errorf("%v between two requests", gap)
					}
				}
			})
		})
	}
}
