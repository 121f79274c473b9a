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
func runLarge(gophd string, dirs int) {
	dir, err := os.MkdirTemp("", "gophd-large-")
	must(err)
	defer func() { _ = os.RemoveAll(dir) }()
	begin := time.Now()
	makeLarge(dir, dirs)
	fmt.Printf("%d directories, %d files, %d annotations, made in %.1f s\n\n| | |\n| --- | --- |\n",
		dirs, dirs*largeFiles, dirs/10, time.Since(begin).Seconds())
	starts(gophd, dir)
	s := start(gophd, dir)
	defer s.stop()
	largeRobots(s)
	largeChanges(s, dir, dirs)
}

// makeLarge makes the tree: user directories with others in them.
func makeLarge(root string, dirs int) {
	says := []string{"Disallow: /\n", "Disallow: /\n", "Disallow: /text-3.txt\n", "Disallow: /\n",
		"Allow: /text-1.txt\n"}
	write(filepath.Join(root, "hot.txt"), text(1024))
	for i := range dirs {
		dir := largeDir(root, i)
		for k := range largeFiles {
			write(filepath.Join(dir, fmt.Sprintf("text-%d.txt", k)), nil)
		}
		if i%10 == 3 {
			write(filepath.Join(dir, ".robots"), []byte(says[i/10%len(says)]))
		}
	}
}

func largeDir(root string, i int) string {
	return filepath.Join(root, fmt.Sprintf("u%04d", i/largeSubs), fmt.Sprintf("d%02d", i%largeSubs))
}

// starts measures CPU time and time until the first answer.
func starts(gophd, dir string) {
	var cpu, took time.Duration
	for range largeStarts {
		begin := time.Now()
		s := start(gophd, dir)
		took += time.Since(begin) / largeStarts
		cpu += s.running() / largeStarts
		s.stop()
	}
	fmt.Printf("| CPU and time until the first answer | %.1f ms, %d ms |\n",
		float64(cpu.Microseconds())/1000, took.Milliseconds())
}

// settles is after how long without a change gophd has given memory back.
const settles = 8 * time.Second

// largeRobots waits for robots.txt.
func largeRobots(s *server) {
	begin := time.Now()
	body := s.fetch("robots.txt")
	fmt.Printf("| robots.txt proven after, CPU | %.1f s, %.1f s |\n", time.Since(begin).Seconds(),
		s.running().Seconds())
	fmt.Printf("| its bytes | %d |\n", len(body))
	time.Sleep(settles)
	fmt.Printf("| memory, at most and settled | %s, %s |\n", s.memory("VmHWM:"), s.memory("VmRSS:"))
}

// largeChanges times how long a changed annotation takes to the wire.
func largeChanges(s *server, dir string, dirs int) {
	var took []string
	for i := range 7 {
		note := filepath.Join(largeDir(dir, dirs*i/7), ".robots")
		begin := time.Now()
		write(note, fmt.Appendf(nil, "Disallow: /text-%d.txt\n", i))
		want := fmt.Sprintf("/%s/text-%d.txt\n", strings.TrimPrefix(filepath.Dir(note), dir+"/"), i)
		for !strings.Contains(s.fetch("robots.txt"), want) {
			if time.Since(begin) > 10*time.Second {
				must(fmt.Errorf("changed %s: not on the wire after 10 s", note))
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
}

func text(size int) []byte {
	return bytes.Repeat([]byte("It was a dark and stormy night; the rain fell in torrents.\r\n"),
		size/60+1)[:size]
}

// fetch makes one request and returns the reply.
func (s *server) fetch(selector string) string {
	body, err := ask.Dialer{}.All(context.Background(), s.addr, false, selector+"\r\n", math.MaxInt64)
	must(err)
	return string(body)
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
