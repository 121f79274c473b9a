package site

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gophd/gophd/policy"
)

// reported lists the reports with a code about a tree of files, as "file:line severity
// text".
func reported(t *testing.T, files map[string]string, codes ...string) (list []string) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	s := start(t, dir, Config{})
	snap, err := s.Snapshot(t.Context())
	must(t, err)
	for _, r := range snap.Reports {
		if slices.Contains(codes, r.Code) {
			list = append(list, fmt.Sprintf("%s:%d %s %s", r.File, r.Line, r.Severity, r.Message))
		}
	}
	slices.Sort(list)
	return list
}

// TestNotRead: a file that is called almost like an annotation is an error, wherever it
// lies; one that has another name, or that counts, is not.
func TestNotRead(t *testing.T) {
	const text = "User-agent: *\nDisallow: /x\n"
	for file, want := range map[string]bool{
		"phlog/robots.txt": true, ".robots.txt": true, "phlog/.robots.txt": true, ".Robots": true,
		"phlog/.ROBOTS": true, "ROBOTS.TXT": true,
		"Robots.txt": true, "phlog/robots": true, "phlog/.robot": true, "Robots": true,
		"robots.txt": false, ".robots": false, "phlog/.robots": false, "phlog/robots.html": false,
		"phlog/my-robots.txt": false,
	} {
		list := reported(t, map[string]string{file: text, "x": "", "phlog/x": "",
			"phlog/index.txt": ""}, policy.CodeNotRead)
		if !want && len(list) > 0 ||
			want && !slices.Equal(list,
				[]string{file + ":0 error it is not read: did you mean .robots?"}) {
			t.Errorf("%s: %q", file, list)
		}
	}
}
