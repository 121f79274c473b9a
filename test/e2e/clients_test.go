package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/test/e2e/harness"
)

// content serves a copy of the example gopherhole.
func content(t *testing.T) *daemon {
	t.Helper()
	dir := t.TempDir()
	must(t, os.CopyFS(dir, os.DirFS("../../content")))
	return serve(t, dir)
}

// items returns the items of a menu as it is sent.
func (d *daemon) items(selector string) []menu.Item {
	d.t.Helper()
	body, ended := strings.CutSuffix(d.Ask(selector), "\r\n.\r\n")
	if !ended {
		d.t.Fatalf("the menu of %q does not end with a dot", selector)
	}
	var all []menu.Item
	for line := range strings.SplitSeq(body, "\r\n") {
		it, err := menu.ParseItem(line)
		if err != nil {
			d.t.Fatalf("the menu of %q: %v: %q", selector, err, line)
		}
		all = append(all, it)
	}
	return all
}

// walk is a way from the root to something, by the items on it.
type walk []menu.Item

func (w walk) goal() menu.Item { return w[len(w)-1] }

// way finds the items that lead from the root to the last of the selectors.
func (d *daemon) way(selectors ...string) (way walk) {
	d.t.Helper()
	at := ""
	for _, sel := range selectors {
		all := d.items(at)
		way = append(way, all[slices.IndexFunc(all, func(it menu.Item) bool {
			return it.Selector == sel
		})])
		at = sel
	}
	return way
}

// The ways to a text, an image, and a menu without a search.
var (
	textWay  = []string{"/manual/", "/manual/annotations.txt"}
	imageWay = []string{"/pictures/", "/pictures/gopher.gif"}
	menuWay  = []string{"/tables/"}
)

// client is a program that shows a URL.
type client struct {
	menu  []string // prints a menu for people, and the URLs of its links
	text  []string // prints a text
	bytes []string // prints what is sent, as it is

	// link finds the URL of a label in what menu has printed.
	link func(shown, label string) string
}

var clients = map[string]client{
	"lynx": {
		menu:  []string{"lynx", "-dump", "-width=200"},
		text:  []string{"lynx", "-dump", "-width=200"},
		bytes: []string{"lynx", "-source"},
		link:  numbered(`\[(\d+)\]`, `(?m)^ *%s\. (\S+)$`),
	},
	"w3m": {
		menu:  []string{"w3m", "-dump", "-cols", "200", "-o", "display_link_number=1"},
		text:  []string{"w3m", "-dump", "-cols", "200"},
		bytes: []string{"w3m", "-dump_source"},
		link:  numbered(`\[(\d+)\](?:\[[^]]*\] )?`, `(?m)^\[%s\] (\S+)$`),
	},
	"curl": {
		menu:  []string{"curl", "-sS"},
		text:  []string{"curl", "-sS"},
		bytes: []string{"curl", "-sS"},
		link:  sent,
	},
	"gophd": {
		menu:  []string{"gophd", "get"},
		text:  []string{"gophd", "get"},
		bytes: []string{"gophd", "get"},
		link: func(shown, label string) string {
			return match(shown, regexp.QuoteMeta(label)+`\n +-> (\S+)\n`)
		},
	},
}

// numbered finds the number that stands before a label, and the URL that stands
// behind that number.
func numbered(before, list string) func(shown, label string) string {
	return func(shown, label string) string {
		n := match(shown, before+shownAs(label)+`\n`)
		return match(shown, fmt.Sprintf(list, n))
	}
}

// shownAs matches a label: w3m shows several blanks as one.
func shownAs(label string) string {
	return regexp.MustCompile(" +").ReplaceAllString(regexp.QuoteMeta(label), " +")
}

// sent finds a label in a menu as it is sent.
func sent(shown, label string) string {
	for line := range strings.Lines(shown) {
		if it, err := menu.ParseItem(line); err == nil && it.Label == label && it.Type != 'i' {
			return selector.URL{Host: it.Host, Port: it.Port, Type: it.Type,
				Selector: it.Selector}.String()
		}
	}
	return ""
}

