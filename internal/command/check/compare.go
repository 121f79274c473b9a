package check

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/ask"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
)

// A Difference counts differences of one kind in what one owner has in one tree.
type Difference struct {
	Tree  string `json:"tree"`
	Owner string `json:"owner"`
	Code  string `json:"code"`
	Count int    `json:"count"`
}

// classes counts findings by tree, owner and code.
func (c *comparing) classes(list []diag.Diagnostic) []Difference {
	counts := map[Difference]int{}
	for _, d := range list {
		p := c.part(d.File)
		counts[Difference{Tree: p.Tree, Owner: p.Owner, Code: d.Code}]++
	}
	var all []Difference
	for class, n := range counts {
		class.Count = n
		all = append(all, class)
	}
	slices.SortFunc(all, func(a, b Difference) int {
		return cmp.Or(strings.Compare(a.Tree, b.Tree), strings.Compare(a.Owner, b.Owner), strings.Compare(a.Code, b.Code))
	})
	return all
}

// comparison returns the classes for people.
func (r *Outcome) comparison(url string) string {
	var b strings.Builder
	for _, class := range r.Classes {
		fmt.Fprintf(&b, "%s (%s): %d %s\n", diag.Printable(class.Tree), diag.Printable(class.Owner), class.Count, class.Code)
	}
	differ := map[string]bool{}
	for _, d := range r.Findings {
		differ[d.File] = true
	}
	fmt.Fprintf(&b, "%s: %s, %d with a difference, %d lost\n", diag.Printable(url), diag.Count(r.Asked, "selector", "selectors"), len(differ), r.Lost)
	return b.String()
}

// compare lists the differences between two answers to a selector.
func (c *comparing) compare(it menu.Item, old, ours []byte) comparedSelector {
	a := comparedSelector{Selector: it.Selector}
	name := cmp.Or(strings.Trim(it.Selector, "/"), ".")
	found := func(severity diag.Severity, code, format string, args ...any) {
		a.Findings = append(a.Findings, diag.Diagnostic{Code: code, Severity: severity, File: name, Message: fmt.Sprintf(format, args...)})
	}
	oldFails, weFail := isError(old), isError(ours)
	oldFails = oldFails || weFail && c.isAbsent(it.Selector, old)
	switch {
	case oldFails && weFail:
	case oldFails:
		found(diag.Notice, CodeMore, "gophd answers, the other server does not")
	case weFail:
		found(diag.Error, CodeGone, "gophd does not answer: %.60q", firstLine(ours))
	case it.Type == menu.TypeMenu:
		theirs, their := c.parse(old)
		links, text := c.parse(ours)
		for _, it := range missing(theirs, links) {
			if c.isDead(it) {
				theirs = slices.DeleteFunc(theirs, func(t menu.Item) bool { return t == it })
			}
		}
		a.Links = theirs
		less, more := missing(theirs, links), missing(links, theirs)
		if len(less) > 0 {
			found(diag.Error, CodeLess, "%s not in gophd's menu, the first: %s %.60q", diag.Count(len(less), "link is", "links are"), less[0].Selector, less[0].Label)
		}
		if len(more) > 0 {
			found(diag.Notice, CodeMore, "%s only in gophd's menu, the first: %s", diag.Count(len(more), "link is", "links are"), more[0].Selector)
		}
		if len(less)+len(more) == 0 && !slices.EqualFunc(theirs, links, sameLink) {
			found(diag.Notice, CodeOrder, "the same links in another order")
		}
		if their != text {
			found(diag.Notice, CodeText, "other lines of text around the links")
		}
	case !bytes.Equal(plainText(old), plainText(ours)):
		found(diag.Warning, CodeText, "%d bytes, and %d with gophd", len(old), len(ours))
	}
	return a
}

// parse returns the links of a menu to the server itself, and all its lines of text.
func (c *comparing) parse(body []byte) (links []menu.Item, text string) {
	for line := range strings.Lines(string(body)) {
		it, err := menu.ParseItem(line)
		switch {
		case err != nil:
		case it.Type == menu.TypeInfo:
			text += strings.TrimSpace(it.Label) + "\n"
		case !(strings.EqualFold(it.Host, c.url.Host) && it.Port == c.url.Port || c.Host != "" && strings.EqualFold(it.Host, c.Host)),
			strings.HasPrefix(strings.TrimPrefix(it.Selector, "/"), "URL:"), strings.Contains(it.Selector, "://"), // which gophd makes a URL: link
			strings.IndexByte("3278T", it.Type) >= 0:
		default:
			links = append(links, it)
		}
	}
	return links, strings.TrimSpace(text)
}

// resource returns one form for all that a selector is written as in old links: with
// escapes, empty elements, "." or ".." in it.
func resource(sel string) string {
	if forms := selector.Forms(sel); len(forms) > 0 {
		sel = forms[len(forms)-1]
	}
	return path.Clean("/" + sel)
}

// sameLink reports whether two links lead to the same.
func sameLink(a, b menu.Item) bool {
	return resource(a.Selector) == resource(b.Selector) && (a.Type == menu.TypeMenu) == (b.Type == menu.TypeMenu)
}

// missing returns the links of one menu that the other does not have.
func missing(from, in []menu.Item) (list []menu.Item) {
	has := make(map[string]bool, len(in))
	for _, it := range in {
		has[resource(it.Selector)] = true
	}
	for _, it := range from {
		if !has[resource(it.Selector)] {
			list = append(list, it)
		}
	}
	return list
}

// isError reports whether an answer is nothing, or an error.
func isError(body []byte) bool {
	_, is := ask.IsError(body)
	return is || len(body) == 0
}

// isDead reports whether a link leads nowhere at the other server: then it is no loss.
func (c *comparing) isDead(it menu.Item) bool {
	dead, known := c.dead[it.Selector]
	if !known && !c.denied(it.Selector) {
		body, err := c.old(it.Selector)
		dead = err == nil && (isError(body) || c.isAbsent(it.Selector, body))
		c.dead[it.Selector] = dead
	}
	return dead
}

// isAbsent reports whether the other server answers so for a name of that extension which
// does not exist: some send a picture that says so.
func (c *comparing) isAbsent(sel string, old []byte) bool {
	ext := path.Ext(sel)
	body, known := c.absent[ext]
	if !known {
		body, _ = c.old("/gophd-check-no-such-name" + ext)
		c.absent[ext] = body
	}
	return bytes.Equal(old, body)
}

func firstLine(body []byte) string {
	line, _, _ := bytes.Cut(body, []byte("\n"))
	return strings.TrimRight(string(line), "\r")
}

// plainText returns a text in the form that all servers share: without CR, and without a dot at
// the end.
func plainText(body []byte) []byte {
	body = bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	return bytes.TrimRight(bytes.TrimSuffix(body, []byte("\n.\n")), "\n")
}
