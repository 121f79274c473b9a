package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// avoided are words that an international reader has to look up or translate, with
// the field's word for each. Package layout itself lists them, and CHANGELOG.md
// tells how old names are called now.
var avoided = map[string]string{
	`octets?`:                             "byte",
	`anew`:                                "again",
	`tabulators?`:                         "tab",
	`(says|tells) (whether|if)`:           "reports whether",
	`begin of`:                            "beginning of",
	`belongs? into`:                       "belongs in",
	`whoever|(some|any)(body|one) who`:    "the client, author, user or caller that",
	`be it`:                               "whether",
	`who comes`:                           "a client that connects",
	`barred|debarred`:                     "denied",
	`patience`:                            "timeout",
	`crowds?|crowded`:                     "many clients",
	`ghosts?|unborn|votes?`:               "what it stands for",
	`gates?|guests?|dogs?|parked`:         "what it stands for",
	`gardens?|gardeners?|plants?|planted`: "tree, author, make",
	`marathons?|sieges?|besieges?`:        "soak, load",
}

// quoted are the places where such a word is somebody else's, by file and word.
var quoted = map[string]string{
	"examples/beside/":       "guest", // a guest book
	"menu/gophermap_test.go": "guest", // a program that holes call so
	"menu/program_test.go":   "guest",
	"menu/umn_test.go":       "guest",
	"selector/path_test.go":  "guest",
	"internal/search/":       "dog",   // of the quick brown fox
	"robots/README.md":       "dog",   // of the quick brown fox
	"internal/front/web/":    "octet", // application/octet-stream
	"answer/":                "octet",
}

// TestWords looks for words that are not the field's.
func TestWords(t *testing.T) {
	var patterns []string
	for p := range avoided {
		patterns = append(patterns, p)
	}
	slices.Sort(patterns)
	word := regexp.MustCompile(`(?i)\b(` + strings.Join(patterns, "|") + `)\b`)
	seen := 0
	walk(t, func(name string) {
		ext := filepath.Ext(name)
		if !slices.Contains([]string{".go", ".md", ".txtar", ".service", ".robots", ""}, ext) && !strings.HasPrefix(name, "content/") ||
			strings.HasPrefix(name, "test/layout/") || name == "CHANGELOG.md" {
			return
		}
		text, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		seen++
		n := 0
		for line := range strings.Lines(string(text)) {
			n++
			for _, found := range word.FindAllString(line, -1) {
				if !isQuoted(name, found) {
					t.Errorf("%s:%d: %q: %s", name, n, found, strings.TrimSpace(line))
				}
			}
		}
	})
	if seen < 300 {
		t.Errorf("only %d files were read", seen)
	}
}

func isQuoted(name, found string) bool {
	for place, word := range quoted {
		if strings.HasPrefix(name, place) && strings.HasPrefix(strings.ToLower(found), word) {
			return true
		}
	}
	return false
}

// sameName are the directories whose types may be called as others are.
var sameName = map[string]string{
	"policy/internal/proof/":  "the proof imports nothing of the compiler and has its own of each of its things",
	"policy/internal/oracle/": "of tests alone",
	"test/":                   "of tests alone",
}

// TestTypesHaveOneName: no two types have the same name, so that a name says which
// is meant without its package.
func TestTypesHaveOneName(t *testing.T) {
	places := map[string]string{}
	walk(t, func(name string) {
		for dir := range sameName {
			if strings.HasPrefix(name, dir) {
				return
			}
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), "../../"+name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Dir(name)
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range g.Specs {
				ts, ok := s.(*ast.TypeSpec)
				if !ok || ts.Assign.IsValid() { // an alias is the same type
					continue
				}
				// One package may have a type for each system.
				if other, ok := places[ts.Name.Name]; ok && other != dir {
					t.Errorf("%s and %s have both a type %s", other, dir, ts.Name.Name)
				}
				places[ts.Name.Name] = dir
			}
		}
	})
	if len(places) < 200 {
		t.Errorf("only %d types were found", len(places))
	}
}

// walk calls f for each file of the repository.
func walk(t *testing.T, f func(name string)) {
	t.Helper()
	err := filepath.WalkDir("../..", func(name string, e fs.DirEntry, err error) error {
		name = filepath.ToSlash(strings.TrimPrefix(name, "../../"))
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == ".git" || e.Name() == "node_modules" || name == "bin" || name == "content/attic"):
			return fs.SkipDir
		case e.Type().IsRegular():
			f(name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
