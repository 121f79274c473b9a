package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/test/e2e/harness"
)

// reply returns the reply of a node, or an error.
func reply(addr, selector string) string {
	reply, err := harness.Ask(addr, selector)
	if err != nil {
		return "error: " + err.Error()
	}
	return reply
}

const clusterDir = "../../examples/cluster"

// cluster is examples/cluster, running.
type cluster struct {
	t     *testing.T
	dir   string // of the nodes a and b
	addrs []string
	env   []string
}

// startCluster runs the script that brings it up, until the test ends.
func startCluster(t *testing.T, tree string) *cluster {
	t.Helper()
	path := os.Getenv("PATH")
	for _, program := range []string{"haproxy", "rsync", "git"} {
		path += ":" + filepath.Dir(harness.Tool(t, program))
	}
	c := &cluster{t: t, dir: t.TempDir(), addrs: harness.FreeAddrs(t, 3)}
	c.env = append(os.Environ(), "PATH="+path, "GOPHD="+harness.Program(t), "LISTEN="+c.addrs[0],
		"A="+c.addrs[1], "B="+c.addrs[2])
	cmd := exec.Command(filepath.Join(clusterDir, "up"), tree, c.dir)
	cmd.Env, cmd.Stderr = c.env, os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	said := make(chan bool, 1)
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "serving ") {
				said <- true
			}
		}
		said <- false
	}()
	select {
	case serves := <-said:
		if !serves {
			t.Fatal("the cluster does not come up")
		}
	case <-time.After(2 * harness.Timeout):
		t.Fatal("the cluster is not up")
	}
	return c
}

// run runs one of its scripts and returns what it prints.
func (c *cluster) run(name string, args ...string) string {
	c.t.Helper()
	cmd := exec.Command(filepath.Join(clusterDir, name), args...)
	cmd.Env = c.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Errorf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// release writes a version of the tree: what robots.txt denies tells which it is,
// and so does every text.
func release(t *testing.T, tree string, version int) {
	t.Helper()
	put := func(name, text string) { write(t, filepath.Join(tree, name), text) }
	put(".robots", fmt.Sprintf("Disallow: /only-%d/\n", version))
	put("version.txt", fmt.Sprintln(version))
	for i := range 100 { // a scan takes as long as it does on a real tree
		put(fmt.Sprintf("%d/.robots", i), "Disallow: /text.txt\n")
		put(fmt.Sprintf("%d/text.txt", i), fmt.Sprintln(version))
	}
}

// reading is a client of the cluster who looks whether robots.txt is that of the
// texts.
type reading struct{ requests, pairs atomic.Int64 }

var deniedVersion = regexp.MustCompile(`(?m)^Disallow: /only-(\d+)/$`)

// watch asks for a text, robots.txt and a text, again and again. Texts of the same
// version have a robots.txt of that version between them.
func (r *reading) watch(ctx context.Context, t *testing.T, from, addr string) {
	ask := func(selector string) string {
		got, err := harness.ExchangeAtTheEnd(from, addr, selector)
		if err != nil || len(got) == 0 {
			t.Errorf("%s is lost: %q, %v", selector, got, err)
		}
		r.requests.Add(1)
		return string(got)
	}
	text := func(selector string) int {
		got := ask(selector)
		version, err := strconv.Atoi(strings.TrimSpace(got))
		if err != nil {
			t.Errorf("%s: %q", selector, got)
		}
		return version
	}
	for i := 0; ctx.Err() == nil && !t.Failed(); i++ {
		before := text("/version.txt")
		robots := ask("robots.txt")
		after := text(fmt.Sprintf("/%d/text.txt", i%100))
		var denied []string
		for _, found := range deniedVersion.FindAllStringSubmatch(robots, -1) {
			denied = append(denied, found[1])
		}
		if slices.Sort(denied); before == after &&
			!slices.Equal(slices.Compact(denied), []string{strconv.Itoa(before)}) {
			t.Errorf("beside texts of version %d robots.txt denies those of %q", before, denied)
		}
		if before > after {
			t.Errorf("version %d came after %d", after, before)
		}
		r.pairs.Add(1)
	}
}

// TestCluster deploys by rsync and by git to the two nodes of examples/cluster
// under load, then takes a node away.
func TestCluster(t *testing.T) {
	tree := t.TempDir()
	release(t, tree, 0)
	c := startCluster(t, tree)
	repository := t.TempDir()
	run(t, repository, "git", "init", "-q")

	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var r reading
	for i := range 4 { // haproxy chooses the node by the client's address
		all.Go(func() { r.watch(ctx, t, fmt.Sprintf("127.0.0.%d", 10+i), c.addrs[0]) })
	}
	a, b := filepath.Join(c.dir, "a"), filepath.Join(c.dir, "b")
	current := func(version int) func() bool {
		return func() bool {
			return reply(c.addrs[1], "/version.txt") == fmt.Sprintln(version) &&
				reply(c.addrs[2], "/version.txt") == fmt.Sprintln(version)
		}
	}
	const versions = 8
	for version := 1; version <= versions; version++ {
		from := r.pairs.Load()
		if version%2 == 1 {
			release(t, tree, version)
			c.run("deploy", "rsync", tree, a, b)
		} else {
			release(t, repository, version)
			run(t, repository, "git", "add", "-A")
			run(t, repository, "git", "-c", "user.name=x", "-c", "user.email=x@example.org",
				"commit", "-qm", "x")
			c.run("deploy", "git", repository, "HEAD", a, b)
		}
		until(t, fmt.Sprintf("both nodes have version %d", version), current(version))
		until(t, "somebody looks", func() bool { return t.Failed() || r.pairs.Load() > from+10 })
	}
	left, err := os.ReadDir(filepath.Join(a, "releases"))
	if must(t, err); len(left) != 5 {
		t.Errorf("%d releases are left, want 5", len(left))
	}
	want, err := exec.Command(harness.Program(t), "robots", "show", "-hash", "-root",
		filepath.Join(b, "current")).Output()
	must(t, err)
	want, _, _ = bytes.Cut(want, []byte(" "))
	if got := c.run("compare", c.addrs[1], c.addrs[2]); strings.Count(got, string(want)) != 2 {
		t.Errorf("the nodes say %q, want %s", got, want)
	}

	pid, err := os.ReadFile(a + ".pid")
	must(t, err)
	number, err := strconv.Atoi(strings.TrimSpace(string(pid)))
	must(t, err)
	from := r.pairs.Load()
	must(t, syscall.Kill(number, syscall.SIGTERM))
	until(t, "node a is gone", func() bool {
		return strings.HasPrefix(reply(c.addrs[1], ""), "error: ")
	})
	until(t, "the others go on", func() bool { return t.Failed() || r.pairs.Load() > from+50 })
	stop()
	all.Wait()
	t.Logf("%d requests, %d looks at robots.txt, none lost or wrong", r.requests.Load(),
		r.pairs.Load())
}
