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
	for _, want := range []struct {
		agent, sel string
		decision   byte
	}{{"somebot", "/a.txt", '1'}, {"somebot", "/drafts/b.txt", '0'}, {"gptbot", "/later", '0'}} {
		agent, at := slices.Index(k.Agents, want.agent), slices.Index(k.Selectors, want.sel)
		if agent < 0 || at < 0 || k.Policy[agent][at] != want.decision ||
			k.Readers["rfc9309"][agent][at] != want.decision {
			t.Errorf("%+v: %+v", want, k)
		}
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
