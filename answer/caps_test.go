package answer_test

import (
	"errors"
	"strings"
	"testing"
)

// TestCaps: caps.txt tells what robots should know, with hashes that change when it does.
func TestCaps(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		".robots": "Index: Deny\nCooldown: 86400\nCrawl-delay: 2.5\nDisallow: /drafts/\n"})
	s := run(t, dir)
	want := "\nRobotsIndex=deny\nRobotsCooldown=86400\nRobotsCrawlDelay=2.5\nRobotsPolicySHA256=" +
		s.Now().Compiled.Hash() + "\nRobotsFileSHA256=" + s.Now().Compiled.FileHash() + "\n"
	if got, err := get(t, newFiles(s, 0), "caps.txt"); err != nil || !strings.Contains(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// TestAboutRobots: links of menus to robots.txt lead to a copy, which makes no reader a
// robot, unless the tree has that name. Links elsewhere stay.
func TestAboutRobots(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{".robots": "Disallow: /drafts/\n", "drafts/x": "",
		"d/gophermap": "0A\t/robots.txt\n0B\trobots.txt\n0C\t0/robots.txt\n0D\t/robots.txt\th.example\t70\n",
		"gophermap":   "0A\t/robots.txt\n0B\trobots.txt\n0C\t/0/robots.txt\n0D\t/robots.txt\th.example\t70\n0E\t/robots.txt\tH.\t70\n"})
	h := newFiles(run(t, dir), 1<<20)
	about, err := get(t, h, "about-robots")
	robots, robotsErr := get(t, h, "robots.txt")
	if must(t, errors.Join(err, robotsErr)); !strings.HasSuffix(about, "\n\n"+robots) ||
		!strings.Contains(robots, "Disallow: /drafts") {
		t.Errorf("it says %q", about)
	}
	const other = "0D\t/robots.txt\th.example\t70\r\n"
	for sel, want := range map[string]string{"/": "0A\t/about-robots\th\t70\r\n0B\t/about-robots\th\t70\r\n0C\t/about-robots\th\t70\r\n" + other + "0E\t/about-robots\tH.\t70\r\n",
		"/d/": "0A\t/about-robots\th\t70\r\n0B\t/d/robots.txt\th\t70\r\n0C\t/d/0/robots.txt\th\t70\r\n" + other} {
		if got, err := get(t, h, sel); err != nil || got != want+".\r\n" {
			t.Errorf("%s is %q, %v", sel, got, err)
		}
	}
	write(t, dir, map[string]string{"about-robots": "mine\n"})
	if !eventually(func() bool {
		got, _ := get(t, h, "/")
		return strings.HasPrefix(got, "0A\t/robots.txt\t")
	}) {
		t.Error("the links lead to the author's file")
	}
	if got, err := get(t, h, "/about-robots"); err != nil || got != "mine\n" {
		t.Errorf("%q, %v", got, err)
	}
}
