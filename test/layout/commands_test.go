package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	// tools are the programs that hints name, in front of an argument.
	tools = regexp.MustCompile(`(?:^|[^\w./-])(?:mv|cp|rm|chmod|chown|chgrp|mkdir|touch|setcap|setfacl|sysctl|systemctl|journalctl|rc-service|printf|certbot|unset|sudo|sed +-|kill +-) +[-+\w/'"$%.\[]`)
	// filled is a command of gophd that is to be followed by a name.
	filled = regexp.MustCompile(`\bgophd (?:-[a-z-]+|check|doctor|get|init|manual|robots|wire)\b(?:[^;:]*%[qsv]|[^;:]* $)|\bgophd (?:\./)?$`)
)

// TestOneFunctionPrintsCommands: a command for a person to type holds names that others
// chose. Everything but diag.Command leaves the quoting to its author.
func TestOneFunctionPrintsCommands(t *testing.T) {
	walk(t, func(name string) {
		dir, _, _ := strings.Cut(name, "/")
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || inOtherModule(path.Dir(name)) || dir == "test" || dir == "packaging" || name == "diag/command.go" {
			return
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, "../../"+name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			if found := tools.FindString(text) + filled.FindString(text); found != "" {
				t.Errorf("%s: %q is a command: diag.Command prints those", files.Position(lit.Pos()), found)
			}
			return true
		})
	})
}
