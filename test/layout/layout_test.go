// Package layout checks that imports point the way the design says.
package layout

import (
	"errors"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/gophd/gophd/"

// mayImport lists, for each package of ours, the packages of ours that it may
// import. Examples and the command may import what they like.
var mayImport = map[string][]string{
	".":              {},
	"diag":           {},
	"selector":       {},
	"menu":           {},
	"robots/readers": {"diag", "selector", "robots/internal/ircline"},
	"robots":         {"diag", "selector", "robots/readers", "robots/internal/ircline"},
	"robots/lint":    {"diag", "robots", "robots/readers"},
	"robots/convert": {"diag", "robots", "robots/readers", "selector"},
	"robots/client":  {"robots", "robots/readers", "robots/internal/dial", "internal/ask"},
	"robots/kit":     {"robots", "robots/readers"},
	"robots/irc":     {"diag", "robots/readers", "robots/internal/dial", "robots/internal/ircline", "internal/ask"},
	"policy":         {"robots", "robots/lint", "robots/readers", "policy/internal/proof"},

	"policy/internal/proof": {"robots", "robots/readers", "selector"},

	"internal/ask":               {"menu"},
	"internal/limit":             {},
	"internal/search":            {},
	"internal/stall":             {},
	"internal/watch":             {"internal/disk", "internal/limit", "internal/stall", "selector"},
	"internal/tally":             {},
	"site":                       {"diag", "policy", "menu", "internal/disk", "internal/watch", "internal/limit", "internal/stall"},
	"internal/disk":              {"selector", "internal/stall"},
	"server":                     {"selector", "menu", "internal/tally", "internal/limit", "server/internal/poll"},
	"answer":                     {"diag", "menu", "selector", "server", "site", "internal/limit", "internal/stall"},
	"answer/gopher":              {"answer", "menu", "server"},
	"internal/fastcgi":           {},
	"answer/feed":                {"answer", "menu", "selector", "server", "site"},
	"internal/source/sitemap":    {"answer", "menu", "policy", "selector", "server", "site"},
	"internal/source/programs":   {"answer", "internal/fastcgi", "menu", "policy", "selector", "server", "site"},
	"internal/source/sitesearch": {"answer", "internal/search", "internal/stall", "menu", "policy", "selector", "server", "site"},

	"server/internal/poll": {},
}

// everybodys are the packages that everybody may import.
var everybodys = []string{"diag", "selector"}

// onlyIn names the one place that may import a module.
var onlyIn = map[string]string{
	"github.com/fsnotify/fsnotify": "internal/watch",
	"github.com/urfave/cli/v2":     "cmd/gophd",
}

// allowedUnsafe are the packages and files that may import unsafe, and why.
var allowedUnsafe = map[string]string{
	"server/internal/poll":                   "system calls that the scheduler need not be told of, with addresses in memory",
	"internal/process/sandbox":               "golang.org/x/sys has no seccomp(2)",
	"test/e2e/sandbox/sandbox_linux_test.go": "an intruder's system calls",
	"server/clock_test.go":                   "makes times such as only a clock that was set gives",
}

type pkg struct {
	name  string // of its directory: "server/internal/poll"
	build *build.Package
}

// packages returns the packages of this module for the system that the test runs on,
// with those that have tests alone.
func packages(t *testing.T) (all []pkg) {
	t.Helper()
	seen := map[string]bool{}
	walk(t, func(name string) {
		dir := path.Dir(name)
		if !strings.HasSuffix(name, ".go") || seen[dir] || inOtherModule(dir) {
			return
		}
		seen[dir] = true
		p, err := build.ImportDir("../../"+dir, 0)
		if only := (*build.NoGoError)(nil); err != nil && !errors.As(err, &only) {
			t.Fatal(err)
		}
		all = append(all, pkg{dir, p})
	})
	if len(all) < 50 {
		t.Fatalf("only %d packages were found", len(all))
	}
	return all
}

// inOtherModule reports whether a directory is, or lies in, a module of its own.
func inOtherModule(dir string) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if _, err := os.Stat("../../" + dir + "/go.mod"); err == nil {
			return true
		}
	}
	return false
}

