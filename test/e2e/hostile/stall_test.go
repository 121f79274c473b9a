//go:build linux

package hostile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/process/keypair"
	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/test/e2e/harness"
)

const busyReply = "3Server busy\t\terror.host\t1\r\n.\r\n"

// diskFiles are what lies on the disk that does not answer.
func diskFiles() map[string][]byte {
	return map[string][]byte{
		"x.txt": []byte("on the disk\n"), "large.bin": large[:8<<20],
		"sub/y.txt": []byte("below\n"),
		"bad.txt":   make([]byte, 32<<10), "bad.bin": make([]byte, 8<<20),
	}
}

// A part of the tree is on a file system that stops answering. A client that asks
// for it is told so in the end; nobody else waits, not for files, menus, the status,
// a new policy; and when it answers again all is as before.
func TestStalledMount(t *testing.T) {
	root := tree(t)
	d := mountDisk(t, filepath.Join(root, "mnt"), diskFiles())
	g := harness.Start(t, "-root", root, "-status", "127.0.0.0/8", "-request-timeout", "1h",
		"-stall-timeout", "3s", "-metrics", "127.0.0.1:0")
	g.Until("the disk is served", func() bool { return g.Ask("/mnt/x.txt") == "on the disk\n" })
	g.Until("the policy is there", func() bool { return g.Ask("robots.txt") != "" })
	page := url(g.WaitLog("/metrics"))
	goroutines := func() int { return number(t, page, "go_goroutines") }
	release := d.stall()
	defer release()
	stuck := askAll(g.Addr, "/mnt/x.txt", "/mnt/sub/y.txt", "/mnt/large.bin", "/mnt/",
		"/mnt/nothing")
	others := startOthers(t, g.Addr)
	if got := g.Ask("/server-status"); !strings.Contains(got, "gophd ") {
		t.Errorf("the status is %q", got)
	}
	treetest.Write(t, root, map[string]string{".robots": "Disallow: /a.txt\n"})
	g.Until("a new annotation is heeded", func() bool {
		return strings.Contains(g.Ask("robots.txt"), "Disallow: /a.txt")
	})
	for sel, got := range stuck() {
		if got != busyReply {
			t.Errorf("%s got %.100q", sel, got)
		}
	}
	g.Until("one goroutine is left of each request", func() bool { return goroutines() <= 100+60 })
	g.WaitLog("does not answer")
	g.Until("what does not answer is denied", func() bool {
		return strings.Contains(g.Ask("robots.txt"), "Disallow: /mnt")
	})
	if got := g.Ask("/mnt/x.txt"); got != busyReply {
		t.Errorf("later it is answered with %q", got)
	}
	others.stop()
	release()
	g.Until("the disk is served again", func() bool {
		return g.Ask("/mnt/x.txt") == "on the disk\n"
	})
	g.Until("the policy is as before", func() bool {
		return !strings.Contains(g.Ask("robots.txt"), "Disallow: /mnt")
	})
	g.Until("nobody is left", func() bool { return goroutines() < 40 })
}

