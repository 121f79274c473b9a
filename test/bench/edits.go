//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	editors   = 50
	editRound = 20
	askEvery  = 5 * time.Millisecond // 350 KB each time, which delays what is measured
)

// runEdits measures how long an edit takes to the wire on a host of users who have
// an annotation each, while 50 of them edit: in one moment, or whenever they like
// within a second.
func runEdits(gophd string, users int) {
	dir, err := os.MkdirTemp("", "gophd-edits-")
	must(err)
	defer func() { _ = os.RemoveAll(dir) }()
	write(filepath.Join(dir, "hot.txt"), text(1024))
	for u := range users {
		home := filepath.Join(dir, homeOf(u))
		write(filepath.Join(home, "about.txt"), []byte("hello\n"))
		write(filepath.Join(home, "private/diary.txt"), []byte("dear\n"))
		write(filepath.Join(home, ".robots"), []byte("Disallow: /private/\n"))
	}
	s := start(gophd, dir)
	defer s.stop()
	s.fetch("robots.txt") // which is there after the scan
	fmt.Printf("%d users with an annotation each, %d edit\n\n| | median | 99 %% | slowest | CPU for a round |\n| --- | --: | --: | --: | --: |\n", users, editors)
	for _, spread := range []time.Duration{0, time.Second} {
		var took []time.Duration
		used := s.running()
		for round := range editRound {
			took = append(took, editRounds(s, dir, users, round, spread)...)
		}
		slices.Sort(took)
		name := "all in one moment"
		if spread > 0 {
			name = fmt.Sprint("each some time within ", spread)
		}
		ms := func(d time.Duration) string { return fmt.Sprintf("%d ms", d.Milliseconds()) }
		fmt.Printf("| %s | %s | %s | %s | %s |\n", name, ms(took[len(took)/2]),
			ms(took[len(took)*99/100]), ms(took[len(took)-1]), ms((s.running()-used)/editRound))
	}
}

func homeOf(u int) string { return fmt.Sprintf("~user%05d", u) }

// editRounds lets each editor write once, and fetches robots.txt until it has shown all
// of these rules.
func editRounds(s *server, dir string, users, round int,
	spread time.Duration) (took []time.Duration) {
	type edit struct {
		at   time.Time
		line string
	}
	begin := time.Now()
	written := make(chan edit, editors)
	for i := range editors {
		home := homeOf((round*editors + i) * 7 % users)
		go func() {
			time.Sleep(time.Duration(rand.Int64N(int64(spread) + 1)))
			e := edit{time.Now(), fmt.Sprintf("/%s/%d-%d/\n", home, round, spread)}
			write(filepath.Join(dir, home, ".robots"),
				[]byte("Disallow: "+strings.TrimPrefix(e.line, "/"+home)))
			written <- e
		}()
	}
	var open []edit
	for len(took) < editors {
		if time.Since(begin) > time.Minute {
			must(fmt.Errorf("%d edits are not on the wire after a minute", editors-len(took)))
		}
		body := s.fetch("robots.txt")
		now := time.Now()
		open = slices.DeleteFunc(open, func(e edit) bool {
			seen := strings.Contains(body, e.line)
			if seen {
				took = append(took, now.Sub(e.at))
			}
			return seen
		})
		for range len(written) {
			open = append(open, <-written)
		}
		time.Sleep(askEvery)
	}
	return took
}
