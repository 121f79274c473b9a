package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/gopher"
	source "github.com/gophd/gophd/internal/source/sitemap"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/robots/client"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// TestChanges: a robot that knows a site of many texts finds those that have changed in
// three requests.
func TestChanges(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 50,000 files")
	}
	dir := t.TempDir()
	write := func(name, text string) time.Time {
		t.Helper()
		file := filepath.Join(dir, name)
		treetest.Must(t, os.WriteFile(file, []byte(text), 0o644))
		info, err := os.Stat(file)
		treetest.Must(t, err)
		return info.ModTime()
	}
	write(".robots", "Crawl-delay: 0.001\n")
	for i := range 50_100 {
		write(fmt.Sprintf("%05d.txt", i), "")
	}
	before := write("last.txt", "x").Truncate(time.Second)
	since := before
	for i := 0; since.Equal(before); i++ { // a sitemap has whole seconds
		since = write("last.txt", fmt.Sprint(i)).Truncate(time.Second)
	}
	for i := range 100 {
		write(fmt.Sprintf("%05d.txt", i), "changed")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	treetest.Must(t, err)
	maps := &source.Sitemaps{}
	tree, err := site.Open(dir,
		site.Config{Files: true,
			Sitemaps: []string{"gopher://" + l.Addr().String() + "/0/sitemap.xml"}})
	treetest.Must(t, err)
	maps.Site = tree
	srv := &server.Server{Handler: &gopher.Front{Host: &answer.Host{Site: tree,
		Beside: []answer.Source{maps}}}}
	treetest.Run(t, tree.Run, func(ctx context.Context) error { return srv.Serve(ctx, l) })
	treetest.Until(t, "the robot finds the changes", func() bool {
		var out strings.Builder
		err := changes(t.Context(), &client.Client{Agent: "examplebot"},
			"gopher://"+l.Addr().String()+"/", since, &out)
		got := out.String()
		return err == nil && strings.HasSuffix(got, "\n3 requests\n") &&
			strings.Count(got, "/0/000") >= 100 && strings.Count(got, "\n") < 200
	})
}
