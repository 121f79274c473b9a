// Package layout checks that imports point the way the design says.
package layout

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/gophd/gophd/"

// mayImport lists, for each package of ours, the packages of ours that it may
// import. Examples and the command may import what they like.
var mayImport = map[string][]string{
	"diag":           {},
	"selector":       {},
	"menu":           {},
	"robots":         {"diag", "selector", "robots/internal/ircline"},
	"robots/lint":    {"diag", "robots"},
	"robots/convert": {"diag", "robots", "selector"},
	"robots/client":  {"robots", "robots/internal/dial"},
	"robots/kit":     {"robots"},
	"robots/irc":     {"diag", "robots", "robots/internal/dial", "robots/internal/ircline"},
	"policy":         {"robots", "policy/internal/proof"},

	"policy/internal/proof":     {"robots", "selector"},
	"policy/internal/prooftest": {},

	"internal/limit":      {},
	"internal/search":     {},
	"internal/stall":      {},
	"internal/watch":      {"internal/limit", "internal/stall"},
	"internal/tally":      {},
	"site":                {"diag", "policy", "menu", "site/internal/disk", "internal/watch", "internal/limit", "internal/stall"},
	"site/internal/disk":  {},
	"server":              {"selector", "menu", "internal/tally", "internal/limit", "server/internal/poll"},
	"fileserver":          {"diag", "menu", "selector", "server", "site", "internal/stall"},
	"internal/fastcgi":    {},
	"internal/feed":       {"menu", "selector", "server", "site"},
	"internal/programs":   {"internal/fastcgi", "menu", "selector", "server", "site"},
	"internal/sitesearch": {"internal/search", "menu", "policy", "selector", "server", "site"},

	"server/internal/poll": {},
}

// everybodys are the packages that everybody may import.
var everybodys = []string{"diag", "selector"}

// onlyIn names the one place that may import a module.
var onlyIn = map[string]string{
	"github.com/fsnotify/fsnotify": "internal/watch",
	"github.com/urfave/cli/v2":     "cmd/gophd",
}

type pkg struct {
	ImportPath string
	Imports    []string
}

func (p pkg) name() string { return strings.TrimPrefix(p.ImportPath, module) }

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestImportsPointOneWay(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range packages(t) {
		allowed, known := mayImport[p.name()]
		seen[p.name()] = true
		for _, imp := range p.Imports {
			if place, ok := onlyIn[imp]; ok && p.name() != place {
				t.Errorf("%s imports %s, which only %s may", p.name(), imp, place)
			}
			ours, isOurs := strings.CutPrefix(imp, module)
			if known && isOurs && !slices.Contains(allowed, ours) && !slices.Contains(everybodys, ours) {
				t.Errorf("%s imports %s: the design allows %v", p.name(), ours, allowed)
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
	for _, name := range []string{"./robots", "./robots/lint", "./robots/convert", "./policy"} {
		cmd := exec.Command("go", "list", "-deps", name)
		cmd.Dir = "../.."
		out, err := cmd.Output()
		deps := strings.Fields(string(out))
		if err != nil || !slices.Contains(deps, module+"robots") {
			t.Fatalf("go list -deps %s: %v: %q", name, err, out)
		}
		for _, dep := range deps {
			if dep == "net" || dep == "net/http" || dep == "crypto/tls" {
				t.Errorf("%s links %s", name, dep)
			}
		}
	}
}

// TestHelloIsSmall: a server that somebody builds on package server links nothing
// of the tree, of robots or of HTTP.
func TestHelloIsSmall(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "./examples/hello")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, module+"server") {
		t.Errorf("hello does not even link server: %q", deps)
	}
	for _, dep := range deps {
		ours, isOurs := strings.CutPrefix(dep, module)
		small := slices.Contains([]string{"examples/hello", "server", "menu", "selector", "diag", "internal/limit", "internal/tally"}, ours) ||
			strings.HasPrefix(ours, "server/internal/")
		if isOurs && !small || dep == "net/http" || dep == "github.com/fsnotify/fsnotify" {
			t.Errorf("hello links %s", dep)
		}
	}
}

// TestAPIHasNoInternalTypes: what is exported can be used from outside, so none of
// its types is of an internal package.
func TestAPIHasNoInternalTypes(t *testing.T) {
	for _, p := range packages(t) {
		name := p.name()
		if strings.Contains(name, "internal") || strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "examples/") || strings.HasPrefix(name, "tools") || strings.HasPrefix(name, "test/") {
			continue
		}
		cmd := exec.Command("go", "doc", "-all", "-short", "./"+name)
		cmd.Dir = "../.."
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		for line := range strings.Lines(string(out)) {
			for _, imp := range p.Imports {
				base := imp[strings.LastIndexByte(imp, '/')+1:]
				if code, _, _ := strings.Cut(line, "//"); strings.HasPrefix(imp, module) && strings.Contains(imp, "internal/") &&
					!strings.HasPrefix(line, "    ") && regexp.MustCompile(`\b`+base+`\.[A-Z]`).MatchString(code) {
					t.Errorf("%s exports a type of %s: %s", name, imp, line)
				}
			}
		}
	}
}

func TestEveryPackageIsInTheTable(t *testing.T) {
	free := []string{"cmd/", "examples/", "internal/", "packaging/", "test/", "tools/", "robots/internal/"}
	for _, p := range packages(t) {
		_, known := mayImport[p.name()]
		isFree := slices.ContainsFunc(free, func(dir string) bool { return strings.HasPrefix(p.name(), dir) })
		if !known && !isFree {
			t.Errorf("package %s is not in the design's table", p.name())
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
		name := p.name()
		if strings.Contains(name, "/internal/") || strings.HasPrefix(name, "test/") || strings.HasPrefix(name, "examples/") {
			continue
		}
		if !regexp.MustCompile("[`(]" + regexp.QuoteMeta(name) + "[`)]").Match(page) {
			t.Errorf("CONTRIBUTING.md does not say what package %s is for", name)
		}
	}
}
