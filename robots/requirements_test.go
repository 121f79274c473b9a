package robots

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestRequirementsAreNamed: each requirement of doc/requirements.md is named by some
// other test file, here or in a package below.
func TestRequirementsAreNamed(t *testing.T) {
	page, err := os.ReadFile("../doc/requirements.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := testSources(t)
	ids := regexp.MustCompile(`(?m)^\| ([A-Z][0-9]+) \| .+ \|$`).FindAllSubmatch(page, -1)
	if len(ids) < 50 {
		t.Fatalf("only %d requirements", len(ids))
	}
	for _, id := range ids {
		if !regexp.MustCompile(`\b` + string(id[1]) + `\b`).Match(tests) {
			t.Errorf("no test names %s", id[1])
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
