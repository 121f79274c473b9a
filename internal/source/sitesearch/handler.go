package sitesearch

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/search"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
)

// Selector is the selector of searches. Without a query the reply explains them. Further pages
// of results are at Selector/PAGE/WORDS.
const Selector = "/search"

const maxPages = 50

// Answers reports whether a selector is a search.
func (s *Searcher) Answers(sel string) bool {
	_, _, ok := asked(sel, "")
	return ok
}

// Answer returns results, or without a query the help.
func (s *Searcher) Answer(q *answer.Asked) (*answer.Value, error) {
	a := &answer.Value{
		Class:    answer.Question,
		Selector: Selector,
		Type:     menu.TypeSearch,
		Prompt:   "Search this site",
	}
	snap := s.Site.Now()
	query, page, ok := asked(q.Request.Selector, q.Request.Query)
	switch {
	case !ok:
		return nil, server.ErrDeclined
	case s.index == nil || snap == nil:
		return nil, &server.Error{Kind: server.Busy, Message: "The search index is not there yet"}
	case query == "":
		a.Items = s.help()
		return a, nil
	}
	found, err := s.index.Search(q.Context(), search.Query{
		Text:    query,
		Page:    page,
		Allowed: func(name string) bool { return s.allowed(snap, name) },
	})
	if err != nil {
		failed := &server.Error{Kind: server.Busy, Err: err}
		switch {
		case errors.Is(err, search.ErrSlow):
			failed.Message = "The search took too long: use longer words"
		case errors.Is(err, search.ErrDiscarded):
			s.discarded()
		}
		return nil, failed
	}
	a.Class, a.Items = answer.Menu, s.results(q, query, page, found)
	return a, nil
}

// asked returns the words of a search and the page, from 0. The words are the query, or follow
// the page's number in the selector.
func asked(sel, query string) (words string, page int, ok bool) {
	rest, ok := strings.CutPrefix("/"+strings.TrimPrefix(sel, "/"), Selector)
	if !ok || rest != "" && rest[0] != '/' {
		return "", 0, false
	}
	words = query
	if n, tail, found := strings.Cut(strings.TrimPrefix(rest, "/"), "/"); found {
		page, _ = strconv.Atoi(n)
		page, words = min(max(page-1, 0), maxPages-1), tail
	}
	words = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(words, " "))
	return strings.TrimSpace(words), page, true
}

func pageSelector(page int, query string) string {
	return fmt.Sprintf("%s/%d/%s", Selector, page, query)
}

func (s *Searcher) help() []menu.Item {
	texts, left := s.Counts()
	items := []menu.Item{
		{Type: menu.TypeSearch, Label: "Search this site", Selector: Selector},
		menu.Info(""),
		menu.Info(`  gopher client    texts with both words`),
		menu.Info(`  "gopher client"  the phrase`),
		menu.Info(`  goph*            words that begin so`),
		menu.Info(`  gopher -client   without the second`),
		menu.Info(`  gopher in:phlog  in one directory`),
		menu.Info(""),
		menu.Info(fmt.Sprintf("%s of texts and menus can be found.", count(texts, "name"))),
	}
	if !s.ready.Load() {
		return append(items, menu.Info("The index is being built: it does not have all of them yet."))
	}
	if left > 0 {
		items = append(items, menu.Info(count(left, "text")+" did not fit into the index."))
	}
	return items
}

// results returns a page of results. It reads each text again for the excerpt, and omits those
// that are gone or that the current policy denies.
func (s *Searcher) results(q *answer.Asked, query string, page int, r search.Results) []menu.Item {
	items := []menu.Item{menu.Info(summary(query, page, r))}
	if r.Cut {
		items = append(items, menu.Info("Only the first 16 words of a search count, and two beginnings of words."))
	}
	if !s.ready.Load() {
		items = append(items, menu.Info("The index is being built: there may be more."))
	}
	items = append(items, menu.Info(""))
	for _, name := range r.Names {
		plain, dir := plainName(name)
		text, typ, err := s.read(q, plain, dir)
		if err != nil || !s.allowed(s.Site.Now(), name) {
			continue
		}
		items = append(items, menu.Item{
			Type:     typ,
			Label:    label(q, plain, dir),
			Selector: selector.Canonical(plain, dir),
		})
		if line, hits := r.Excerpt(text); line != "" {
			it := menu.Item{Type: menu.TypeInfo, Below: true, Label: line}
			for _, h := range hits {
				it.Hits = append(it.Hits, menu.Hit(h))
			}
			items = append(items, it)
		}
	}
	if len(r.Names) > 0 {
		items = append(items, menu.Info(""))
	}
	if r.Total > (page+1)*search.PerPage && page+1 < maxPages {
		items = append(items, menu.Item{
			Type:     menu.TypeMenu,
			Label:    "More results",
			Selector: pageSelector(page+2, query),
		})
	}
	return append(items, menu.Item{
		Type:     menu.TypeSearch,
		Label:    "Search again",
		Selector: Selector,
	})
}

// read returns the beginning of a text ("" for a binary file) and its item type.
func (s *Searcher) read(q *answer.Asked, plain string, dir bool) (text string,
	typ byte, err error) {
	if dir {
		_, err := q.View.Stat(plain)
		return menuText(s.items(q.View, plain)), menu.TypeMenu, err
	}
	text, _, err = q.Read(plain, search.MaxExcerpt)
	typ, known := menu.TypeOf(plain)
	switch {
	case menu.IsMenuFile(path.Base(plain)):
		typ = menu.TypeMenu
	case !known && text != "":
		typ = menu.TypeText
	}
	return answer.StripEscapes(text), typ, err
}

func summary(query string, page int, r search.Results) string {
	query = diag.Shorten(query, 60)
	if !strings.Contains(query, `"`) {
		query = `"` + query + `"`
	}
	found := count(r.Total, "result")
	switch {
	case r.Empty:
		return "There is no word in " + query
	case r.Total == 0:
		found = "Nothing found"
	case r.More:
		found = "More than " + found
	}
	if page > 0 {
		return fmt.Sprintf("%s for %s, page %d", found, query, page+1)
	}
	return found + " for " + query
}

func count(n int, what string) string { return diag.Count(n, what, what+"s") }

// label returns the label of a result: its title and path.
func label(q *answer.Asked, plain string, dir bool) string {
	title, where := q.Title(plain, dir), "/"+strings.TrimPrefix(plain, ".")
	if title == path.Base(plain) {
		return where
	}
	return title + " (" + where + ")"
}
