package web

import (
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// joined marks the prose of a text in brackets and joins its lines.
func joined(text string) string {
	var b strings.Builder
	for _, p := range inPieces(text).Pieces {
		if p.Prose {
			p.Text = "[" + strings.Join(strings.Fields(p.Text), " ") + "]"
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

func TestProse(t *testing.T) {
	const long = "A line of prose that is as long as lines of prose are"
	for text, want := range map[string]string{
		"":        "",
		"short\n": "short\n",
		"See <https://e.org/a_(b)/c/d/e?f=g&h=i>, http://e.org/": "[See <https://e.org/a_(b)/c/d/e?f=g&h=i>, http://e.org/]",
		long + "\nand its end.\n": "[" + long +
			" and its end.]\n",
		long + "\n\n" + long + "\n": "[" + long +
			"]\n\n[" + long + "]\n",
		"# A comment that is as long as lines of prose are\nUser-agent: *\n": "[# A comment that is as long as lines of prose are]\nUser-agent: *\n",
		"Verses are short,\nand stay as\nthey were made.":                    "Verses are short,\nand stay as\nthey were made.",
		"  * " + long + "\n    goes on.\n  * Another\n": "  [* " + long +
			" goes on.]\n  * Another\n",
		"* " + long + "\n  - " + long + "\n  goes on.": "[* " + long +
			"]\n  [- " + long + "]\n  goes on.",
		"  1. " + long + "\n     goes on.": "  [1. " +
			long + " goes on.]",
		"    " + long + "\nand flush after it.": "    [" + long +
			" and flush after it.]",
		"A question?\n    " + long + "\n    goes on.": "A question?\n    [" +
			long + " goes on.]",
		"                            A heading in the middle":               "[A heading in the middle]",
		"2026-11-22                                  What it is about\n\nx": "[2026-11-22 What it is about]\n\nx",
		"x\n2026-11-22                               What it is about\n":    "same",
		"name             what it is, in a table with columns\n" +
			"other            the next line of this table, as wide": "name             what it is, in a table with columns\n" +
			"other            the next line of this table, as wide",
		`/_\/_\/_\/_\/_\/_\/_\/_\/_\/_\/_\/_\/_\/_\/_\/_\` + "\n" +
			`\_/\_/\_/\_/\_/\_/\_/\_/\_/\_/\_/\_/\_/\_/\_/\_/`: "same",
	} {
		if want == "same" {
			want = text
		}
		if got := joined(text); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	if !inPieces(strings.Repeat("+--", 20)).Wide || inPieces(long).Wide {
		t.Error("what has to scroll is not known")
	}
}

// Whatever a text is, its pieces are the text.
func TestPiecesAreTheText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.OneOf(rapid.StringMatching(`( {0,6}|\* |- |1\. )([a-z]{1,9}[ .]{1,3}){0,12}`),
			rapid.String(), rapid.Just(""))
		text := strings.Join(rapid.SliceOfN(line, 0, 12).Draw(t, "lines"), "\n")
		var b strings.Builder
		for _, p := range inPieces(text).Pieces {
			b.WriteString(p.Text)
		}
		if b.String() != text {
			t.Fatalf("got  %q\nwant %q", b.String(), text)
		}
	})
}

// A text of short lines, which anybody may have put there, is not copied for each
// of them: that took minutes for 2 MiB.
func TestPiecesOfShortLines(t *testing.T) {
	text := strings.Repeat("\n", 64<<10)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	inPieces(text)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
		t.Errorf("%d bytes are made of %d", n, len(text))
	}
}
