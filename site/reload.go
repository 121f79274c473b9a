package site

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/limit"
	"github.com/gophd/gophd/internal/stall"
	"github.com/gophd/gophd/internal/watch"
	"github.com/gophd/gophd/policy"
)

// startDelay is how long Run waits before the first scan. Scanning a million files occupies a
// processor for seconds, and the first requests should not have to wait for it.
const startDelay = time.Second

// Run reads the tree, then watches it and makes a new Snapshot after every change, until ctx
// ends. It begins after a second, or at the first call of Snapshot.
func (s *Site) Run(ctx context.Context) error {
	if s.watcher == nil {
		if err := s.reload(watch.Batch{All: true}); s.Now() == nil {
			return err
		}
		<-ctx.Done()
		s.guard.Stop()
		return nil
	}
	select {
	case <-ctx.Done():
		return nil
	case <-s.wanted:
	case <-time.After(startDelay):
	}
	ended := make(chan error, 1)
	go func() { ended <- s.watcher.Run(ctx) }()
	following := make(chan struct{})
	go func() { s.followTrees(ctx); close(following) }()
	defer func() { <-following }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	s.guard.Stop()
	select {
	case err := <-ended:
		return err
	case <-time.After(lastWait):
		s.log.Error("stopped while the content tree was still being read")
		return nil
	}
}

// tidyAfter is how long after the last change freed memory is returned to the system. A few
// changes of a large tree leave as much garbage as the tree takes.
const tidyAfter = 5 * time.Second

// lastWait is how long Run waits at the end for a file system that does not respond.
const lastWait = 2 * time.Second

// Reload makes Run read everything again. It does not wait.
func (s *Site) Reload() {
	if s.watcher != nil {
		s.watcher.Reread()
	}
}

// changed makes a new Snapshot. If it fails, the old one stays.
func (s *Site) changed(b watch.Batch) (err error) {
	start := time.Now()
	fresh := s.served.Load().root
	if b.All && s.watcher != nil {
		fresh, err = s.reopen()
	}
	tree, scan, readErr := s.read(b, fresh)
	if readErr != nil {
		s.fails("cannot read the content tree", readErr)
		return errors.Join(err, fmt.Errorf("reading the content tree: %w", readErr))
	}
	s.scan = scan
	err = errors.Join(err, s.publish(tree, fresh, start, b))
	if s.tidy != nil {
		s.tidy.Stop()
	}
	if s.tidy = time.AfterFunc(tidyAfter, debug.FreeOSMemory); b.All {
		debug.FreeOSMemory() // a full scan leaves as much garbage as the tree takes
	}
	return err
}

// reopen opens the root again by its name, since an open directory keeps following the old
// directory after a rename. The old root is served until the new one can be opened and has a
// policy.
func (s *Site) reopen() (*disk.Root, error) {
	_ = s.isOtherRoot() // what comes after this is another one
	r, err := disk.Guarded(s.guard).OpenRoot(s.dir)
	old := s.served.Load().root
	switch {
	case err != nil:
		s.fails("cannot open the content tree", err, "hint", lostHint(err))
		return old, err
	case old.Main.Is(r.Main.Info):
		r.Main.Close()
		return old, nil
	}
	r.Main.Fault = old.Main.Fault
	return r.With(old.Trees), nil
}

// fails logs why there is no new Snapshot, unless the site is stopping.
func (s *Site) fails(msg string, err error, more ...any) {
	if !errors.Is(err, stall.ErrStopped) {
		s.log.Error(msg, append([]any{"root", s.dir, "error", err}, more...)...)
	}
}

// lostHint returns a hint about a root that cannot be opened.
func lostHint(err error) string {
	const meanwhile = "the old one is served until it is back"
	if errors.Is(err, fs.ErrPermission) {
		return meanwhile + "; the sandbox shows gophd only the directory that was the root at the start: restart gophd, and to exchange the root while it serves make it a link (current -> releases/7) or use -sandbox-parent"
	}
	return meanwhile
}

// read reads the directories of a batch, or with All the root's own tree; the watcher reports the
// directories of the other trees later. The first time and without a watcher it reads all trees.
func (s *Site) read(b watch.Batch, from *disk.Root) (*Dir, *scanner, error) {
	old := s.served.Load()
	again := s.scan != nil && !b.All && old.root.Main == from.Main

	// A directory that does not respond at once keeps its record and is read again soon, so that
	// changes elsewhere do not wait for it. After many attempts it may be slow without hanging.
	for left := 0; ; left++ {
		patience := stall.Hurried
		if again && s.slow < oftenSlow && left < oftenSlow {
			patience = stall.Brief
		}
		scan := newScanner(from, s.conf, &s.scanned)
		if s.capsules != nil {
			scan.capsules = newScanner(from, s.conf, &s.scanned)
			scan.capsules.of = ofGemini
		}
		if s.scan != nil && s.conf.Watch != WatchOff {
			scan.reuse(s.scan, old.snap.Tree, again)
		}
		tree, err := stall.Try(s.guard, patience, func(a *stall.Attempt) (*Dir, error) {
			scan.attempt = a
			scan.readHomes(from, b.Dirs)
			if again {
				return scan.rescan(old.snap.Tree, b.Dirs, b.Files), scan.failed
			}
			return scan.tree()
		})
		if errors.Is(err, stall.ErrLeft) {
			continue // the attempt may still use scan
		}
		if s.slow++; !scan.kept {
			s.slow = 0
		}
		return tree, scan, err
	}
}

