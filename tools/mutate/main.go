// Mutate changes one thing at a time in the files of some packages and runs their
// tests: a change that no test notices is a missing test.
//
//	go build -C tools -o /tmp/mutate ./mutate
//	/tmp/mutate -n 60 ./policy ./policy/internal/proof -- -skip '^TestShare$' -- -run '^TestShare$' -rapid.checks=8
//
// Of several lists of arguments for go test the next is for mutants that live. With
// -faults FILE it makes the changes of a JSON list instead, from the root of the tree:
// old becomes new in file. Then all of them must be killed.
// Files are exchanged by an overlay: nothing in the tree is written. It prints
// the seed of the choice, what becomes of each mutant, with the count so far, and at
// the end how many were killed; exit status 1 if fewer than nine of ten were. A
// mutant that does not compile is not counted; one whose tests do not end in
// -timeout counts as killed.
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
	"slices"
	"strings"
	"syscall"
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
	token.EQL: "!=", token.NEQ: "==", token.LSS: "<=", token.LEQ: "<", token.GTR: ">=",
	token.GEQ:  ">",
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
				add(n.Pos(), len(n.Name),
					map[string]string{"true": "false", "false": "true"}[n.Name])
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

// overlay writes the mutant and the list that puts it in the place of its file.
func (m mutant) overlay(dir string) (list string, err error) {
	text, err := os.ReadFile(m.file)
	if err != nil {
		return "", err
	}
	changed := filepath.Join(dir, "mutant.go")
	if err := os.WriteFile(changed, []byte(string(text[:m.start])+m.text+string(text[m.end:])),
		0o600); err != nil {
		return "", err
	}
	path, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	data, err := json.Marshal(map[string]any{"Replace": map[string]string{path: changed}})
	if err != nil {
		return "", err
	}
	list = filepath.Join(dir, "overlay.json")
	return list, os.WriteFile(list, data, 0o600)
}

// outcome is what the tests make of a mutant.
type outcome int

const (
	lives outcome = iota
	killed
	endless      // the tests did not end in time
	notCompiling // it is no program
)

func (o outcome) String() string {
	return [...]string{"lives", "killed", "does not end", "does not compile"}[o]
}

// try runs the tests with the mutant.
func (m mutant) try(dir string, limit time.Duration, args []string) (outcome, error) {
	list, err := m.overlay(dir)
	if err != nil {
		return lives, err
	}
	ctx, stop := context.WithTimeout(context.Background(), limit)
	defer stop()
	cmd := exec.CommandContext(ctx, "go",
		append([]string{"test", "-overlay", list, "-vet", "off", "-failfast"}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the tests end with go
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.CombinedOutput()
	switch {
	case strings.Contains(string(out), "[build failed]"):
		return notCompiling, nil
	case ctx.Err() != nil:
		return endless, nil
	case err != nil:
		return killed, nil
	}
	return lives, nil
}

// choose lists the mutants of all files of some packages, in a random order.
func choose(packages []string, seed uint64) ([]mutant, error) {
	var list []mutant
	for _, pkg := range packages {
		files, err := filepath.Glob(filepath.Join(pkg, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			more, err := mutants(f)
			if err != nil {
				return nil, err
			}
			list = append(list, more...)
		}
	}
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(list), func(i, j int) {
		list[i], list[j] = list[j], list[i]
	})
	return list, nil
}

// given lists the changes of a file. What a change replaces must stand in its file once.
func given(name string) (list []mutant, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var faults []struct{ Why, File, Old, New string }
	if err := json.Unmarshal(text, &faults); err != nil {
		return nil, err
	}
	for _, f := range faults {
		text, err := os.ReadFile(f.File)
		if err != nil {
			return nil, err
		}
		if n := strings.Count(string(text), f.Old); n != 1 {
			return nil, fmt.Errorf("%s: %q stands there %d times", f.File, f.Old, n)
		}
		at := strings.Index(string(text), f.Old)
		line := 1 + strings.Count(string(text[:at]), "\n")
		list = append(list, mutant{f.File, at, at + len(f.Old),
			token.Position{Filename: f.File, Line: line}, f.New})
	}
	return list, nil
}

// split takes arguments apart at each "--".
func split(args []string) [][]string {
	i := slices.Index(args, "--")
	if i < 0 {
		return [][]string{args}
	}
	return append([][]string{args[:i]}, split(args[i+1:])...)
}

func run() (dead, all int, err error) {
	n := flag.Int("n", 60, "how many mutants")
	seed := flag.Uint64("seed", rand.Uint64(), "of the choice; if none is given, another each time")
	limit := flag.Duration("timeout", 3*time.Minute, "for the tests of one mutant")
	faults := flag.String("faults", "", "a list of changes to make in place of random ones")
	flag.Parse()
	lists := split(flag.Args())
	packages, tests := lists[0], lists[1:]
	if len(tests) == 0 {
		tests = [][]string{nil}
	}
	var list []mutant
	if *faults != "" {
		list, err = given(*faults)
		*n = len(list)
	} else {
		list, err = choose(packages, *seed)
	}
	if err != nil {
		return 0, 0, err
	}
	fmt.Printf("%d of %d mutants, seed %d\n", *n, len(list), *seed)
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for _, m := range list {
		if all == *n {
			break
		}
		got := lives
		for _, args := range tests {
			if got == lives && err == nil {
				got, err = m.try(dir, *limit, append(slices.Clone(packages), args...))
			}
		}
		if err != nil {
			return dead, all, err
		}
		if got != notCompiling || *faults != "" {
			all++
		}
		if got == killed || got == endless {
			dead++
		}
		fmt.Printf("%d of %d: %s: %s: %q\n", dead, all, got, m.place, m.text)
	}
	return dead, all, nil
}

func main() {
	dead, all, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(3)
	}
	fmt.Printf("%d of %d killed\n", dead, all)
	if dead*10 < all*9 || flag.Lookup("faults").Value.String() != "" && dead < all {
		os.Exit(1)
	}
}
