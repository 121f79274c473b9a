package robotscmd

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/robots/kit"
	"github.com/gophd/gophd/robots/readers"
)

// The kit of a tree says what its annotations say, and that RFC 9309 reads so.
func TestKitOfTree(t *testing.T) {
	root, dir := t.TempDir(), filepath.Join(t.TempDir(), "kit")
	treetest.Write(t, root, map[string]string{".robots": "Disallow: /drafts/\nUser-agent: GPTBot\nDisallow: /\n", "a.txt": "", "drafts/b.txt": ""})
	var out bytes.Buffer
	c := &Command{Name: "gophd robots kit", Args: []string{dir}, Root: root, Out: &out}
	treetest.Must(t, c.Kit(context.Background()))
	text, err := os.ReadFile(filepath.Join(dir, "tree.jsonl"))
	treetest.Must(t, err)
	var k kit.Case
	treetest.Must(t, json.Unmarshal(text, &k))
	at := func(sel string) int { return slices.Index(k.Selectors, sel) }
	if i := at("/a.txt"); i < 0 || k.Policy[0][i] != '1' || k.Readers["rfc9309"][0][i] != '1' {
		t.Errorf("/a.txt: %+v", k)
	}
	if i := at("/drafts/b.txt"); i < 0 || k.Policy[0][i] != '0' ||
		k.Readers["rfc9309"][0][i] != '0' {
		t.Errorf("/drafts/b.txt: %+v", k)
	}
	bot := slices.Index(k.Agents, "gptbot")
	if i := at("/later"); bot < 0 || i < 0 || k.Policy[bot][i] != '0' ||
		k.Readers["rfc9309"][bot][i] != '0' {
		t.Errorf("/later for GPTBot: %+v", k)
	}
	if err := c.Kit(context.Background()); err == nil {
		t.Error("it overwrites a kit")
	}
}

// TestOutdated: after six months the kit says how old its vocabulary is.
func TestOutdated(t *testing.T) {
	at, err := time.Parse(time.DateOnly, readers.VocabularyChecked)
	if err != nil || outdated(at.AddDate(0, 5, 0)) != "" ||
		!strings.Contains(outdated(at.AddDate(0, 7, 0)), readers.VocabularyChecked) {
		t.Errorf("%v, %q", err, outdated(at.AddDate(0, 7, 0)))
	}
}