// oftenSlow is the number of reloads, and of attempts in one, after which one waits for slow
// directories.
const oftenSlow = 8

// publish publishes what a scan has found, and compiles the policy unless it is the same. It
// returns an error if robots.txt could not be proven.
func (s *Site) publish(tree *Dir, of *disk.Root, start time.Time, b watch.Batch) error {
	old := s.Now()
	next := s.scan.recorded(tree, cmp.Or(old, &Snapshot{}))
	same := old != nil && !b.All && next.alike(old)
	if same {
		next.judgeAs(old)
	} else {
		next.compile(s.conf, s.scan)
	}
	next.capsules = next.asGemini()
	s.exchange(next, of)
	if same {
		s.reportPrograms(next)
		return next.leak
	}
	if next.leak != nil {
		s.log.Error("robots.txt is not proven: all is denied to robots until one is",
			"error", next.leak)
	}
	if old == nil {
		close(s.ready)
	}
	s.told(next, old, start, b)
	return next.leak
}

// judgeAs takes over the policy of an older Snapshot.
func (s *Snapshot) judgeAs(old *Snapshot) {
	s.Compiled = old.Compiled
	s.Reports = old.Reports
	s.Robots = old.Robots
	s.robotsAs = old.robotsAs
	s.leak = old.leak
	s.shows = old.shows
	if s.homes != nil {
		s.homes.judgeAs(old.homes)
	}
}

// exchange publishes a Snapshot and the root that it was made from, and invalidates cached
// replies in the same step, so that no text of an old root is served with a new robots.txt.
func (s *Site) exchange(next *Snapshot, of *disk.Root) {
	s.serve(func(now *served) {
		old := cmp.Or(now.snap, &Snapshot{})
		other := now.root.Main != of.Main
		switch {
		case other, !bytes.Equal(old.Robots, next.Robots), !old.sameNames(next),
			!old.samePrograms(next): // a cached reply may contain the source of one
			now.changed(ofRules)
		case old.Compiled != next.Compiled:
			now.changed(ofTree)
		default:
			now.changed(ofUsers)
		}
		if other {
			now.root = of.With(now.root.Trees) // the old root closes when no request uses it any more
		}
		now.snap = next
	})
}

// recorded returns a Snapshot with the records of the scan, without a policy.
func (s *scanner) recorded(tree *Dir, old *Snapshot) *Snapshot {
	next := &Snapshot{
		Tree:     tree,
		aliases:  s.aliases,
		refused:  s.refused,
		included: s.included(old),
		programs: s.foundPrograms(),
		menus:    s.menus(),
		shown:    s.shown(),
		changed:  s.changed,
	}
	if s.capsules != nil {
		next.homes = s.capsules.recorded(s.homes, cmp.Or(old.homes, &Snapshot{}))
	}
	return next
}

// alike reports whether two Snapshots have the same policy.
func (s *Snapshot) alike(old *Snapshot) bool {
	return s == old || s.Tree.allAlike(old.Tree) && slices.Equal(old.menus, s.menus) &&
		slices.Equal(old.shown, s.shown) && old.sameNames(s) && s.homes.alike(old.homes)
}

// sameNames reports whether the same links are followed to the same names.
func (s *Snapshot) sameNames(o *Snapshot) bool {
	return s == o || s != nil && maps.Equal(s.aliases, o.aliases) &&
		maps.Equal(s.refused, o.refused) && s.homes.sameNames(o.homes)
}

// samePrograms reports whether the same files count as programs.
func (s *Snapshot) samePrograms(o *Snapshot) bool {
	return s == o || s != nil && maps.Equal(s.included, o.included) &&
		s.homes.samePrograms(o.homes)
}

