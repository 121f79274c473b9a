package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// waits are the calls that may wait for a file system, by package.
var waits = map[string][]string{
	"os":       {"Stat", "Lstat", "Open", "OpenFile", "OpenRoot", "ReadDir", "ReadFile", "Readlink", "DirFS"},
	"filepath": {"EvalSymlinks", "Walk", "WalkDir", "Glob"},
	"unix":     {"Open", "Openat", "Openat2", "Stat", "Lstat", "Fstatat", "Statx", "Access", "Faccessat", "Readlink", "Readlinkat", "Statfs"},
	"syscall":  {"Open", "Stat", "Lstat", "Access", "Readlink", "Statfs"},
	"tls":      {"LoadX509KeyPair"},
}

// mayWait are the packages and files that may make them, and why.
var mayWait = map[string]string{
	"internal/disk":                          "the one that makes them for all others",
	"internal/process/sandbox":               "before anything is served",
	"internal/process/keypair/selfsigned.go": "at the start",
	"internal/process/systemd/unit.go":       "for a hint, at the start",
	"internal/search/index.go":               "SQLite does, with the same files",

	"internal/command/doctor": "reads units, settings and /proc, and ends by itself",
	"robots":                  "ends by itself",
	"test":                    "ends by itself", "test/bench": "ends by itself", "test/kitcheck": "ends by itself",

	"internal/treetest": "tests alone",
}

// TestOneTypeWaitsForFileSystems: a call that a file system does not answer holds up
// whoever makes it, so that all of the daemon's go through package disk.
func TestOneTypeWaitsForFileSystems(t *testing.T) {
	used := map[string]bool{}
	walk(t, func(name string) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || inOtherModule(path.Dir(name)) {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), "../../"+name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		place := name
		for place != "." && mayWait[place] == "" {
			place = path.Dir(place)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := sel.X.(*ast.Ident)
			if !ok || !slices.Contains(waits[x.Name], sel.Sel.Name) {
				return true
			}
			if used[place] = true; place == "." {
				t.Errorf("%s calls %s.%s, which may wait for a file system: package disk does that", name, x.Name, sel.Sel.Name)
			}
			return true
		})
	})
	for place := range mayWait {
		if !used[place] {
			t.Errorf("%s makes no call that may wait: mend the table", place)
		}
	}
}
