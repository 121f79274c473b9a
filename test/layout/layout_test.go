// Package layout checks what the design says of the packages as a whole: which way imports
// point, who touches the disk and the network, where replies are made, who prints commands.
// Which package imports what besides, depguard enforces (.golangci.yml).
package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/gophd/gophd"

// A source is a file of Go that is no test, in this module.
type source struct {
	name string // "server/conn.go"
	text []byte
	file *ast.File
	set  *token.FileSet
}

func (s source) dir() string { return path.Dir(s.name) }

// in reports whether the file lies in one of these directories.
func (s source) in(dirs ...string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return strings.HasPrefix(s.name, dir+"/")
	})
}

// imports returns what the file imports; packages of ours by the names of their directories.
func (s source) imports() (all []string) {
	for _, imp := range s.file.Imports {
		name, _ := strconv.Unquote(imp.Path.Value)
		all = append(all, strings.TrimPrefix(name, module+"/"))
	}
	return all
}

// sources returns all of them.
func sources(t *testing.T) (all []source) {
	t.Helper()
	err := filepath.WalkDir("../..", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			_, other := os.Stat(filepath.Join(name, "go.mod"))
			if name != "../.." && (other == nil || e.Name() == ".git" ||
				e.Name() == "node_modules" || e.Name() == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		s := source{name: strings.TrimPrefix(filepath.ToSlash(name), "../../"),
			set: token.NewFileSet()}
		if s.text, err = os.ReadFile(name); err != nil {
			return err
		}
		s.file, err = parser.ParseFile(s.set, s.name, s.text, parser.SkipObjectResolution)
		all = append(all, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 150 {
		t.Fatalf("only %d files were found", len(all))
	}
	return all
}

// order has the packages from bottom to top: a package imports none that is behind it. A
// name includes the packages below it that have none of their own here.
var order = []string{
	"diag", "selector", "internal/limit", "internal/stall", "internal/tally", "internal/fastcgi",
	"internal/search", "internal/treetest",
	"internal/command/terminal", "internal/process/sandbox", "menu", "internal/ask",
	"robots/internal", "robots/readers", "robots", "policy",
	"internal/disk", "internal/command/exit", "internal/watch", "server", "site", "answer",
	"internal/process/enforce", "internal/source", "internal/process", "internal/front",
	"internal/daemon", "internal/command",
	"cmd", "examples", "packaging", "test",
}

// place returns where a package is in order, -1 if nowhere.
func place(pkg string) int {
	for ; pkg != "."; pkg = path.Dir(pkg) {
		if at := slices.Index(order, pkg); at >= 0 {
			return at
		}
	}
	return -1
}

// TestImportsPointOneWay: each package is in the order, and imports only what is before it.
func TestImportsPointOneWay(t *testing.T) {
	for _, s := range sources(t) {
		if s.dir() == "." {
			continue // the manual, which imports nothing
		}
		at := place(s.dir())
		if at < 0 {
			t.Errorf("package %s is not in the order", s.dir())
		}
		for _, imp := range s.imports() {
			if place(imp) > at {
				t.Errorf("%s imports %s, which is above it", s.name, imp)
			}
		}
	}
}

// pure are the packages for those who have a file in hand, whatever they fetch it with.
var pure = []string{"diag", "selector", "menu", "robots", "robots/readers", "robots/lint",
	"robots/convert", "policy", "policy/internal/proof"}

// TestNothingOfTheNetwork: what they import has nothing to do with it, directly or not.
func TestNothingOfTheNetwork(t *testing.T) {
	for _, s := range sources(t) {
		if !slices.Contains(pure, s.dir()) {
			continue
		}
		for _, imp := range s.imports() {
			standard := !strings.Contains(strings.Split(imp, "/")[0], ".") && place(imp) < 0 &&
				imp != "net" && !strings.HasPrefix(imp, "net/http") && imp != "crypto/tls"
			if !standard && !slices.Contains(pure, imp) && imp != "github.com/dunglas/httpsfv" &&
				!strings.HasPrefix(imp, "golang.org/x/text/") {
				t.Errorf("%s imports %s", s.name, imp)
			}
		}
	}
}

// waits are the calls that may wait for a file system, by package.
var waits = map[string][]string{
	"os": {"Stat", "Lstat", "Open", "OpenFile", "OpenRoot", "ReadDir", "ReadFile",
		"Readlink", "DirFS"},
	"filepath": {"EvalSymlinks", "Walk", "WalkDir", "Glob"},
	"unix": {"Open", "Openat", "Openat2", "Stat", "Lstat", "Fstatat", "Statx", "Access",
		"Faccessat", "Readlink", "Readlinkat", "Statfs"},
	"syscall": {"Open", "Stat", "Lstat", "Access", "Readlink", "Statfs"},
	"tls":     {"LoadX509KeyPair"},
}

// mayWait are the packages and files that may make them, and why.
var mayWait = map[string]string{
	"internal/disk":                          "the one that makes them for all others",
	"internal/process/sandbox":               "before anything is served",
	"internal/process/keypair/selfsigned.go": "at the start",
	"internal/process/systemd/unit.go":       "for a hint, at the start",
	"internal/search/index.go":               "SQLite does, with the same files",
	"internal/command/doctor":                "reads units, settings and /proc, and ends by itself",
	"robots":                                 "ends by itself",
	"test":                                   "ends by itself",
	"internal/treetest":                      "tests alone",
}

// TestOneTypeWaitsForFileSystems: a call that a file system does not answer holds up
// whoever makes it, so that all of the daemon's go through package disk.
func TestOneTypeWaitsForFileSystems(t *testing.T) {
	used := map[string]bool{}
	for _, s := range sources(t) {
		place := s.name
		for place != "." && mayWait[place] == "" {
			place = path.Dir(place)
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := sel.X.(*ast.Ident)
			if !ok || !slices.Contains(waits[x.Name], sel.Sel.Name) {
				return true
			}
			used[place] = true
			if place == "." {
				t.Errorf("%s calls %s.%s, which may wait for a file system: package disk does that",
					s.name, x.Name, sel.Sel.Name)
			}
			return true
		})
	}
	for place := range mayWait {
		if !used[place] {
			t.Errorf("%s makes no call that may wait: mend the table", place)
		}
	}
}

// TestMadeWithinBounds: a front or a source makes no menu and reads no directory on its
// own: answer.Asked has a builder and a view that count what they take. The search
// index is built for no request.
func TestMadeWithinBounds(t *testing.T) {
	made := regexp.MustCompile(`menu\.Builder\{|site\.Try\(|\.ReadDir\(`)
	allowed := map[string]string{
		"answer/answer.go": "Asked.Builder", "answer/made.go": "within Limiter.made",
		"answer/dated.go":                      "of Asked.View",
		"internal/source/sitesearch/follow.go": "the index",
	}
	for _, s := range sources(t) {
		if !s.in("answer", "internal/front", "internal/source", "internal/daemon",
			"internal/process/enforce") {
			continue
		}
		if found := made.Find(s.text); (found != nil) != (allowed[s.name] != "") {
			t.Errorf("%s: %q is outside of the bounds, or the table names it in vain", s.name, found)
		}
	}
}

// TestNewcomersFindEveryPackage: CONTRIBUTING.md names each package, or is about
// tests, examples and tools in general. The files that it names exist.
func TestNewcomersFindEveryPackage(t *testing.T) {
	page, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sources(t) {
		if strings.Contains(s.dir(), "/internal/") || s.in("test", "examples") {
			continue
		}
		if !regexp.MustCompile("[`(]" + regexp.QuoteMeta(s.dir()) + "[`)]").Match(page) {
			t.Errorf("CONTRIBUTING.md does not say what package %s is for", s.dir())
		}
	}
	for _, m := range regexp.MustCompile("`([\\w-]+/[\\w/-]+\\.\\w+)`").FindAllSubmatch(page, -1) {
		if _, err := os.Stat("../../" + string(m[1])); err != nil {
			t.Errorf("CONTRIBUTING.md names a file: %v", err)
		}
	}
}

var (
	// tools are the programs that hints name, in front of an argument.
	tools = regexp.MustCompile(`(?:^|[^\w./-])(?:mv|cp|rm|chmod|chown|chgrp|mkdir|touch|setcap|setfacl|sysctl|systemctl|journalctl|rc-service|printf|certbot|unset|sudo|sed +-|kill +-) +[-+\w/'"$%.\[]`)
	// filled is a command of gophd that is to be followed by a name.
	filled = regexp.MustCompile(`\bgophd (?:-[a-z-]+|check|doctor|get|init|manual|robots|wire)\b(?:[^;:]*%[qsv]|[^;:]* $)|\bgophd (?:\./)?$`)
)

// TestOneFunctionPrintsCommands: a command for a person to type holds names that others
// chose. Everything but diag.Command leaves the quoting to its author.
func TestOneFunctionPrintsCommands(t *testing.T) {
	for _, s := range sources(t) {
		if s.in("test", "packaging") || s.name == "diag/command.go" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			if found := tools.FindString(text) + filled.FindString(text); found != "" {
				t.Errorf("%s: %q is a command: diag.Command prints those",
					s.set.Position(lit.Pos()), found)
			}
			return true
		})
	}
}
