package sitesearch

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/gophd/gophd/answer"
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
	maxResults = 50
	maxTime    = 5 * time.Second // of one
)

// Answers reports whether a selector is that of searches.
func (s *Searcher) Answers(sel string) bool { return strings.TrimPrefix(sel, "/") == Selector[1:] }

// Answer searches, or asks what for.
func (s *Searcher) Answer(q *answer.Asked) (*answer.Value, error) {
	a := &answer.Value{Class: answer.Question, Selector: Selector, Type: menu.TypeSearch, Prompt: "Search this site"}
	x := s.index.Load()
	if x == nil {
		return nil, &server.Error{Kind: server.Busy, Message: "The search index is not there yet"}
	}
	query := q.Request.Query
	if strings.TrimSpace(query) == "" {
		a.Items = s.help(x)
		return a, nil
	}
	ctx, cancel := context.WithTimeout(q.Context(), maxTime)
	defer cancel()
	snap := s.Site.Now()
	found, err := x.Search(ctx, search.Query{
		Text: query, Limit: maxResults,
		Allowed: func(name string) bool {
			plain, dir := plainName(name)
			return s.allowed(snap, plain, dir)
		},
		Open: func(_ context.Context, name string) (io.ReadCloser, error) { return s.open(q, name) },
	})
	if err != nil {
		return nil, &server.Error{Kind: server.Busy, Err: err}
	}
	a.Class, a.Items = answer.Menu, s.results(q.View, query, found)
	return a, nil
}

// open opens a text for its line, as a client would have it.
func (s *Searcher) open(q *answer.Asked, name string) (io.ReadCloser, error) {
	plain, dir := plainName(name)
	if dir {
		return stringFile(menuText(s.menu(q.View, plain))), nil
	}
	f, err := openText(q.View, plain)
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

func (s *Searcher) help(x *search.Index) []menu.Item {
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
	return items
}

// results lists what was found: an item for each, and below it the line.
func (s *Searcher) results(v *site.View, query string, a search.Results) []menu.Item {
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
	return append(items, menu.Item{Type: menu.TypeSearch, Label: "Search again", Selector: Selector})
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

// stringFile is a text as a file.
func stringFile(text string) memory { return memory{strings.NewReader(text)} }

type memory struct{ *strings.Reader }

// Stat is not asked for.
func (memory) Stat() (fs.FileInfo, error) { return nil, fs.ErrInvalid }

// Close does nothing.
func (memory) Close() error { return nil }
