package main

import (
	"strings"
	"testing"

	"github.com/gophd/gophd/answer"
	"github.com/gophd/gophd/answer/gopher"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/robots/client"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// serve serves a tree, of which the robot "rude" may have nothing and every
// other one all but the drafts, and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	treetest.Write(t, dir, map[string]string{
		".robots":            "Crawl-delay: 0.001\nUser-agent: *\nDisallow: /phlog/drafts/\n\nUser-agent: rude\nDisallow: /\n",
		"about.txt":          "About.\n",
		"phlog/one.txt":      "One.\n",
		"phlog/drafts/2.txt": "Two.\n",
		"gophermap":          "1Home\t/\n1Elsewhere\t/\texample.org\t70\n0Gone\t/gone.txt\n*\n",
	})
	tree, err := site.Open(dir, site.Config{})
	treetest.Must(t, err)
	treetest.Run(t, tree.Run)
	return treetest.Serve(t,
		(&server.Server{Handler: &gopher.Front{Host: &answer.Host{Site: tree}}}).Serve)
}

func TestWalk(t *testing.T) {
	addr := serve(t)
	for _, tt := range []struct{ agent, want string }{
		{"examplebot", "/ /1/ /0/gone.txt Not found: nothing here has that name /1/phlog/ /0/about.txt /0/phlog/one.txt"},
		{"rude", ""},
	} {
		var out strings.Builder
		walk(t.Context(), &client.Client{Agent: tt.agent}, "gopher://"+addr+"/", &out)
		got := strings.Join(strings.Fields(strings.ReplaceAll(out.String(),
			"gopher://"+addr, "")), " ")
		if got != tt.want {
			t.Errorf("%s walked %q, want %q", tt.agent, got, tt.want)
		}
	}
}
