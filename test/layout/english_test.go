package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The first matches words that state relations where plain English states actions, the
// second sentences of the form "X is what ...". Of 1,000 lines of any kind of text at
// most 8 and 1 may match.
var (
	relations = regexp.MustCompile(`(?i)\b(told|tells?|nobody|somebody|that of|those of|of which|what is|what has|has to)\b`)
	equations = regexp.MustCompile(`(?i)^\W*\w+ (is|are) (that|those|what|who|whom) `)
)

// notProse is code within a text, and the account nobody.
var notProse = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`|\\*\\*[^*\n]*\\*\\*|\\*[^*\n]*\\*|-user nobody|account nobody|\"nobody\"")

// TestEnglish counts both in each kind of text, all its files together.
func TestEnglish(t *testing.T) {
	goFiles := sources(t, func(name string) bool {
		return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, "tools/")
	})
	kinds := map[string][]string{
		"comments":                       nil,
		"help and messages":              nil,
		"README, CONTRIBUTING, SECURITY": prose(t, "README.md", "CONTRIBUTING.md", "SECURITY.md"),
		"man pages":                      prose(t, "doc/*.[0-9].md"),
		"manual":                         prose(t, "content/manual/*.txt", "content/tables/*.txt", "content/gophermap"),
	}
	for _, name := range goFiles {
		comments, literals := texts(t, name)
		kinds["comments"] = append(kinds["comments"], comments...)
		kinds["help and messages"] = append(kinds["help and messages"], literals...)
	}
	for kind, lines := range kinds {
		var found, equal []string
		for _, line := range lines {
			if relations.MatchString(line) {
				found = append(found, line)
			}
			if equations.MatchString(line) {
				equal = append(equal, line)
			}
		}
		n := len(lines)
		t.Logf("%s: %d lines, %d and %d", kind, n, len(found), len(equal))
		if n < 80 {
			t.Errorf("%s: only %d lines were read", kind, n)
		}
		if 1000*len(found) > 8*n {
			t.Errorf("%s: %d of %d lines, past 8 in 1,000, state a relation:\n%s", kind, len(found), n, strings.Join(found, "\n"))
		}
		if 1000*len(equal) > n {
			t.Errorf("%s: %d of %d lines, past 1 in 1,000, begin with an equation:\n%s", kind, len(equal), n, strings.Join(equal, "\n"))
		}
	}
}

// sources returns the names of the files of the repository that match.
func sources(t *testing.T, match func(string) bool) (names []string) {
	walk(t, func(name string) {
		if match(name) {
			names = append(names, name)
		}
	})
	return names
}

// prose returns the lines of documents, each after "name:line: " of its file, without code.
func prose(t *testing.T, patterns ...string) (lines []string) {
	t.Helper()
	for _, p := range patterns {
		names, err := filepath.Glob("../../" + p)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: no files (%v)", p, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			plain := notProse.ReplaceAllStringFunc(string(text), func(code string) string {
				return strings.Repeat("\n", strings.Count(code, "\n")) + "_"
			})
			lines = append(lines, notBlank(plain)...)
		}
	}
	return lines
}

// notBlank returns the lines of a text that hold anything.
func notBlank(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// texts returns the lines of a file's comments, and of its strings that are sentences:
// three words or more.
func texts(t *testing.T, name string) (comments, literals []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../"+name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			comments = append(comments, notBlank(notProse.ReplaceAllString(strings.TrimPrefix(c.Text, "//"), "_"))...)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		value, err := strconv.Unquote(lit.Value)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range notBlank(notProse.ReplaceAllString(value, "_")) {
			if len(strings.Fields(line)) >= 3 {
				literals = append(literals, line)
			}
		}
		return true
	})
	return comments, literals
}
