package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gophd/gophd/test/e2e/harness"
)

// One tree on two machines with Debian's GlusterFS, replica 2. The machines are
// namespaces: each has a network, /run, /var, /etc and /usr of its own, the last
// three with the unpacked packages laid over them. All of it lies in namespaces of
// the test, which end with it, so that nothing of this machine is changed.
//
//	test ── bridge 10.77.0.254 ──┬── 10.77.0.1: glusterd, brick, mount, gophd
//	                             └── 10.77.0.2: the same

// glusterNode makes a machine of a process: $1 is its directory, $2 that of the
// packages, empty if they are installed.
const glusterNode = `set -e
mkdir -p "$1" && mount -t tmpfs tmpfs "$1" && mount -t tmpfs tmpfs /run
mkdir "$1/brick" /run/web
if [ "$2" ]; then mount -t overlay overlay -o "lowerdir=$2/usr:/usr" /usr; fi
for dir in etc var; do
	mkdir "$1/$dir" "$1/$dir.work"
	mount -t overlay overlay -o "lowerdir=${2:+$2/$dir:}/$dir,upperdir=$1/$dir,workdir=$1/$dir.work" "/$dir"
done
mkdir -p /var/log/glusterfs /var/lib/glusterd /run/gluster
ip link set lo up
echo ready && exec sleep 3600
`

// glusterd is one of the machines.
type glusterd struct {
	t   *testing.T
	n   int
	dir string
	pid string // of the process that holds the namespaces
	*harness.Daemon
}

// do runs a program on the machine and returns what it prints.
func (g *glusterd) do(name string, args ...string) string {
	g.t.Helper()
	return bounded(g.t, "nsenter", append([]string{"-t", g.pid, "-m", "-n", name}, args...)...)
}

// put writes a file of the tree, by its own name at last.
func (g *glusterd) put(name, text string) {
	g.t.Helper()
	g.do("sh", "-c", `cd /run/web && mkdir -p "$(dirname "$1")" && printf %s "$2" >"$1.new" && mv "$1.new" "$1"`, "sh", name, text)
}

// bounded runs a program for a minute at most.
func bounded(t *testing.T, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = time.Second // a daemon may have kept the output
	out, err := cmd.CombinedOutput()
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// TestGlusterFS takes a brick, then a machine away, and nothing wrong is served.
func TestGlusterFS(t *testing.T) {
	if packages, inside := os.LookupEnv("TEST_GOPHD_GLUSTER"); inside {
		twoMachines(t, packages)
		return
	}
	harness.Slow(t, "make gluster")
	if os.Geteuid() != 0 {
		t.Skip("only root has namespaces and bricks")
	}
	packages := filepath.Join(filepath.Dir(harness.Tool(t, "glusterd")), "..", "glusterfs-server")
	if _, err := os.Stat(filepath.Join(packages, "usr/sbin/glusterd")); err != nil {
		packages = "" // installed
	}
	if _, err := os.Stat("/dev/fuse"); err != nil {
		t.Skip("no FUSE here: ", err)
	}
	unshare := []string{"-m", "-n", "-p", "--fork", "--kill-child", "--mount-proc"}
	try := append(unshare, "sh", "-c",
		"ip link add br0 type bridge && mkdir -p $0/l $0/u $0/w && mount -t tmpfs x $0/l && mount -t overlay x -o lowerdir=$0/l:/etc $0/u", t.TempDir())
	if out, err := exec.Command("unshare", try...).CombinedOutput(); err != nil {
		t.Skipf("no namespaces, bridge or overlay here: %v %s", err, out)
	}
	cmd := exec.Command("unshare", append(unshare, "sh", "-c", `"$@"; exit $?`, "init", // which waits for what others leave behind
		os.Args[0], "-test.run", "^TestGlusterFS$", "-test.v", "-test.timeout", "6m")...)
	cmd.Env = append(os.Environ(), "TEST_GOPHD_GLUSTER="+packages,
		"TEST_GOPHD_BIN="+harness.Program(t))
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	must(t, err)
}

func twoMachines(t *testing.T, packages string) {
	bounded(t, "sh", "-c", "ip link set lo up && ip link add br0 type bridge && ip addr add 10.77.0.254/24 dev br0 && ip link set br0 up")
	one, two := newGlusterd(t, 1, packages), newGlusterd(t, 2, packages)
	gluster := func(args ...string) string {
		return one.do("gluster", append([]string{"--mode=script"}, args...)...)
	}
	gluster("peer", "probe", "10.77.0.2")
	until(t, "the machines know each other", func() bool {
		return strings.Contains(gluster("peer", "status"), "(Connected)")
	})
	gluster("volume", "create", "web", "replica", "2", "10.77.0.1:"+one.dir+"/brick",
		"10.77.0.2:"+two.dir+"/brick", "force")
	gluster("volume", "set", "web", "network.ping-timeout", "3", "cluster.heal-timeout", "5",
		"cluster.favorite-child-policy", "mtime") // two replicas may blame each other after a cut
	gluster("volume", "start", "web")
	for _, g := range []*glusterd{one, two} {
		until(t, "the bricks are there", func() bool {
			return !strings.Contains(gluster("volume", "status", "web"), " N  ")
		})
		g.do("glusterfs", fmt.Sprintf("--volfile-server=10.77.0.%d", g.n),
			"--volfile-id=web", "/run/web")
		until(t, "it is mounted", func() bool {
			return strings.Contains(g.do("cat", "/proc/self/mountinfo"), " /run/web ")
		})
	}
	one.put("private/.robots", "Disallow: /\n")
	one.put("private/x.txt", "x\n")
	version := 100
	change := func(by *glusterd) {
		version++
		by.put("version.txt", fmt.Sprintln(version))
		by.put("v/.robots", fmt.Sprintf("Disallow: /%d/\n", version))
	}
	change(one)
	for _, g := range []*glusterd{one, two} {
		g.Daemon = harness.StartCmd(t,
			exec.Command("nsenter", "-t", g.pid, "-m", "-n", harness.Program(t),
				"-root", "/run/web",
				"-listen", fmt.Sprintf("10.77.0.%d:7070", g.n), "-host", "gopher.example",
				"-poll-remote", "500ms"))
	}
	follows := func(g *glusterd) {
		t.Helper()
		var text, robots string
		for end := time.Now().Add(2 * harness.Timeout); text != fmt.Sprintln(version) ||
			!strings.Contains(robots,
				fmt.Sprintf("Disallow: /v/%d/\n", version)); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("machine %d serves %q and %q, want version %d; its mount has:\n%s", g.n,
					text, robots, version,
					g.do("sh", "-c", "cd /run/web && ls -la --full-time . v && cat version.txt v/.robots"))
			}
			text, robots = reply(g.Addr, "/version.txt"), reply(g.Addr, "robots.txt")
		}
	}
	follows(one)
	follows(two)
	change(two)
	follows(one)
	follows(two)
	if a, b := one.Ask("caps.txt"), two.Ask("caps.txt"); a != b ||
		!strings.Contains(a, "RobotsPolicySHA256=") {
		t.Errorf("the machines differ: %s %s", a, b)
	}

	var all sync.WaitGroup
	defer all.Wait()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var looks [2]atomic.Int64
	for i, g := range []*glusterd{one, two} {
		all.Go(func() { g.watch(ctx, &looks[i]) })
	}

	t.Log("the brick of machine 2 is taken away")
	two.do("sh", "-c", "kill -9 $(cat /run/gluster/vols/web/*.pid)")
	change(one)
	follows(one)
	follows(two)
	gluster("volume", "start", "web", "force")
	healed(t, gluster)
	change(two)
	follows(one)
	follows(two)

	t.Log("machine 2 is cut off")
	bounded(t, "ip", "link", "set", "v2", "down")
	change(one)
	follows(one)
	from := looks[0].Load()
	until(t, "machine 1 goes on", func() bool { return looks[0].Load() > from+20 })
	bounded(t, "ip", "link", "set", "v2", "up")
	follows(two)
	healed(t, gluster)
	change(two)
	follows(one)
	follows(two)
	stop()
	all.Wait()
	t.Logf("%d and %d looks, none wrong", looks[0].Load(), looks[1].Load())
}

