// Package docs checks what the documentation says against the program.
package docs

import (
	"context"
	"flag"
	"github.com/gophd/gophd/internal/treetest"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/policy"
	"github.com/gophd/gophd/site"
)

const top = "../../"

// read returns a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(top + name))
	treetest.Must(t, err)
	return string(data)
}

var update = flag.Bool("update", false, "write the reports into doc/robots.5.md")

// TestEveryReportIsExplained: robots(5) has a paragraph for each code, as policy states it.
func TestEveryReportIsExplained(t *testing.T) {
	const name = "doc/robots.5.md"
	page := read(t, name)
	for _, c := range policy.Codes() {
		escape := strings.NewReplacer("*", `\*`, "_", `\_`)
		text := ": " + escape.Replace(upper(c.Meaning)) + ". *For instance:* " +
			escape.Replace(c.Example) +
			". *What to do:* " + escape.Replace(c.Hint) + "."
		want := "**" + c.Code + "** (" + string(c.Severity) + ")\n" + wrap(text, 78)
		if strings.Contains(page, want+"\n\n") {
			continue
		}
		if !*update {
			t.Errorf("%s does not say (go test ./test/docs -update writes it):\n%s", name, want)
			continue
		}
		old := regexp.MustCompile(`(?s)\*\*` + c.Code + `\*\* \([a-z]+\)\n.*?\n\n`)
		if !old.MatchString(page) {
			t.Fatalf("%s has no paragraph of %s to replace", name, c.Code)
		}
		page = old.ReplaceAllLiteralString(page, want+"\n\n")
	}
	if *update {
		if err := os.WriteFile(top+name, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// wrap breaks a text into lines of at most width bytes.
func wrap(text string, width int) string {
	var b strings.Builder
	n := 0
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
		case n+1+len(word) > width:
			b.WriteByte('\n')
			n = 0
		default:
			b.WriteByte(' ')
			n++
		}
		b.WriteString(word)
		n += len(word)
	}
	return b.String()
}

// TestItemTypesAreListed: the page of item types has each one that a gophermap may name.
func TestItemTypesAreListed(t *testing.T) {
	page := read(t, "content/tables/item-types.txt")
	for c := byte('!'); c <= '~'; c++ {
		listed := regexp.MustCompile(`(?m)(^    |   )` + regexp.QuoteMeta(string(c)) +
			`   \S`).MatchString(page)
		if listed != menu.IsType(c) {
			t.Errorf("type %q: listed: %v", c, listed)
		}
	}
}

func TestEveryDependencyIsJustified(t *testing.T) {
	direct, _, _ := strings.Cut(read(t, "go.mod"), "\n)")
	page := read(t, "doc/dependencies.md")
	for _, line := range strings.Split(direct, "\n")[1:] {
		module, rest, _ := strings.Cut(strings.TrimSpace(line), " v")
		module = regexp.MustCompile(`/v\d+$`).ReplaceAllString(module, "")
		if rest != "" && !strings.Contains(page, module) {
			t.Errorf("doc/dependencies.md does not say why there is %s", module)
		}
	}
}

// TestSecurityNamesTests looks for every test and script that SECURITY.md claims, in the
// package that is named before it. Each attack has one row.
func TestSecurityNamesTests(t *testing.T) {
	claim := regexp.MustCompile("`([a-z0-9/]+)`: |`((?:Test|Fuzz)[A-Za-z0-9]+|[a-z]+\\.txtar)`")
	attacks := map[string]bool{}
	claims := 0
	for line := range strings.Lines(read(t, "SECURITY.md")) {
		if attack, _, row := strings.Cut(strings.TrimPrefix(line, "| "), " | "); row &&
			attack != "---" {
			if attacks[attack] {
				t.Errorf("two rows are about %s", attack)
			}
			attacks[attack] = true
		}
		pkg, code := "", ""
		for _, m := range claim.FindAllStringSubmatch(line, -1) {
			if m[1] != "" {
				pkg, code = m[1], testsOf(t, m[1])
				continue
			}
			claims++
			script, err := os.Stat(top + pkg + "/testdata/script/" + m[2])
			if !strings.Contains(code, "func "+m[2]+"(") && (err != nil || script.IsDir()) {
				t.Errorf("SECURITY.md names %s, which %q does not have", m[2], pkg)
			}
		}
	}
	if claims < 100 {
		t.Errorf("only %d claims in SECURITY.md", claims)
	}
}

// testsOf returns the source of the tests of a package.
func testsOf(t *testing.T, pkg string) string {
	t.Helper()
	files, err := filepath.Glob(top + pkg + "/*_test.go")
	treetest.Must(t, err)
	var code strings.Builder
	for _, f := range files {
		code.WriteString(read(t, strings.TrimPrefix(filepath.ToSlash(f), top)))
	}
	return code.String()
}

// TestManualShowsTheRobotsFile compares the blocks of the robots.txt that the
// manual shows with the file itself.
func TestManualShowsTheRobotsFile(t *testing.T) {
	snap, err := site.Load(top + "content")
	treetest.Must(t, err)
	everybody, _, _ := strings.Cut(string(snap.Robots), "\n\n")
	const page = "content/manual/annotations.txt"
	text := strings.ReplaceAll(read(t, page), "\n    ", "\n")
	if !strings.Contains(text, everybody) {
		t.Errorf("%s does not show the group for everybody:\n%s", page, everybody)
	}
}

// maxWidth is the width of the texts of the example gopherhole, in bytes: what the
// client of UMN shows of a menu in 80 columns.
const maxWidth = 67

func TestContentIsPlainAndNarrow(t *testing.T) {
	root := os.DirFS(top + "content")
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, name)
		if err != nil || menu.Sniff(data[:min(len(data), 512)]) != menu.TypeText {
			return err
		}
		for i, line := range strings.Split(string(data), "\n") {
			shown := line
			if path.Base(name) == "gophermap" {
				shown, _, _ = strings.Cut(line, "\t") // what follows is no text
			}
			if len(shown) > maxWidth {
				t.Errorf("%s:%d: %d bytes wide", name, i+1, len(shown))
			}
			if strings.ContainsFunc(line, func(r rune) bool { return r > '~' }) {
				t.Errorf("%s:%d: not ASCII", name, i+1)
			}
		}
		return nil
	})
	treetest.Must(t, err)
}

func TestContentMenusAreWhole(t *testing.T) {
	root := os.DirFS(top + "content")
	b := menu.Builder{FS: root, Host: "localhost", Port: 70}
	err := fs.WalkDir(root, ".", func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		m, err := b.Menu(context.Background(), dir)
		for _, p := range m.Problems {
			t.Errorf("%v", p)
		}
		for _, it := range m.Items {
			name := strings.Trim(it.Selector, "/")
			if it.Type == menu.TypeInfo || name == "" || name == "robots.txt" ||
				path.Base(name) == "feed.xml" || strings.HasPrefix(name, "URL:") {
				continue
			}
			if _, err := fs.Stat(root, name); err != nil {
				t.Errorf("the menu of %s leads nowhere: %v", dir, err)
			}
		}
		return err
	})
	treetest.Must(t, err)
}