// Disks stop answering below the root, as a mount, as the directory of a user, as the
// root of another host, and where certificates and the access log lie; gophd is no root. All else is
// served and followed as before, search too, and SIGTERM ends it.
func TestStalledTrees(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can mount")
	}
	base := tree(t)
	must(t, os.Chmod(filepath.Dir(base), 0o755))
	at := func(name string) string { return filepath.Join(base, name) }
	treetest.Write(t, base, map[string]string{"root/a.txt": "alpha\n",
		"root/dir/sub/b.txt": "beta\n", "root/lead": "-> mnt/x.txt",
		"home/ann/public/x.txt": "ann's\n", "home/.later/public/x.txt": "new\n"})
	for _, home := range []string{"ann", ".later", "mal"} {
		for _, dir := range []string{home, home + "/public"} {
			_ = os.Mkdir(at("home/"+dir), 0o755)
			must(t, os.Chown(at("home/"+dir), 12345, 12345))
		}
		_ = os.Chown(at("home/"+home+"/public/x.txt"), 12345, 12345)
	}
	pair, err := keypair.SelfSigned(at("pair"), "one.example")
	must(t, err)
	cert, errCert := os.ReadFile(pair.Cert)
	key, errKey := os.ReadFile(pair.Key)
	must(t, errors.Join(errCert, errKey))
	disks := []*disk{mountDisk(t, at("root/mnt"), diskFiles()),
		mountDisk(t, at("mirror"), diskFiles()),
		mountDiskOf(t, 12345, at("home/mal/public"), diskFiles()),
		mountDisk(t, at("two"), diskFiles()),
		mountDisk(t, at("tls"), map[string][]byte{"cert": cert, "key": key}),
		mountDiskOf(t, 65534, at("log"), map[string][]byte{"access.log": {}})}
	second := harness.FreeAddrs(t, 1)[0]
	g := harness.Start(t, "-root", at("root"), "-user", "nobody", "-users", at("home")+"/*/public",
		"-mount", "pub="+at("mirror"), "-vhost", "two.example="+at("two"),
		"-listen", second+"=two.example", "-tls-cert", at("tls/cert"), "-tls-key", at("tls/key"),
		"-search", "-sitemap", "-access-log", at("log/access.log"), "-stall-timeout", "8s",
		"-drain", "1s",
		"-request-timeout", "1h", "-metrics", "127.0.0.1:0")
	page := url(g.WaitLog("/metrics"))
	behind := []string{"/mnt/x.txt", "/pub/x.txt", "/~mal/x.txt", "/lead"}
	for _, sel := range behind {
		g.Until(sel+" is served", func() bool { return g.Ask(sel) == "on the disk\n" })
	}
	g.Until("the other host is served", func() bool {
		got, _ := harness.Ask(second, "/x.txt")
		return got == "on the disk\n"
	})
	found := func(word string) bool { return strings.Contains(g.Ask("/search\t"+word), "1 result") }
	g.Until("the index is there", func() bool { return found("beta") })
	g.Ask("/")
	var releases []func()
	for _, d := range disks {
		releases = append(releases, d.stall())
	}
	release := sync.OnceFunc(func() {
		for _, release := range releases {
			release()
		}
	})
	defer release()
	time.Sleep(2 * time.Second) // the root's menu, which is kept, is looked at again
	if menu := g.Ask("/"); !strings.Contains(menu, "/a.txt") {
		t.Errorf("the root's menu becomes %q", menu)
	}
	askAll(g.Addr, behind...)
	askAll(second, "/x.txt", "/sub/", "/nothing")
	others := startOthers(t, g.Addr)
	for _, sel := range behind {
		g.Until(sel+" is not served any more", func() bool { return g.Ask(sel) == busyReply })
	}
	if got, err := harness.Exchange("127.0.0.1", g.Addr, "/a.txt",
		harness.AnyCert("")); string(got) != "alpha\n" {
		t.Errorf("over TLS: %q, %v", got, err)
	}
	for i := range 3 { // again and again, since what hangs is met in the rounds between
		text := fmt.Sprintf("word%dword\n", i)
		treetest.Write(t, base, map[string]string{"root/.robots": fmt.Sprintf("Disallow: /%d.txt\n",
			i), "home/ann/public/.robots": fmt.Sprintf("Disallow: /%d\n", i),
			"root/dir/sub/b.txt": text, fmt.Sprintf("root/dir/new%d/c.txt", i): text})
		_ = os.Chown(at("home/ann/public/.robots"), 12345, 12345)
		g.Until("annotations are heeded", func() bool {
			robots := g.Ask("robots.txt")
			return strings.Contains(robots, fmt.Sprintf("Disallow: /%d.txt", i)) &&
				strings.Contains(robots, fmt.Sprintf("Disallow: /~ann/%d", i))
		})
		g.Until("the index follows", func() bool {
			return strings.Contains(g.Ask("/search\t"+strings.TrimSpace(text)), "2 results")
		})
		if menu := g.Ask("/"); !strings.Contains(menu, "/a.txt") ||
			!strings.Contains(menu, "/mnt/") || !strings.Contains(menu, "/pub/") {
			t.Errorf("the root's menu is %q", menu)
		}
		for _, sel := range []string{"/dir/", "/~ann/", fmt.Sprintf("/dir/new%d/", i)} {
			if got := g.Ask(sel); strings.HasPrefix(got, "3") {
				t.Errorf("%s: %q", sel, got)
			}
		}
	}
	must(t, os.Rename(at("home/.later"), at("home/bob")))
	g.Until("a new user is served", func() bool { return g.Ask("/~bob/x.txt") == "new\n" })
	g.Until("what does not answer is denied", func() bool {
		robots := g.Ask("robots.txt")
		return strings.Contains(robots, "Disallow: /mnt") &&
			strings.Contains(robots, "Disallow: /pub") &&
			strings.Contains(robots, "Disallow: /~mal")
	})
	g.Until("the sitemap is of the rest", func() bool {
		return strings.Contains(g.Ask("/sitemap.txt"), "/a.txt\n")
	})
	others.stop()
	release()
	g.Until("it is served again", func() bool {
		return g.Ask("/mnt/x.txt") == "on the disk\n" && g.Ask("/~mal/x.txt") == "on the disk\n"
	})
	g.Until("nobody is left", func() bool { return number(t, page, "go_goroutines") < 60 })
	for _, d := range disks {
		defer d.stall()()
	}
	askAll(g.Addr, behind...)
	g.Signal(syscall.SIGTERM)
	g.WaitLog(`"stopped"`)
}