// isStandard reports whether a package is of the standard library.
func isStandard(imp string) bool {
	first, _, _ := strings.Cut(imp, "/")
	return !strings.Contains(first, ".")
}

// network are the packages by which a program has to do with the network.
var network = []string{"net", "net/http", "crypto/tls"}

// links returns the packages that a package of ours links: ours and those of the
// standard library, and what is imported of the network and of other modules, but not
// what that imports.
func links(t *testing.T, name string) (all []string) {
	t.Helper()
	todo := []string{module + name}
	for seen := map[string]bool{}; len(todo) > 0; {
		at := todo[0]
		todo = todo[1:]
		if seen[at] || at == "C" {
			continue
		}
		seen[at] = true
		all = append(all, at)
		dir, ours := strings.CutPrefix(at, module)
		switch {
		case ours:
			dir = "../../" + dir
		case slices.Contains(network, at):
			continue
		case isStandard(at):
			dir = filepath.Join(build.Default.GOROOT, "src", at)
		default:
			continue
		}
		p, err := build.ImportDir(dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range p.Imports {
			if !ours && !isStandard(imp) {
				imp = "vendor/" + imp // of the standard library
			}
			todo = append(todo, imp)
		}
	}
	return all
}

func TestImportsPointOneWay(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range packages(t) {
		allowed, known := mayImport[p.name]
		seen[p.name] = true
		for _, imp := range p.build.Imports {
			if place, ok := onlyIn[imp]; ok && p.name != place {
				t.Errorf("%s imports %s, which only %s may", p.name, imp, place)
			}
			ours, isOurs := strings.CutPrefix(imp, module)
			if known && isOurs && !slices.Contains(allowed, ours) && !slices.Contains(everybodys, ours) {
				t.Errorf("%s imports %s: the design allows %v", p.name, ours, allowed)
			}
			if strings.HasPrefix(p.name, "examples/") && strings.HasPrefix(ours, "internal/") {
				t.Errorf("%s imports %s, which no program outside can", p.name, ours)
			}
		}
	}
	for name := range mayImport {
		if !seen[name] {
			t.Errorf("package %s is gone: mend the table", name)
		}
	}
}

// TestNothingOfTheNetwork: robots and policy are for everybody who has a file in
// hand, whatever they fetch it with.
func TestNothingOfTheNetwork(t *testing.T) {
	for _, name := range []string{"robots", "robots/lint", "robots/convert", "policy"} {
		for _, dep := range links(t, name) {
			other := !isStandard(dep) && !strings.HasPrefix(dep, module)
			if other && dep != "github.com/dunglas/httpsfv" || slices.Contains(network, dep) {
				t.Errorf("%s links %s", name, dep)
			}
		}
	}
	if !slices.Contains(links(t, "robots/client"), "net") {
		t.Error("robots/client seems not to link net")
	}
}

// TestHelloIsSmall: a server that somebody builds on package server links nothing
// of the tree, of robots or of HTTP.
func TestHelloIsSmall(t *testing.T) {
	deps := links(t, "examples/hello")
	if !slices.Contains(deps, module+"server") || !slices.Contains(deps, "net") {
		t.Errorf("hello does not even link server: %q", deps)
	}
	for _, dep := range deps {
		ours, isOurs := strings.CutPrefix(dep, module)
		small := slices.Contains([]string{"examples/hello", "server", "menu", "selector", "diag", "internal/limit", "internal/tally"}, ours) ||
			strings.HasPrefix(ours, "server/internal/")
		known := isStandard(dep) || slices.Contains([]string{"golang.org/x/sys/unix", "github.com/pires/go-proxyproto"}, dep)
		if isOurs && !small || !isOurs && !known || dep == "net/http" {
			t.Errorf("hello links %s", dep)
		}
	}
}

// TestAPIHasNoInternalTypes: what is exported can be used from outside, so none of
// its types is of an internal package.
func TestAPIHasNoInternalTypes(t *testing.T) {
	for _, p := range packages(t) {
		name := p.name
		if strings.Contains(name, "internal") || strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "examples/") || strings.HasPrefix(name, "tools") || strings.HasPrefix(name, "test/") {
			continue
		}
		for _, file := range p.build.GoFiles {
			for _, typ := range internalInAPI(t, name+"/"+file) {
				t.Errorf("%s/%s exports %s", name, file, typ)
			}
		}
	}
}

