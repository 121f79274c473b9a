package site

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/internal/treetest"
)

// TestScopes: a reply is stale once something in its scope has changed, and one that is made
// of it, too.
func TestScopes(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/x": "x"})
	s := Start(t, dir, Config{})
	for of := range scopes {
		for changed := range scopes {
			v := s.View(t.Context())
			v.scope = of
			of2 := s.View(t.Context())
			of2.DependOn(v.Stamp())
			stamp, made := v.Stamp(), of2.Stamp()
			s.serve(func(now *served) { now.changed(changed) })
			if want := of < changed; stamp.Fresh() != want || made.Fresh() != want ||
				stamp.Outdated() == want {
				t.Errorf("of %d, when %d changes: %v %v", of, changed, stamp.Fresh(), made.Fresh())
			}
			late := s.View(t.Context())
			if late.DependOn(stamp); of >= changed && late.Stamp() != nil {
				t.Errorf("of %d, after %d: made of what is stale", of, changed)
			}
		}
	}
	v := s.View(t.Context())
	if v.DependOn(nil); v.Stamp() != nil {
		t.Error("a stamp for what nobody can vouch for")
	}
}

// TestEventIsLookedAt: after any event each reply is looked at once more, however short ago
// that was; one of very many files a second later.
func TestEventIsLookedAt(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"x": "x", "other/y": "y"})
	Aged(t, dir, Config{}, func(t *testing.T, s *Site) {
		v := s.View(t.Context())
		_, err := v.ReadFile("x")
		must(t, err)
		small := v.Stamp()
		for range maxLooks {
			v.add(v.seen[0])
		}
		large := v.Stamp()
		write(t, dir, map[string]string{"x": "xx"})
		if !small.Fresh() || !large.Fresh() {
			t.Error("not trusted for a second")
		}
		s.events.Add(1)
		if small.Fresh() || small.Look(t.Context()) || !large.Fresh() {
			t.Error("after an event")
		}
	})
}

// A listing that shows an annotation which the policy does not know, or lacks one that it
// knows, is news, though no event and no round has found it yet.
func TestAnnotationOfWhatIsAskedFor(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a/b/x": "x", "c/x": "x", "known/.robots": "Disallow: /y\n",
		"known/y": "y", "gone/.robots": "Disallow: /z\n"})
	s := Start(t, dir, Config{Watch: WatchOff})
	write(t, dir, map[string]string{"a/b/.robots": "Disallow: /x\n", "c/y": "y"})
	must(t, os.Remove(filepath.Join(dir, "gone/.robots")))
	for _, row := range []struct {
		name         string
		exists, news bool
	}{{"a", false, false}, {"a/b", true, true}, {"c", false, false}, {"known", true, false},
		{"gone", false, true}} {
		if got := s.View(t.Context()).isNews(row.name, row.exists); got != row.news {
			t.Errorf("%s is news: %v", row.name, got)
		}
	}
}

// A reply without what does not answer is kept for a second, and so is what is made from
// it, so that not each request asks again. Events do not end that second.
func TestWhatIsLeftOutIsAskedForAgain(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"slow/x": "x", "d/x": "x"})
	Aged(t, dir, Config{FileTimeout: 100 * time.Millisecond}, func(t *testing.T, s *Site) {
		answers := make(chan struct{})
		defer close(answers)
		seam(s, func(name string) error {
			if name == "slow/x" {
				<-answers
			}
			return nil
		})
		v := s.View(t.Context())
		if _, err := v.Stat("slow/x"); !errors.Is(err, stall.Err) {
			t.Fatal(err)
		}
		made := s.View(t.Context())
		made.DependOn(v.Stamp())
		s.events.Add(1)
		for name, stamp := range map[string]*Stamp{"without": v.Stamp(),
			"made from it": made.Stamp()} {
			if !stamp.Fresh() {
				t.Errorf("%s: not trusted for a second, whatever happens", name)
			}
		}
		time.Sleep(time.Second)
		for name, stamp := range map[string]*Stamp{"without": v.Stamp(),
			"made from it": made.Stamp()} {
			if stamp.Fresh() || stamp.Look(t.Context()) {
				t.Errorf("%s: trusted again", name)
			}
		}
	})
}

// A user whose tree holds nothing but copies from /etc/skel is not listed.
func TestUsersWithSkelAlone(t *testing.T) {
	homes := t.TempDir()
	must(t, os.Chmod(homes, 0o755))
	write(t, homes, map[string]string{"ann/g/index.txt": "hello\n",
		"bob/g/index.txt":  "hello, it is me\n",
		"cleo/g/index.txt": "hello\n", "cleo/g/own.txt": "", "dora/g/other.txt": "hello\n",
		"eve/g/index.txt": "hello\n", "eve/g/d/x": "",
		"fay/g/index.txt": "hello\n"})
	conf := Config{Users: homes + "/*/g", UsersMinUID: os.Geteuid()}
	if conf.UsersMinUID == 0 { // root owns no home that is served
		conf.UsersMinUID = 2001
		must(t, filepath.Walk(homes, func(name string, _ os.FileInfo, _ error) error {
			return os.Lchown(name, 2001, 2001)
		}))
	}
	s, err := Open(t.TempDir(), conf)
	must(t, err)
	s.users.skel = map[string][]byte{"index.txt": []byte("hello\n")}
	s.served.Load().root.Trees["~fay"].Fault = func(name string) error {
		if name == "index.txt" { // it cannot be read, and may be another
			return syscall.EIO
		}
		return nil
	}
	Running(t, s)
	for range 20 { // in any order
		var got []string
		for _, u := range s.View(t.Context()).Users() {
			got = append(got, u.Name)
		}
		if slices.Sort(got); !slices.Equal(got, []string{"bob", "cleo", "dora", "eve", "fay"}) {
			t.Errorf("those with a tree of their own: %q", got)
		}
	}
}

// TestForeignBesideHanging: files of others in a user's tree are not listed while a name beside
// them hangs, and that name is left out.
func TestForeignBesideHanging(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
	homes := t.TempDir()
	must(t, os.Chmod(homes, 0o755))
	write(t, homes, map[string]string{"ann/g/foreign": "", "ann/g/hung": "", "ann/g/own": ""})
	for name, uid := range map[string]int{"": 2001, "/g": 2001, "/g/foreign": 2002, "/g/hung": 2001,
		"/g/own": 2001} {
		must(t, os.Chown(homes+"/ann"+name, uid, uid))
	}
	s := Start(t, t.TempDir(), Config{Users: homes + "/*/g", FileTimeout: 100 * time.Millisecond})
	op, err := s.guard.Enter("~ann/hung")
	must(t, err)
	defer op.Leave()
	if !treetest.Eventually(func() bool {
		probe, err := s.guard.Enter("~ann/hung")
		probe.Leave()
		return err != nil
	}) {
		t.Fatal("it does not hang")
	}
	list, err := s.View(t.Context()).ReadDir("~ann")
	must(t, err)
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	if slices.Sort(names); !slices.Equal(names, []string{"own"}) {
		t.Errorf("listed: %q", names)
	}
}
