package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"strings"
	"testing"

	"github.com/gophd/gophd/robots/client"
)

func TestStore(t *testing.T) {
	file := t.TempDir() + "/robot.db"
	fetches := 0
	for range 2 {
		hosts, err := open(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := hosts.Load(t.Context(), "gopher://nobody:70"); !errors.Is(err,
			fs.ErrNotExist) {
			t.Error(err)
		}
		c := client.Client{Store: hosts,
			Fetch: func(context.Context, *url.URL) (io.ReadCloser, error) {
				fetches++
				return io.NopCloser(strings.NewReader("Disallow: /a\n")), nil
			}}
		a, err := c.Get(t.Context(), "gopher://h/")
		if err != nil || a.Allowed("/a") || !a.Allowed("/b") {
			t.Errorf("%v, %v", a, err)
		}
		_ = hosts.db.Close()
	}
	if fetches != 1 {
		t.Errorf("%d fetches", fetches)
	}
}