// compile compiles the policy of a Snapshot. If robots.txt cannot be proven, the Snapshot
// denies everything, since the old file was made for another tree.
func (s *Snapshot) compile(conf Config, scan *scanner) {
	menus, aliases := s.menus, scan.input()
	if s.homes != nil {
		menus, aliases = slices.Concat(menus, s.homes.menus),
			append(aliases, scan.capsules.input()...)
		aliases = slices.Compact(slices.SortedFunc(slices.Values(aliases),
			func(a, b policy.Alias) int {
				return strings.Compare(a.Selector+"\n"+a.Target, b.Selector+"\n"+b.Target)
			}))
	}
	flags := map[string]string{}
	for _, p := range conf.Endless {
		flags[p] = "-search"
	}
	for _, p := range menus {
		flags[p] = "-fastcgi menus"
	}
	sources := policy.Input{
		Flags:       flags,
		Annotations: s.Tree.annotationsWith(scan.homes),
		Programs:    slices.Concat(conf.Programs, conf.Endless, menus),
		Aliases:     aliases,
		Sitemaps:    conf.Sitemaps,
	}
	s.Compiled = policy.Compile(sources)
	s.Robots = s.Compiled.File()
	reports := slices.Concat(s.Compiled.Reports(), s.about(scan))
	if s.homes != nil {
		s.homes.Compiled = s.Compiled
		reports = append(reports, s.homes.about(scan.capsules)...)
	}
	s.Reports = reports
	slices.SortStableFunc(s.Reports, func(a, b policy.Report) int {
		return diag.Compare(a.Diagnostic, b.Diagnostic)
	})
	s.proven(s.Compiled.Unproven())

	// Replace the URLs of sitemaps for the other names of the site.
	s.robotsAs = map[string][]byte{}
	for name, urls := range conf.SitemapsAs {
		file := s.Robots
		for i, url := range urls {
			file = bytes.ReplaceAll(file, []byte("Sitemap: "+conf.Sitemaps[i]+"\n"),
				[]byte("Sitemap: "+url+"\n"))
		}
		s.robotsAs[name] = file
	}
}

// RobotsAs returns robots.txt for a client that uses this name of the site.
func (s *Snapshot) RobotsAs(name string) []byte {
	if file, ok := s.robotsAs[name]; ok {
		return file
	}
	return s.Robots
}

// proven denies everything if the proof has found leaks that no report names.
func (s *Snapshot) proven(leaks []policy.Leak) {
	if len(leaks) > 0 {
		s.leak = fmt.Errorf("%s: %v",
			diag.Count(len(leaks), "unnamed leak", "unnamed leaks, the first"), leaks[0])
		s.Robots = policy.DenyAll()
	}
}

// about returns the reports about names in the tree.
func (s *Snapshot) about(scan *scanner) []policy.Report {
	return slices.Concat(strays(s.Tree), s.shownElsewhere(), s.escaped(scan))
}

// told logs a reload, and the problems that it has found.
func (s *Site) told(next, old *Snapshot, start time.Time, b watch.Batch) {
	dirs := len(b.Dirs)
	if b.All {
		for range next.Tree.All() {
			dirs++
		}
	}
	what := diag.EventReloaded
	if old == nil {
		what = diag.EventScanned
	}
	var reports []diag.Diagnostic // errors and warnings
	for _, r := range next.Reports {
		if r.Severity != diag.Notice {
			reports = append(reports, r.Diagnostic)
		}
	}
	notices := len(next.Reports) - len(reports)
	s.log.Info(what, "all", b.All, "directories", dirs, "robots_bytes", len(next.Robots),
		"reports", len(reports), "notices", notices, "changed", old == nil ||
			string(old.Robots) != string(next.Robots), "took", time.Since(start))

	// Log what is wrong, each once per code and line of an annotation. (gophd robots check -v
	// prints all of it.)
	var refused []diag.Diagnostic
	for _, link := range slices.Sorted(maps.Keys(next.refused)) {
		refused = append(refused, diag.Diagnostic{
			Code:     "LINKS",
			Severity: diag.Warning,
			File:     link,
			Message:  "not followed: there are too many links, or an annotation behind a dot is above what it leads to",
		})
	}
	s.problems.report(refused, maxReports, "links are not followed")
	s.reportPrograms(next)
	s.problems.report(reports, maxReports, "reports: gophd robots check lists them")
}

func (s *Site) reportPrograms(next *Snapshot) {
	s.problems.report(next.programs, maxReports, "programs or links: gophd check lists them")
}

// tryAgain is the delay before a retry after the process ran out of descriptors or memory.
const tryAgain = time.Second

// reload makes a new Snapshot and calls Config.Reloaded.
func (s *Site) reload(b watch.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	start := time.Now()
	err := s.changed(b)
	s.lookAgain(time.Since(start))
	if limit.Reached(err) {
		time.AfterFunc(tryAgain, s.Reload)
	}
	if s.conf.Reloaded != nil {
		s.conf.Reloaded(Reload{
			Start:       start,
			Took:        time.Since(start),
			Everything:  b.All,
			Directories: len(b.Dirs),
			Err:         err,
		})
	}
	return err
}

// busyShare is how much longer than the last reload lookAgain waits.
const busyShare = 50

// lookAgain retries directories that did not respond yet, or in which a map or an annotation is
// leased to another process, since no event reports the end of either. It waits a second, or
// longer if reloading takes much of the processor.
func (s *Site) lookAgain(took time.Duration) {
	if s.scan == nil || s.again {
		return
	}
	dirs := slices.Sorted(maps.Keys(s.scan.busy))
	if s.scan.capsules != nil {
		for dir := range s.scan.capsules.busy {
			if dir != "." {
				dir = behindDot + dir
			}
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) == 0 {
		return
	}
	s.again = true
	wait := max(tryAgain, busyShare*took)
	if s.scan.kept {
		wait = tryAgain
	}
	time.AfterFunc(wait, func() {
		s.mu.Lock()
		s.again = false
		s.mu.Unlock()
		_ = s.reload(watch.Batch{Dirs: dirs})
	})
}
