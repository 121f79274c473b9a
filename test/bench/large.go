//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gophd/gophd/internal/ask"
)

const (
	largeFiles  = 10 // files of each directory
	largeSubs   = 50 // directories of each user
	largeStarts = 5  // how often is started to find out what that costs
)

// runLarge measures what a large tree costs: directories, ten times as many
// files, and a tenth as many annotations.
func runLarge(gophd string, dirs int) error {
	dir, err := os.MkdirTemp("", "gophd-large-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	begin := time.Now()
	if err := makeLarge(dir, dirs); err != nil {
		return err
	}
	fmt.Printf("%d directories, %d files, %d annotations, made in %.1f s\n\n| | |\n| --- | --- |\n",
		dirs, dirs*largeFiles, dirs/10, time.Since(begin).Seconds())
	if err := starts(gophd, dir); err != nil {
		return err
	}
	s, err := start(func(port string) []string { return largeArgs(gophd, dir, port) })
	if err != nil {
		return err
	}
	defer s.stop()
	if err := largeRobots(s); err != nil {
		return err
	}
	return largeChanges(s, dir, dirs)
}

func largeArgs(gophd, dir, port string) []string {
	return []string{gophd, "-root", dir, "-listen", "127.0.0.1:" + port, "-host",
		"localhost", "-quiet"}
}

// makeLarge makes the tree: user directories with others in them.
func makeLarge(root string, dirs int) error {
	says := []string{"Disallow: /\n", "Disallow: /\n", "Disallow: /text-3.txt\n", "Disallow: /\n",
		"Allow: /text-1.txt\n"}
	if err := os.WriteFile(filepath.Join(root, "hot.txt"), text(1024), 0o644); err != nil {
		return err
	}
	for i := range dirs {
		dir := largeDir(root, i)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for k := range largeFiles {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("text-%d.txt", k)), nil,
				0o644); err != nil {
				return err
			}
		}
		if i%10 != 3 {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, ".robots"), []byte(says[i/10%len(says)]),
			0o644); err != nil {
			return err
		}
	}
	return nil
}

func largeDir(root string, i int) string {
	return filepath.Join(root, fmt.Sprintf("u%04d", i/largeSubs), fmt.Sprintf("d%02d", i%largeSubs))
}

// starts measures CPU time and time until the first answer.
func starts(gophd, dir string) error {
	var cpu, took time.Duration
	for range largeStarts {
		begin := time.Now()
		s, err := start(func(port string) []string { return largeArgs(gophd, dir, port) })
		if err != nil {
			return err
		}
		took += time.Since(begin) / largeStarts
		cpu += s.running() / largeStarts
		s.stop()
	}
	fmt.Printf("| CPU and time until the first answer | %.1f ms, %d ms |\n",
		float64(cpu.Microseconds())/1000, took.Milliseconds())
	return nil
}

// settles is after how long without a change gophd has given memory back.
const settles = 8 * time.Second

// largeRobots waits for robots.txt.
func largeRobots(s *server) error {
	begin := time.Now()
	body, err := fetch(s.addr, "robots.txt")
	if err != nil {
		return err
	}
	fmt.Printf("| robots.txt proven after, CPU | %.1f s, %.1f s |\n", time.Since(begin).Seconds(),
		s.running().Seconds())
	fmt.Printf("| its bytes | %d |\n", len(body))
	time.Sleep(settles)
	fmt.Printf("| memory, at most and settled | %s, %s |\n", s.memory("VmHWM:"), s.memory("VmRSS:"))
	return nil
}

// largeChanges times how long a changed annotation takes to the wire.
func largeChanges(s *server, dir string, dirs int) error {
	var took []string
	for i := range 7 {
		note := filepath.Join(largeDir(dir, dirs*i/7), ".robots")
		begin := time.Now()
		if err := os.WriteFile(note, fmt.Appendf(nil, "Disallow: /text-%d.txt\n", i),
			0o644); err != nil {
			return err
		}
		want := fmt.Sprintf("/%s/text-%d.txt\n", strings.TrimPrefix(filepath.Dir(note), dir+"/"), i)
		for body := ""; !strings.Contains(body, want); {
			var err error
			if body, err = fetch(s.addr, "robots.txt"); err != nil {
				return err
			}
			if time.Since(begin) > 10*time.Second {
				return fmt.Errorf("changed %s: not on the wire after 10 s", note)
			}
			time.Sleep(5 * time.Millisecond) // each reply of 500 KB delays what is measured
		}
		took = append(took, fmt.Sprint(time.Since(begin).Milliseconds()))
		time.Sleep(300 * time.Millisecond)
	}
	fmt.Printf("| a changed annotation on the wire after | %s ms |\n", strings.Join(took, ", "))
	time.Sleep(settles)
	fmt.Printf("| memory then, at most and settled | %s, %s |\n", s.memory("VmHWM:"),
		s.memory("VmRSS:"))
	return nil
}

func text(size int) []byte {
	return bytes.Repeat([]byte("It was a dark and stormy night; the rain fell in torrents.\r\n"),
		size/60+1)[:size]
}

// fetch makes one request and returns the reply.
func fetch(addr, selector string) (string, error) {
	body, err := ask.Dialer{}.All(context.Background(), addr, false, selector+"\r\n", math.MaxInt64)
	return string(body), err
}

// running is the CPU time of all threads that live.
func (s *server) running() time.Duration {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", s.cmd.Process.Pid))
	var sum time.Duration
	for _, name := range threads {
		text, _ := os.ReadFile(name)
		var ns time.Duration
		_, _ = fmt.Sscan(string(text), &ns)
		sum += ns
	}
	return sum
}

// memory reads a line of the server's status, in MiB.
func (s *server) memory(line string) string {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	_, rest, _ := strings.Cut(string(status), line)
	var kib int
	_, _ = fmt.Sscan(rest, &kib)
	return fmt.Sprintf("%d MiB", kib/1024)
}
