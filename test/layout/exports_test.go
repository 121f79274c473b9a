package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"
)

// forUsers are exported names of package server that the language or an interface uses
// by no name, or that only a type of a used field has.
var forUsers = map[string]string{
	"Error": "error", "Unwrap": "errors.Is", "Read": "net.Conn", "Write": "io.Writer", "Close": "net.Conn", "ReadFrom": "io.ReaderFrom",
	"SetDeadline": "net.Conn", "SetReadDeadline": "net.Conn", "SetWriteDeadline": "net.Conn", "Quick": "what handlers implement", "Refuser": "Counts.Refusers", "ReadyFile": "Answer.File",
}

// TestServerExportsWhatIsUsed: each name that package server exports is used outside of
// it; examples count, tests do not.
func TestServerExportsWhatIsUsed(t *testing.T) {
	exported, used := map[string]string{}, map[string]bool{}
	walk(t, func(name string) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "server/internal/") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), "../../"+name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if path.Dir(name) == "server" {
			for _, id := range exportedIn(file) {
				exported[id.Name] = name
			}
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				used[n.Sel.Name] = true
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok {
					used[key.Name] = true
				}
			case *ast.FuncDecl:
				used[n.Name.Name] = used[n.Name.Name] || n.Recv != nil // it implements an interface of server
			}
			return true
		})
	})
	if len(exported) < 60 {
		t.Errorf("only %d names were found", len(exported))
	}
	for name, file := range exported {
		if !used[name] && forUsers[name] == "" {
			t.Errorf("%s: no other package uses %s", file, name)
		}
	}
}

// exportedIn returns the names that a file exports: of constants, variables, types, their
// fields and methods, and functions. Methods of types that are not exported are left out.
func exportedIn(file *ast.File) (all []*ast.Ident) {
	ast.FileExports(file)
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type)) {
				all = append(all, d.Name)
			}
		case *ast.GenDecl:
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.TypeSpec:
					all = append(all, n.Name)
				case *ast.ValueSpec:
					all = append(all, n.Names...)
					return false
				case *ast.Field:
					all = append(all, n.Names...)
					_, isFunc := n.Type.(*ast.FuncType)
					return !isFunc // parameters have names, too
				case *ast.FuncType:
					return false
				}
				return true
			})
		}
	}
	return all
}

func receiver(typ ast.Expr) string {
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	return typ.(*ast.Ident).Name
}