// askAll asks for each selector twenty times, from different addresses. The
// returned function waits for the replies, and gives one that is not what the others
// are, if there is one.
func askAll(addr string, selectors ...string) func() map[string]string {
	var mu sync.Mutex
	var all sync.WaitGroup
	replies := map[string]string{}
	for i := range 20 * len(selectors) {
		all.Go(func() {
			sel := selectors[i%len(selectors)]
			got, err := harness.Exchange(fmt.Sprintf("127.4.0.%d", 1+i%10), addr, sel, nil)
			if err != nil {
				got = append(got, err.Error()...)
			}
			mu.Lock()
			defer mu.Unlock()
			if replies[sel] == "" || string(got) != busyReply {
				replies[sel] = string(got)
			}
		})
	}
	return func() map[string]string { all.Wait(); return replies }
}

// number returns one of the numbers of the process, which are at url.
func number(t *testing.T, url, name string) int {
	t.Helper()
	res, err := client.Get(url)
	must(t, err)
	defer func() { _ = res.Body.Close() }()
	page, err := io.ReadAll(res.Body)
	must(t, err)
	return gauge(page, name)
}

// The whole root is on a file system that stops answering: what is in memory is
// still answered, connections are accepted, and SIGTERM ends the process.
func TestStalledRoot(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	d := mountDisk(t, root, diskFiles())
	g := harness.Start(t, "-root", root, "-status", "127.0.0.0/8", "-request-timeout", "1h",
		"-stall-timeout", "2s", "-drain", "1s", "-metrics", "127.0.0.1:0")
	page := url(g.WaitLog("/metrics"))
	accepted := func() int { return number(t, page, "gophd_accepted_connections_total") }
	g.Until("it is served", func() bool { return g.Ask("/x.txt") == "on the disk\n" })
	robots := g.Ask("robots.txt")
	release := d.stall()
	defer release()
	g.Signal(syscall.SIGHUP)
	stuck := askAll(g.Addr, "/x.txt", "/", "/large.bin", "/nothing")
	for range 20 {
		if got := g.Ask("robots.txt"); got != robots {
			t.Errorf("robots.txt is %q", got)
		}
		if got := g.Ask("/server-status"); !strings.Contains(got, "gophd ") {
			t.Errorf("the status is %q", got)
		}
	}
	for sel, got := range stuck() {
		if got != busyReply {
			t.Errorf("%s got %.100q", sel, got)
		}
	}
	release()
	g.Until("it is served again", func() bool {
		return g.Ask("/x.txt") == "on the disk\n" && g.Ask("robots.txt") == robots
	})
	release = d.stall()
	defer release()
	before := accepted()
	stuck = askAll(g.Addr, "/x.txt")
	g.Until("some wait for the disk", func() bool { return accepted() > before })
	g.Signal(syscall.SIGTERM)
	g.WaitLog(`"stopped"`) // what the kernel has asked such a disk it waits for, even if the process is killed
	release()
	stuck()
}