func newGlusterd(t *testing.T, n int, packages string) *glusterd {
	t.Helper()
	g := &glusterd{t: t, n: n, dir: filepath.Join(t.TempDir(), "node")}
	cmd := exec.Command("unshare", "-m", "-n", "sh", "-c", glusterNode, "sh", g.dir, packages)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if said, err := out.Read(make([]byte, 6)); err != nil || said != 6 {
		t.Fatalf("machine %d: %v", n, err)
	}
	g.pid = strconv.Itoa(cmd.Process.Pid)
	bounded(t, "ip", "link", "add", fmt.Sprint("v", n), "type", "veth", "peer", "name", "eth0",
		"netns", g.pid)
	bounded(t, "ip", "link", "set", fmt.Sprint("v", n), "master", "br0", "up")
	g.do("sh", "-c", fmt.Sprintf("ip addr add 10.77.0.%d/24 dev eth0 && ip link set eth0 up && glusterd", n))
	return g
}

// healed waits until both bricks are there and hold the same.
func healed(t *testing.T, gluster func(...string) string) {
	t.Helper()
	for end := time.Now().Add(2 * harness.Timeout); ; time.Sleep(time.Second) {
		info := gluster("volume", "heal", "web", "info")
		if strings.Count(info, "Number of entries: 0\n") == 2 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the bricks do not hold the same:\n%s", info)
		}
	}
}

// watch asks one machine again and again. Whatever is away, it never serves an
// older version after a newer one, and robots.txt always denies what it has to. A
// file may be late or, for a moment, not to be had; it is never another one.
func (g *glusterd) watch(ctx context.Context, looks *atomic.Int64) {
	newest := 0
	for ; ctx.Err() == nil; looks.Add(1) {
		text, err := harness.Exchange("", g.Addr, "/version.txt", nil)
		if err == nil && !strings.HasPrefix(string(text), "3") {
			version, err := strconv.Atoi(strings.TrimSpace(string(text)))
			if err != nil || version < newest {
				g.t.Errorf("machine %d serves %q after version %d", g.n, text, newest)
			}
			newest = version
		} else if err == nil && !strings.HasPrefix(string(text), "3Server busy") &&
			!strings.HasPrefix(string(text), "3Server error") {
			g.t.Errorf("machine %d says %q", g.n, text)
		}
		robots, err := harness.Exchange("", g.Addr, "robots.txt", nil)
		if err == nil && !strings.Contains(string(robots), "Disallow: /private/\n") {
			g.t.Errorf("machine %d allows what is denied: %q", g.n, robots)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
