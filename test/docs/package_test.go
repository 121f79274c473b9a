package docs

import (
	"strings"
	"testing"
)

// TestPackageDescription: packages describe gophd as the README begins.
func TestPackageDescription(t *testing.T) {
	_, text, _ := strings.Cut(read(t, "README.md"), "\n\n")
	sentence, _, _ := strings.Cut(strings.Join(strings.Fields(text), " "), ". ")
	conf := read(t, "packaging/nfpm.yaml")
	_, description, _ := strings.Cut(conf, "description: |\n  ")
	synopsis, more, _ := strings.Cut(description, "\n")
	first, _, _ := strings.Cut(strings.Join(strings.Fields(more), " "), ". ")
	if got := "A " + synopsis + ": " + strings.ToLower(first[:1]) + first[1:]; got != sentence ||
		!strings.Contains(conf, "\n  summary: "+synopsis+"\n") {
		t.Errorf("packages say %q, the README %q", got, sentence)
	}
}