// startOnDisk starts gophd on a tree with a disk in it.
func startOnDisk(t *testing.T, stall string) (*disk, *harness.Daemon) {
	root := tree(t)
	d := mountDisk(t, filepath.Join(root, "mnt"), diskFiles())
	g := harness.Start(t, "-root", root, "-request-timeout", "1h", "-stall-timeout", stall,
		"-tls-self-signed", filepath.Join(t.TempDir(), "tls"))
	g.Until("the disk is served", func() bool { return g.Ask("/mnt/x.txt") == "on the disk\n" })
	return d, g
}

// hasOpen reports whether gophd has a large file open.
func hasOpen(g *harness.Daemon) bool {
	_, files := descriptors(g)
	return slices.ContainsFunc(files, func(name string) bool {
		return strings.HasSuffix(name, ".bin")
	})
}

// An error in the middle of a large file, that the kernel sends: the client can tell
// that this was not all, the log says why, and no descriptor is left.
func TestDiskFailsWhileSending(t *testing.T) {
	_, g := startOnDisk(t, "1h")
	for range 5 {
		got, err := harness.Exchange("127.0.0.1", g.Addr, "/mnt/bad.bin", nil)
		if len(got) == 0 || len(got) > 4<<20 || !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("got %d bytes, %v", len(got), err)
		}
		if got, err := harness.Exchange("127.0.0.1", g.Addr, "/mnt/bad.bin",
			harness.AnyCert("")); len(got) > 4<<20 || err == nil {
			t.Errorf("over TLS: %d bytes, %v", len(got), err)
		}
		if got := g.Ask("/mnt/bad.txt"); got != "3Server error\t\terror.host\t1\r\n.\r\n" {
			t.Errorf("got %.100q", got)
		}
	}
	if line := g.WaitLog(`"selector":"/mnt/bad.bin"`); !strings.Contains(line,
		"input/output error") || !strings.Contains(line, "WARN") {
		t.Errorf("the log says %s", line)
	}
	g.Until("no descriptor is left", func() bool { return !hasOpen(g) })
}

// The same of a disk that does not answer any more.
func TestDiskStallsWhileSending(t *testing.T) {
	d, g := startOnDisk(t, "1s")
	c, err := (&net.Dialer{Control: smallBuffer}).Dial("tcp", g.Addr)
	must(t, err)
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(10 * harness.Timeout))
	if _, err := io.WriteString(c, "/mnt/large.bin\r\n"); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 1)
	_, _ = io.ReadFull(c, first)
	release := d.stall()
	defer release()
	rest, err := io.ReadAll(c)
	got := append(first, rest...)
	busy := string(got) == busyReply // the disk took a second for the beginning
	if !busy && (len(got) >= 8<<20 || !bytes.HasPrefix(large, got) ||
		!errors.Is(err, syscall.ECONNRESET)) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	g.WaitLog("does not answer")
	release()
	g.Until("no descriptor is left", func() bool { return !hasOpen(g) })
}
