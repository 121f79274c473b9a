//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	mixConns    = 256
	reloadDirs  = 10_000
	reloadEvery = 2 * time.Second
)

// runMix loads gophd with everything at once: first alone, then while
// directories are read again without pause.
func runMix(gophd string, span time.Duration) error {
	dir, err := os.MkdirTemp("", "gophd-mix-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := makeTree(dir); err != nil {
		return err
	}
	for i := range reloadDirs {
		if err := os.MkdirAll(filepath.Join(dir, fmt.Sprintf("many/d%05d", i)), 0o755); err != nil {
			return err
		}
	}
	s, err := start("gophd", func(port string) []string { return gophdArgs(gophd, dir, port) })
	if err != nil {
		return err
	}
	defer s.stop()
	mix := mixture()
	load(s.addr, mix, time.Second, mixConns)
	printMix("at rest", load(s.addr, mix, span, mixConns))
	done := make(chan struct{})
	go touchAll(dir, done)
	r := load(s.addr, mix, span, mixConns)
	close(done)
	printMix(fmt.Sprintf("while %d directories are read again every %s", reloadDirs, reloadEvery), r)
	return nil
}

// mixture is everything at once; in a hundred requests one is for 1 MiB.
func mixture() scenario {
	m := scenario{name: "mix", least: 3}
	for i := range 100 {
		switch {
		case i == 50:
			m.selectors = append(m.selectors, "/big.bin")
		case i%10 == 0:
			m.selectors = append(m.selectors, "/menu")
		case i%10 == 1:
			m.selectors = append(m.selectors, "/list100")
		case i%10 == 2:
			m.selectors = append(m.selectors, fmt.Sprintf("/missing/%d", i))
		case i%10 == 3:
			m.selectors = append(m.selectors, "robots.txt")
		default:
			m.selectors = append(m.selectors, holeName(i*7%holeFiles))
		}
	}
	return m
}

// touchAll makes a name in every directory, and takes it away the next time.
func touchAll(dir string, done <-chan struct{}) {
	for present := false; ; present = !present {
		for i := range reloadDirs {
			name := filepath.Join(dir, fmt.Sprintf("many/d%05d/x", i))
			if present {
				_ = os.Remove(name)
			} else {
				_ = os.WriteFile(name, nil, 0o644)
			}
		}
		select {
		case <-done:
			return
		case <-time.After(reloadEvery):
		}
	}
}

func printMix(what string, r measured) {
	fmt.Printf("%s: %d requests, %d failed, median %s, p99 %s, p99.9 %s (%.1f times the median)\n", what, r.requests, r.failed,
		r.quantile(0.5).Round(time.Microsecond), r.quantile(0.99).Round(time.Microsecond), r.quantile(0.999).Round(time.Microsecond),
		float64(r.quantile(0.999))/float64(max(r.quantile(0.5), 1)))
	if r.firstError != nil {
		fmt.Println("first failure:", r.firstError)
	}
}
