//go:build linux

// Command bench measures gophd on loopback. It prints tables in Markdown.
//
//	go run ./test/bench -large 100000 bin/gophd
//	go run ./test/bench -edits 5000 bin/gophd
//	go run ./test/bench -policies
//
// -large makes a tree of so many directories, with ten times as many files, and measures a
// start and changes on it.
// -edits measures how long an edit takes to the wire on a host of so many users, 50 of
// whom edit at once.
// -policies compiles and proves the policies of sites at the bounds, without a server.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	large := flag.Int("large", 0, "measure a tree of so many directories")
	edits := flag.Int("edits", 0, "measure edits on a host of so many users")
	policies := flag.Bool("policies", false, "measure the policies of sites at the bounds")
	site := flag.Int("policy", 0, "measure the policy of this one of them")
	flag.Parse()
	switch {
	case *policies:
		runPolicies()
	case 0 < *site && *site <= len(policySites):
		runPolicy(policySites[*site-1])
	case flag.NArg() != 1:
		fmt.Fprintln(os.Stderr, "bench: name the gophd binary")
		os.Exit(2)
	case *large > 0:
		runLarge(flag.Arg(0), *large)
	case *edits > 0:
		runEdits(flag.Arg(0), *edits)
	default:
		fmt.Fprintln(os.Stderr, "bench: name what to measure")
		os.Exit(2)
	}
}

// must ends the measurement with an error, after what was deferred.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// write writes a file, and makes the directories that it is in.
func write(name string, text []byte) {
	must(os.MkdirAll(filepath.Dir(name), 0o755))
	must(os.WriteFile(name, text, 0o644))
}
