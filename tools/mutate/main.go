// Mutate changes one thing at a time in the files of a package and runs its tests:
// a change that no test notices is a missing test.
//
//	go build -C tools -o /tmp/mutate ./mutate && /tmp/mutate -n 60 ./policy -rapid.checks=100
//
// Files are exchanged by an overlay: nothing in the tree is written. It prints
// the mutants that live, and how many were killed; exit status 1 if fewer than
// nine of ten were. A mutant that does not compile is not counted.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// mutant is a change: the bytes from start to end become text.
type mutant struct {
	file       string
	start, end int
	place      token.Position
	text       string
}

var swaps = map[token.Token]string{
	token.EQL: "!=", token.NEQ: "==", token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
	token.LAND: "||", token.LOR: "&&", token.ADD: "-", token.SUB: "+",
}

// mutants lists what can be changed in a file.
func mutants(name string) ([]mutant, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, nil, 0)
	if err != nil {
		return nil, err
	}
	var list []mutant
	add := func(pos token.Pos, length int, text string) {
		p := set.Position(pos)
		list = append(list, mutant{name, p.Offset, p.Offset + length, p, text})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl: // constants and tables are data
			return n.Tok == token.VAR || n.Tok == token.TYPE
		case *ast.BinaryExpr:
			if s := swaps[n.Op]; s != "" {
				add(n.OpPos, len(n.Op.String()), s)
			}
		case *ast.UnaryExpr:
			if n.Op == token.NOT {
				add(n.OpPos, 1, "")
			}
		case *ast.Ident:
			if n.Name == "true" || n.Name == "false" {
				add(n.Pos(), len(n.Name), map[string]string{"true": "false", "false": "true"}[n.Name])
			}
		case *ast.BranchStmt:
			if n.Tok == token.CONTINUE {
				add(n.Pos(), len("continue"), "break")
			}
		}
		return true
	})
	return list, nil
}

// killed runs the tests with the mutant. ok is false if it does not compile.
func (m mutant) killed(dir, pkg string, args []string) (dead, ok bool, err error) {
	text, err := os.ReadFile(m.file)
	if err != nil {
		return false, false, err
	}
	changed := filepath.Join(dir, "mutant.go")
	if err := os.WriteFile(changed, []byte(string(text[:m.start])+m.text+string(text[m.end:])), 0o600); err != nil {
		return false, false, err
	}
	path, err := filepath.Abs(m.file)
	if err != nil {
		return false, false, err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: changed}})
	if err != nil {
		return false, false, err
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return false, false, err
	}
	ctx, stop := context.WithTimeout(context.Background(), 3*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-overlay", list, "-vet", "off", "-failfast", pkg}, args...)...)
	out, err := cmd.CombinedOutput()
	return err != nil, !strings.Contains(string(out), "[build failed]"), nil
}

func run() (killed, all int, err error) {
	n := flag.Int("n", 60, "how many mutants")
	seed := flag.Uint64("seed", 1, "of the choice")
	flag.Parse()
	pkg := flag.Arg(0)
	files, err := filepath.Glob(filepath.Join(pkg, "*.go"))
	if err != nil {
		return 0, 0, err
	}
	var list []mutant
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		more, err := mutants(f)
		if err != nil {
			return 0, 0, err
		}
		list = append(list, more...)
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for _, i := range rand.New(rand.NewPCG(*seed, 0)).Perm(len(list)) {
		if all == *n {
			break
		}
		dead, ok, err := list[i].killed(dir, pkg, flag.Args()[1:])
		if err != nil {
			return killed, all, err
		}
		switch {
		case !ok:
		case dead:
			killed, all = killed+1, all+1
		default:
			all++
			fmt.Printf("lives: %s: %q\n", list[i].place, list[i].text)
		}
	}
	return killed, all, nil
}

func main() {
	killed, all, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(3)
	}
	fmt.Printf("%d of %d killed\n", killed, all)
	if killed*10 < all*9 {
		os.Exit(1)
	}
}
