package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// wall are the methods of a time that leave only what the wall clock says,
// which anybody may set: intervals must not be made of that.
var wall = map[string]bool{
	"Unix": true, "UnixMilli": true, "UnixMicro": true, "UnixNano": true, "UTC": true, "Local": true, "In": true,
	"Truncate": true, "AddDate": true, "ModTime": true, "MarshalText": true, "MarshalJSON": true,
}

// mayAskTheWall says in which files that is right, and why.
var mayAskTheWall = map[string]string{
	"internal/process/keypair/selfsigned.go": "certificates are valid by the wall clock",
	"internal/command/getcmd/known.go":       "certificates are valid by the wall clock",
	"internal/command/doctor/tree.go":        "of files, compared with each other",
	"internal/process/metrics/metrics.go":    "told to Prometheus",
	"internal/source/status/page.go":         "told to people",
	"menu/names.go":                          "told to people",
	"internal/source/status/stats.go":        "minutes of a chart, told to people",

	"internal/front/web/view.go":           "of a file, told to browsers",
	"answer/feed/atom.go":                  "dates of texts",
	"internal/source/sitemap/sitemap.go":   "of files, told to robots",
	"internal/source/sitemap/list.go":      "of files, told to robots",
	"examples/changes/main.go":             "of files, told by sitemaps",
	"internal/source/sitesearch/follow.go": "of a file, compared with itself",
	"site/scan.go":                         "of files, compared with each other",
	"internal/disk/revision.go":            "of files: one that seems new is read once more",
	"site/file.go":                         "of a file, for fs.FileInfo",
	"site/fs.go":                           "of files, told to those who list them",
}

// TestClockJumps looks for intervals that would change with the wall clock: a
// deadline, a rate or a "once a minute" that is made of such a time goes wrong
// when the clock is set.
func TestClockJumps(t *testing.T) {
	used := map[string]bool{}
	err := filepath.WalkDir("../..", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(name, "../../"))
		if strings.HasPrefix(rel, "test/bench/") || strings.HasPrefix(rel, "test/kitcheck/") || strings.HasPrefix(rel, "packaging/") || strings.HasPrefix(rel, "robots/") {
			return nil // no part of the daemon; robots obey Visit-time, which is of the wall
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !wall[sel.Sel.Name] {
				return true
			}
			used[rel] = true
			if _, ok := mayAskTheWall[rel]; !ok {
				t.Errorf("%s: %s is what the wall clock says", rel, sel.Sel.Name)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range mayAskTheWall {
		if !used[name] {
			t.Errorf("%s does not ask the wall clock: mend the table", name)
		}
	}
}