// internalInAPI returns what the exported part of a file names of internal packages.
func internalInAPI(t *testing.T, name string) (found []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../"+name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	internal := map[string]bool{}
	for _, imp := range file.Imports {
		if at := strings.Trim(imp.Path.Value, `"`); strings.HasPrefix(at, module) && strings.Contains(at, "internal/") {
			internal[path.Base(at)] = true
			if imp.Name != nil {
				internal[imp.Name.Name] = true
			}
		}
	}
	ast.FileExports(file)
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			f.Body = nil
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok && internal[x.Name] {
					found = append(found, x.Name+"."+sel.Sel.Name)
				}
			}
			return true
		})
	}
	return found
}

// TestWhatFewMayImport: unsafe is in few places, and processes are started in one.
func TestWhatFewMayImport(t *testing.T) {
	used := map[string]bool{}
	walk(t, func(name string) {
		if !strings.HasSuffix(name, ".go") || inOtherModule(path.Dir(name)) {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), "../../"+name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range file.Imports {
			switch imp.Path.Value {
			case `"unsafe"`:
				place := name
				if !strings.HasSuffix(name, "_test.go") {
					place = path.Dir(name)
				}
				if used[place] = true; allowedUnsafe[place] == "" {
					t.Errorf("%s imports unsafe", name)
				}
			case `"os/exec"`:
				if strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, "test/e2e/") {
					t.Errorf("%s may start a process: such tests are in test/e2e, with package harness", name)
				}
			}
		}
	})
	for place := range allowedUnsafe {
		if !used[place] {
			t.Errorf("%s does not import unsafe: mend the table", place)
		}
	}
}

func TestEveryPackageIsInTheTable(t *testing.T) {
	free := []string{"cmd/", "examples/", "internal/", "packaging/", "test/", "tools/", "robots/internal/"}
	for _, p := range packages(t) {
		_, known := mayImport[p.name]
		isFree := slices.ContainsFunc(free, func(dir string) bool { return strings.HasPrefix(p.name, dir) })
		if !known && !isFree {
			t.Errorf("package %s is not in the design's table", p.name)
		}
	}
}

// TestNewcomersFindEveryPackage: CONTRIBUTING.md names each package, or is about
// tests, examples and tools in general.
func TestNewcomersFindEveryPackage(t *testing.T) {
	page, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages(t) {
		name := p.name
		if strings.Contains(name, "/internal/") || strings.HasPrefix(name, "test/") || strings.HasPrefix(name, "examples/") {
			continue
		}
		if !regexp.MustCompile("[`(]" + regexp.QuoteMeta(name) + "[`)]").Match(page) {
			t.Errorf("CONTRIBUTING.md does not say what package %s is for", name)
		}
	}
}

// TestMadeWithinBounds: a front or a source makes no menu and reads no directory on its
// own: answer.Asked has a builder and a view that count what they take. The search
// index is built for no request.
func TestMadeWithinBounds(t *testing.T) {
	made := regexp.MustCompile(`menu\.Builder\{|site\.Try\(|\.ReadDir\(`)
	allowed := map[string]string{
		"answer/answer.go": "Asked.Builder", "answer/made.go": "within Limiter.made", "answer/dated.go": "of Asked.View",
		"internal/source/sitesearch/follow.go": "the index",
		"internal/source/sitemap/list.go":      "one directory at a time, of Asked.View",
	}
	walk(t, func(name string) {
		ours := slices.ContainsFunc([]string{"answer/", "internal/front/", "internal/source/", "internal/daemon/", "internal/process/enforce/"}, func(dir string) bool { return strings.HasPrefix(name, dir) })
		if !ours || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return
		}
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if found := made.Find(text); (found != nil) != (allowed[name] != "") {
			t.Errorf("%s: %q is outside of the bounds, or the table names it in vain", name, found)
		}
	})
}
