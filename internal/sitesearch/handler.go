package sitesearch

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/search"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// Selector is what searches are sent to. Without a query it answers with a menu
// that tells how to search.
const Selector = "/search"

// Bounds of searches.
const (
	maxRunning = 8 // at once
	maxResults = 50
	maxTime    = 5 * time.Second // of one
)

// ServeGopher answers a search. It is for selectors that name nothing else, and
// declines what is no search.
func (s *Searcher) ServeGopher(w server.ResponseWriter, r *server.Request) error {
	if r.Selector != Selector && r.Selector != Selector[1:] {
		return server.ErrDeclined
	}
	x := s.index.Load()
	if x == nil {
		return &server.Error{Kind: server.Busy, Message: "The search index is not there yet"}
	}
	if strings.TrimSpace(r.Query) == "" {
		return s.help(w, x)
	}
	if s.running.Add(1) > maxRunning {
		s.running.Add(-1)
		return &server.Error{Kind: server.Busy, Message: "Too many searches at once: try again"}
	}
	defer s.running.Add(-1)
	ctx, cancel := context.WithTimeout(r.Context(), maxTime)
	defer cancel()
	v, snap := s.Site.View(ctx), s.Site.Now()
	answer, err := x.Search(ctx, search.Query{
		Text: r.Query, Limit: maxResults,
		Allowed: func(name string) bool {
			plain, dir := plainName(name)
			return s.allowed(snap, plain, dir)
		},
		Open: func(_ context.Context, name string) (io.ReadCloser, error) { return s.open(v, name) },
	})
	if err != nil {
		return &server.Error{Kind: server.Busy, Err: err}
	}
	return s.results(w, v, r.Query, answer)
}

// open opens a text for its line, as a client would have it.
func (s *Searcher) open(v *site.View, name string) (io.ReadCloser, error) {
	plain, dir := plainName(name)
	if dir {
		return stringFile(menuText(s.menu(v, plain))), nil
	}
	f, err := openText(v, plain)
	if f == nil || err != nil {
		return nil, err
	}
	return f, nil
}

// plainName is the name in the tree of a name in the index.
func plainName(name string) (plain string, dir bool) {
	plain, dir = strings.CutSuffix(name, "/")
	if plain == "" {
		plain = "."
	}
	return plain, dir
}

func (s *Searcher) help(w server.ResponseWriter, x *search.Index) error {
	items := []menu.Item{
		{Type: menu.TypeSearch, Label: "Search this site", Selector: Selector},
		menu.Info(""),
		menu.Info("Several words find texts that have all of them: gopher client"),
		menu.Info(`Put a phrase in quotes: "gopher client"`),
		menu.Info("A star matches any ending: goph*"),
		menu.Info(""),
		menu.Info(fmt.Sprintf("%s of texts and menus can be found.", count(x.Stats().Texts, "name"))),
	}
	if !s.ready.Load() {
		items = append(items, menu.Info("The index is being built: it does not have all of them yet."))
	}
	if left := s.left.Load(); left > 0 {
		items = append(items, menu.Info(fmt.Sprintf("%s did not fit into the index.", count(int(left), "text"))))
	}
	return write(w, items)
}

// results writes what was found: an item for each, and below it the line.
func (s *Searcher) results(w server.ResponseWriter, v *site.View, query string, a search.Results) error {
	items := []menu.Item{menu.Info(summary(query, a))}
	if !s.ready.Load() {
		items = append(items, menu.Info("The index is being built: there may be more."))
	}
	items = append(items, menu.Info(""))
	for _, r := range a.Results {
		plain, dir := plainName(r.Name)
		items = append(items, menu.Item{Type: itemType(v, plain, dir), Label: label(r, plain), Selector: selector.Canonical(plain, dir)})
		if r.Line != "" {
			items = append(items, menu.Info("   "+r.Line))
		}
	}
	if len(a.Results) > 0 {
		items = append(items, menu.Info(""))
	}
	return write(w, append(items, menu.Item{Type: menu.TypeSearch, Label: "Search again", Selector: Selector}))
}

func summary(query string, a search.Results) string {
	const shown = 60
	if len(query) > shown {
		query = strings.ToValidUTF8(query[:shown], "") + "..."
	}
	switch n := len(a.Results); {
	case a.Empty:
		return "There is no word in " + query
	case n == 0 && a.Partly:
		return fmt.Sprintf("Not found in the best of %s with these words: %s", count(a.Texts, "text"), query)
	case n == 0:
		return "Nothing found: " + query
	case n < a.Texts:
		return fmt.Sprintf("The best %d of %s: %s", n, count(a.Texts, "result"), query)
	default:
		return count(n, "result") + ": " + query
	}
}

func count(n int, what string) string { return diag.Count(n, what, what+"s") }

// label is how a result is called: as its author does, and where it is.
func label(r search.Hit, plain string) string {
	if plain == "." {
		return "/"
	}
	base := path.Base(plain)
	title := strings.TrimSpace(strings.TrimSuffix(r.Title, base))
	if title == "" {
		return "/" + plain
	}
	return title + " (/" + plain + ")"
}

// itemType returns the item type of a result; it looks into a file whose name
// does not tell.
func itemType(v *site.View, plain string, dir bool) byte {
	if dir || menu.IsMenuFile(path.Base(plain)) {
		return menu.TypeMenu
	}
	typ, known := menu.TypeOf(plain)
	if !known {
		f, err := openText(v, plain)
		if err == nil && f != nil {
			_ = f.Close()
			return menu.TypeText
		}
	}
	return typ
}

func write(w server.ResponseWriter, items []menu.Item) error {
	for _, it := range items {
		if err := w.WriteItem(it); err != nil {
			return err
		}
	}
	return nil
}

// stringFile is a text as a file.
func stringFile(text string) memory { return memory{strings.NewReader(text)} }

type memory struct{ *strings.Reader }

// Stat is not asked for.
func (memory) Stat() (fs.FileInfo, error) { return nil, fs.ErrInvalid }

// Close does nothing.
func (memory) Close() error { return nil }
