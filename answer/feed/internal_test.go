package feed

import (
	"encoding/xml"
	"errors"
	"strings"
	"testing"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/internal/treetest"
)

// Whatever names and texts are, the feed is one document with the entries that it was
// given, and each is one element of text.
func FuzzFeed(f *testing.F) {
	f.Add("a", "b<c>&\x00")
	f.Fuzz(func(t *testing.T, id, text string) {
		in := atom{ID: id, Title: text, Author: id, Links: []link{{"self", "a/b", id}},
			Entries: []entry{{ID: id, Title: answer.CleanTitle(text),
				Links:   []link{{"alternate", "c/d", text}},
				Content: &content{Type: "html", Text: plainHTML(nil, "", text)}}}}
		body, err := in.bytes()
		var f struct {
			Titles []string `xml:"entry>title"`
			Texts  []string `xml:"entry>content"`
		}
		treetest.Must(t, errors.Join(err, xml.Unmarshal(body, &f)))
		if len(f.Titles) != 1 || len(f.Titles[0]) > 2*200 || len(f.Texts) != 1 ||
			strings.Count(f.Texts[0], "<") != 2 {
			t.Fatalf("%+v", f)
		}
	})
}
