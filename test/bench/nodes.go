//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// runNodes measures the cost of a request and of a changed annotation on one, two and
// four nodes behind haproxy, each with the same tree.
func runNodes(gophd string, dirs int, span time.Duration) error {
	dir, err := os.MkdirTemp("", "gophd-nodes-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	tree := filepath.Join(dir, "tree")
	if err := os.Mkdir(tree, 0o755); err != nil {
		return err
	}
	if err := makeLarge(tree, dirs); err != nil {
		return err
	}
	fmt.Printf("%d directories, %d files\n\n| nodes | CPU of all nodes for a request | of haproxy | CPU of all nodes for a changed annotation |\n| --: | --: | --: | --: |\n",
		dirs, dirs*largeFiles)
	for _, n := range []int{1, 2, 4} {
		if err := measureNodes(gophd, tree, n, dirs, span); err != nil {
			return err
		}
	}
	return nil
}

func measureNodes(gophd, tree string, n, dirs int, span time.Duration) error {
	var all []*server
	var conf strings.Builder
	conf.WriteString("defaults\n mode tcp\n timeout connect 5s\n timeout client 20s\n timeout server 20s\nlisten x\n balance roundrobin\n")
	for i := range n {
		s, err := start(func(port string) []string {
			return append(largeArgs(gophd, tree, port), "-trust-proxy", "127.0.0.0/8")
		})
		if err != nil {
			return err
		}
		defer s.stop()
		if _, err := fetch(s.addr, "robots.txt"); err != nil { // which is there after the scan
			return err
		}
		all = append(all, s)
		fmt.Fprintf(&conf, " server s%d %s send-proxy-v2\n", i, s.addr)
	}
	name := filepath.Join(filepath.Dir(tree), "haproxy.cfg")
	var wrote error
	balancer, err := start(func(port string) []string {
		wrote = os.WriteFile(name, []byte(conf.String()+" bind 127.0.0.1:"+port+"\n"), 0o600)
		return []string{"haproxy", "-q", "-db", "-f", name}
	})
	if err != nil {
		return fmt.Errorf("haproxy: %w", errors.Join(wrote, err))
	}
	defer balancer.stop()
	spent := func() (sum time.Duration) {
		for _, s := range all {
			sum += s.running()
		}
		return sum
	}
	const conns = 16
	selectors := []string{"/hot.txt"}
	for i := range 1000 {
		name := strings.TrimPrefix(largeDir(tree, i*dirs/1000), tree)
		selectors = append(selectors, name+"/text-1.txt")
	}
	_, _ = load(balancer.addr, selectors, span, conns) // warm
	before, its := spent(), balancer.running()
	requests, err := load(balancer.addr, selectors, span, conns)
	time.Sleep(20 * time.Millisecond)
	request, proxy := spent()-before, balancer.running()-its
	if err != nil {
		return err
	}
	change, err := reloadCost(all, tree, spent)
	if err != nil {
		return err
	}
	fmt.Printf("| %d | %.1f µs | %.1f µs | %.1f ms |\n", n, float64((request/time.Duration(requests)).Nanoseconds())/1000, float64((proxy/time.Duration(requests)).Nanoseconds())/1000, float64(change.Microseconds())/1000)
	return nil
}

// reloadCost returns the mean CPU time, over five changes, that all servers use from a
// changed annotation until each of them shows it in robots.txt.
func reloadCost(all []*server, tree string, spent func() time.Duration) (time.Duration, error) {
	const changes = 5
	before := spent()
	for i := range changes {
		rule := fmt.Sprintf("/changed-%d-%d", len(all), i)
		if err := os.WriteFile(filepath.Join(largeDir(tree, 3), ".robots"), []byte("Disallow: "+rule+"\n"), 0o644); err != nil {
			return 0, err
		}
		for _, s := range all {
			for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
				body, err := fetch(s.addr, "robots.txt")
				if err != nil {
					return 0, err
				}
				if time.Now().After(end) {
					return 0, fmt.Errorf("%s does not show the change after a minute", s.addr)
				}
				if strings.Contains(body, rule+"\n") {
					break
				}
			}
		}
		time.Sleep(100 * time.Millisecond) // what comes after it
	}
	return (spent() - before) / changes, nil
}
