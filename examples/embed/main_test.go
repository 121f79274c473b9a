package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
)

type reply struct{ bytes.Buffer }

func (r *reply) WriteItem(it menu.Item) error {
	_, err := r.Write(it.AppendTo(nil))
	return err
}

func TestHandler(t *testing.T) {
	h, err := handler(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for sel, want := range map[string]string{
		"robots.txt": "Disallow: /drafts/", "/": "0About\t/about.txt\t",
		"/about.txt": "It is in the program.", "/phlog/": "02026-01-02.txt\t",
		"/phlog/feed.xml": "<title>A first text</title>", "caps.txt": "CAPS",
	} {
		var w reply
		if err := h.ServeGopher(&w,
			&server.Request{RequestLine: selector.RequestLine{Selector: sel}, Host: "h",
				Port: 70}); err != nil || !strings.Contains(w.String(), want) {
			t.Errorf("%s: %v, %q", sel, err, w.String())
		}
	}
}
