//go:build linux

// Command bench measures gophd end to end, on loopback, beside the smallest
// server that Go's net package makes and beside Debian's gophernicus and
// pygopherd where they are installed. It prints a table in Markdown.
//
//	go run ./test/bench [-rounds N] [-time D] bin/gophd
//	go run ./test/bench -mix 60s bin/gophd
//	go run ./test/bench -large 100000 bin/gophd
//	go run ./test/bench -edits 5000 bin/gophd
//	go run ./test/bench -ways bin/gophd
//	go run ./test/bench -nodes 10000 bin/gophd
//	go run ./test/bench -policies
//
// Each round loads all servers in turn. The table compares the CPU time that a server
// uses for a request: requests per second depend on the load generator, which shares
// the machine. -mix loads gophd alone with 256 connections of everything at once, then
// again while 10,000 directories are read again. -large makes a tree of so many
// directories, with ten times as many files, and measures a start and changes on it.
// -edits measures how long an edit takes to the wire on a host of so many users, 50 of
// whom edit at once. -ways compares the cost of a menu from the cache on each way to it:
// plain, with a query, behind a proxy, over TLS. -nodes measures the cost of a request
// and of a change on one, two and four nodes behind haproxy, on the same tree as -large.
// -policies compiles and proves the policies of sites at the bounds, without a server.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 3, "rounds; the median counts")
	span := flag.Duration("time", time.Second, "of one measurement")
	mix := flag.Duration("mix", 0, "load gophd alone with a mix for so long")
	large := flag.Int("large", 0, "measure a tree of so many directories")
	edits := flag.Int("edits", 0, "measure edits on a host of so many users")
	ways := flag.Bool("ways", false, "compare the ways to a menu from the cache")
	nodes := flag.Int("nodes", 0, "measure nodes behind haproxy on a tree of so many directories")
	policies := flag.Bool("policies", false, "measure the policies of sites at the bounds")
	site := flag.Int("policy", 0, "measure the policy of this one of them")
	bare := flag.String("bare", "", "be the bare server on this address")
	inetd := flag.String("inetd", "", "be an inetd on this address for the rest of the arguments")
	flag.Parse()
	var err error
	switch {
	case *policies:
		err = runPolicies()
	case 0 < *site && *site <= len(policySites):
		runPolicy(policySites[*site-1])
	case *bare != "":
		err = serveBare(*bare)
	case *inetd != "":
		err = serveInetd(*inetd, flag.Args())
	case flag.NArg() != 1:
		fmt.Fprintln(os.Stderr, "bench: name the gophd binary")
		os.Exit(2)
	case *mix > 0:
		err = runMix(flag.Arg(0), *mix)
	case *large > 0:
		err = runLarge(flag.Arg(0), *large)
	case *edits > 0:
		err = runEdits(flag.Arg(0), *edits)
	case *nodes > 0:
		err = runNodes(flag.Arg(0), *nodes, *span)
	case *ways:
		err = runWays(flag.Arg(0), *rounds, *span)
	default:
		err = compare(flag.Arg(0), *rounds, *span)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// compare loads all servers with all scenarios.
func compare(gophd string, rounds int, span time.Duration) error {
	dir, err := os.MkdirTemp("", "gophd-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	tree := filepath.Join(dir, "tree")
	if err := os.Chmod(dir, 0o755); err != nil { // some servers drop root
		return err
	}
	if err := makeTree(tree); err != nil {
		return fmt.Errorf("making the tree: %w", err)
	}
	servers, err := startAll(gophd, tree, dir)
	for _, s := range servers {
		defer s.stop()
	}
	if err != nil {
		return err
	}
	fmt.Printf("%d cores, %s, %d rounds of %s\n", runtime.NumCPU(), runtime.Version(), rounds, span)
	for _, sc := range scenarios() {
		results := map[string][]measured{}
		for round := range rounds {
			for i := range servers {
				s := servers[(i+round)%len(servers)]
				if !sc.skips(s.name) {
					results[s.name] = append(results[s.name], measure(s, sc, span))
				}
			}
		}
		printTable(sc, servers, results)
	}
	return nil
}
