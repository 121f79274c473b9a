package menu

import (
	"slices"
	"strings"
	"testing"
)

func TestExtensionTable(t *testing.T) {
	if n := len(typeByExtension); n < 80 {
		t.Errorf("%d extensions, want at least 80", n)
	}
	seen := map[string]bool{}
	for _, row := range itemTypes {
		for ext := range strings.FieldsSeq(row.extensions) {
			if seen[ext] || ext != strings.ToLower(ext) || len(ext) > maxExtension {
				t.Errorf("extension %q: twice, too long or not in lower case", ext)
			}
			seen[ext] = true
		}
		if name := TypeName(row.typ); (name == "") != (row.typ == TypeInfo) {
			t.Errorf("type %q is called %q", row.typ, name)
		}
	}
	if len(knownTypes) != len(itemTypes) {
		t.Error("a type has two rows")
	}
}

func TestCompareNames(t *testing.T) {
	want := []string{"", "-x", "0", "00", "01", "1", "2", "10", "A", "a", "a01", "a1", "a1b", "a2",
		"A10", "a10b", "a100", "ab", "B", "b", "file 9", "file 10", "z", "ä"}
	for i, a := range want {
		for j, b := range want {
			if got := compareNames(a, b); got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("compareNames(%q, %q) = %d", a, b, got)
			}
		}
	}
	if !slices.IsSortedFunc(want, compareNames) {
		t.Error("not sorted")
	}
}

// Any two names have one order, whatever a third one is.
func FuzzCompareNames(f *testing.F) {
	f.Add("a1", "a01", "A2")
	f.Add("0", "00", "-")
	f.Add("000001x", "1X", "\xff")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		ab, bc, ac := compareNames(a, b), compareNames(b, c), compareNames(a, c)
		if ab != -compareNames(b, a) || (ab == 0) != (a == b) || ab < 0 && bc < 0 && ac >= 0 ||
			ab > 0 && bc > 0 && ac <= 0 {
			t.Errorf("%q, %q, %q: %d, %d, %d", a, b, c, ab, bc, ac)
		}
	})
}
