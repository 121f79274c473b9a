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
func runEdits(gophd string, users int) error {
	dir, err := os.MkdirTemp("", "gophd-edits-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.WriteFile(filepath.Join(dir, "hot.txt"), text(1024), 0o644); err != nil {
		return err
	}
	for u := range users {
		home := filepath.Join(dir, homeOf(u))
		if err := os.MkdirAll(filepath.Join(home, "private"), 0o755); err != nil {
			return err
		}
		for name, text := range map[string]string{"about.txt": "hello\n",
			"private/diary.txt": "dear\n", ".robots": "Disallow: /private/\n"} {
			if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o644); err != nil {
				return err
			}
		}
	}
	s, err := start(func(port string) []string { return largeArgs(gophd, dir, port) })
	if err != nil {
		return err
	}
	defer s.stop()
	if _, err := fetch(s.addr, "robots.txt"); err != nil { // which is there after the scan
		return err
	}
	fmt.Printf("%d users with an annotation each, %d edit\n\n| | median | 99 %% | slowest | CPU for a round |\n| --- | --: | --: | --: | --: |\n", users, editors)
	for _, spread := range []time.Duration{0, time.Second} {
		var took []time.Duration
		used := s.running()
		for round := range editRound {
			list, err := editRounds(s, dir, users, round, spread)
			if err != nil {
				return err
			}
			took = append(took, list...)
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
	return nil
}

func homeOf(u int) string { return fmt.Sprintf("~user%05d", u) }

// editRounds lets each editor write once, and fetches robots.txt until it has shown all
// of these rules.
func editRounds(s *server, dir string, users, round int,
	spread time.Duration) ([]time.Duration, error) {
	type edit struct {
		at   time.Time
		line string
	}
	begin := time.Now()
	written := make(chan edit, editors)
	failed := make(chan error, editors)
	for i := range editors {
		home := homeOf((round*editors + i) * 7 % users)
		go func() {
			time.Sleep(time.Duration(rand.Int64N(int64(spread) + 1)))
			e := edit{time.Now(), fmt.Sprintf("/%s/%d-%d/\n", home, round, spread)}
			err := os.WriteFile(filepath.Join(dir, home, ".robots"),
				[]byte("Disallow: "+strings.TrimPrefix(e.line, "/"+home)), 0o644)
			if err != nil {
				failed <- err
				return
			}
			written <- e
		}()
	}
	var open []edit
	var took []time.Duration
	for len(took) < editors {
		if time.Since(begin) > time.Minute {
			return nil, fmt.Errorf("%d edits are not on the wire after a minute", editors-len(took))
		}
		body, err := fetch(s.addr, "robots.txt")
		if err != nil {
			return nil, err
		}
		now := time.Now()
		open = slices.DeleteFunc(open, func(e edit) bool {
			seen := strings.Contains(body, e.line)
			if seen {
				took = append(took, now.Sub(e.at))
			}
			return seen
		})
		for rest := len(written) + len(failed); rest > 0; rest-- {
			select {
			case e := <-written:
				open = append(open, e)
			case err := <-failed:
				return nil, err
			}
		}
		time.Sleep(askEvery)
	}
	return took, nil
}
