package robots

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRequirementsAreNamed: each requirement is named by some other test file, here
// or in a package below.
func TestRequirementsAreNamed(t *testing.T) {
	list, err := os.ReadFile("testdata/requirements.txt")
	if err != nil {
		t.Fatal(err)
	}
	tests := testSources(t)
	for line := range strings.Lines(string(list)) {
		id, _, _ := strings.Cut(line, " ")
		if id == "#" {
			continue
		}
		if !regexp.MustCompile(`\b` + id + `\b`).Match(tests) {
			t.Errorf("no test names %s", strings.TrimSpace(line))
		}
	}
}

func testSources(t *testing.T) []byte {
	t.Helper()
	here, _ := filepath.Glob("*_test.go")
	below, _ := filepath.Glob("*/*_test.go")
	var all bytes.Buffer
	for _, name := range append(here, below...) {
		if name == "requirements_test.go" {
			continue
		}
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(src)
	}
	return all.Bytes()
}