func match(text, pattern string) string {
	found := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if found == nil {
		return ""
	}
	return found[1]
}

// TestWalk goes from the root of content/ to a text, an image and a menu, by
// the labels that a client shows and the URLs that it makes of them.
func TestWalk(t *testing.T) {
	d := content(t)
	t.Setenv("PATH", filepath.Dir(harness.Program(t))+":"+os.Getenv("PATH"))
	text, image, plain := d.way(textWay...), d.way(imageWay...), d.way(menuWay...)
	for name, c := range clients {
		t.Run(name, func(t *testing.T) {
			shown := output(t, "", append(c.text, c.follow(t, d, text))...)
			if got, want := lines(shown),
				lines(d.Ask(text.goal().Selector)); !slices.Equal(got, want) {
				t.Errorf("the text is shown as %q, want %q", got, want)
			}
			if got := output(t, "", append(c.bytes,
				c.follow(t, d, image))...); got != d.Ask(image.goal().Selector) {
				t.Errorf("the image has %d bytes and is not what is sent", len(got))
			}
			shown = output(t, "", append(c.menu, c.follow(t, d, plain))...)
			d.compare(t, shown, plain.goal().Selector)
		})
	}
}

// follow goes a way and returns the URL of its goal. Each menu on it must show
// what is in it.
func (c client) follow(t *testing.T, d *daemon, way walk) string {
	t.Helper()
	url, at := "gopher://"+d.Addr+"/", ""
	for _, it := range way {
		shown := output(t, "", append(c.menu, url)...)
		d.compare(t, shown, at)
		if url = c.link(shown, it.Label); url == "" {
			t.Fatalf("no link %q in what is shown:\n%s", it.Label, shown)
		}
		at = it.Selector
	}
	return url
}

// compare checks that the labels of a menu are shown, all of them, in order.
func (d *daemon) compare(t *testing.T, shown, selector string) {
	t.Helper()
	for _, it := range d.items(selector) {
		label := strings.TrimSpace(it.Label)
		at := regexp.MustCompile(shownAs(label)).FindStringIndex(shown)
		if at == nil {
			t.Fatalf("the menu of %q is shown without %q, or not in its place:\n%s",
				selector, label, shown)
		}
		shown = shown[at[1]:]
	}
}

// TestVF1 walks in one session, by the numbers that the client shows.
func TestVF1(t *testing.T) {
	d := content(t)
	text, image := d.way(textWay...), d.way(imageWay...)
	copied := filepath.Join(t.TempDir(), "image")
	session := fmt.Sprintf("go gopher://%s/\n%scat\ngo gopher://%[1]s/\n%[3]ssave %s\nquit\n",
		d.Addr, d.numbers(text), d.numbers(image), copied)
	shown := output(t, session, "vf1")
	d.compare(t, shown, "")
	want := strings.Join(lines(d.Ask(text.goal().Selector)), "\n")
	if !strings.Contains(strings.Join(lines(shown), "\n"), want) {
		t.Errorf("the text %s is not in what is shown:\n%s", text.goal().Selector, shown)
	}
	got, err := os.ReadFile(copied)
	if err != nil || string(got) != d.Ask(image.goal().Selector) {
		t.Errorf("the image has %d bytes (%v) and is not what is sent:\n%s", len(got), err, shown)
	}
}

// numbers returns a way as the numbers to type in: those of the links of each
// menu, counted from 1.
func (d *daemon) numbers(way walk) string {
	var typed strings.Builder
	at := ""
	for _, it := range way {
		n := 0
		for _, other := range d.items(at) {
			if other.Type != 'i' {
				n++
			}
			if reflect.DeepEqual(other, it) {
				break
			}
		}
		fmt.Fprintf(&typed, "%d\n", n)
		at = it.Selector
	}
	return typed.String()
}
