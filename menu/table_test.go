package menu

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
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
	}
	if len(knownTypes) != len(itemTypes) {
		t.Error("a type has two rows")
	}
}

// A row is all that a new type needs: gophermaps, listings and what people read of it.
func TestNewItemType(t *testing.T) {
	defer func() { knownTypes, typeByExtension = index(itemTypes) }()
	knownTypes, typeByExtension = index(append(slices.Clone(itemTypes), itemType{'~', "tilde", "til"}))
	tree := fstest.MapFS{"gophermap": {Data: []byte("~A tilde\tx.bin\n*\n")}, "x.bin": {}, "y.TIL": {}}
	b := Builder{FS: tree, Host: "h", Port: 70}
	m, err := b.Menu(t.Context(), ".")
	want := []Item{{'~', "A tilde", "/x.bin", "h", 70}, {'~', "y.TIL", "/y.TIL", "h", 70}}
	if err != nil || !slices.Equal(m.Items, want) {
		t.Errorf("%+v, %v", m.Items, err)
	}
	if TypeName('~') != "tilde" || !IsType('~') || IsType(0) || IsType('?') {
		t.Error("it has no name, or others are types")
	}
}

func TestTypeNames(t *testing.T) {
	for _, row := range itemTypes {
		if name := TypeName(row.typ); (name == "") != (row.typ == TypeInfo) {
			t.Errorf("type %q is called %q", row.typ, name)
		}
	}
	if got := TypeName('~'); got != "" {
		t.Errorf("a type that is not known is called %q", got)
	}
}

func TestCompareNatural(t *testing.T) {
	want := []string{"", "-x", "0", "00", "01", "1", "2", "10", "A", "a", "a01", "a1", "a1b", "a2", "A10", "a10b", "a100", "ab", "B", "b", "file 9", "file 10", "z", "ä"}
	for i, a := range want {
		for j, b := range want {
			if got := compareNatural(a, b); got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("compareNatural(%q, %q) = %d", a, b, got)
			}
		}
	}
	if !slices.IsSortedFunc(want, compareNatural) {
		t.Error("not sorted")
	}
}

// compareNatural is the order without keys: numbers by their value ("2" before
// "10"), letters of ASCII in either case alike, and the rest by bytes. Names that
// are alike so far are ordered by bytes, so that no two names are equal.
func compareNatural(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	for i > 0 && isDigit(a[i-1]) {
		i-- // to the beginning of a number
	}
	x, y := a[i:], b[i:]
	for x != "" && y != "" {
		if isDigit(x[0]) && isDigit(y[0]) {
			var n, m string
			n, x = cutNumber(x)
			m, y = cutNumber(y)
			if len(n) != len(m) {
				return len(n) - len(m)
			}
			if c := strings.Compare(n, m); c != 0 {
				return c
			}
			continue
		}
		if c, d := lower(x[0]), lower(y[0]); c != d {
			return int(c) - int(d)
		}
		x, y = x[1:], y[1:]
	}
	if len(x) != len(y) {
		return len(x) - len(y)
	}
	return strings.Compare(a, b)
}

// The keys order names as comparing them does.
func FuzzSortNames(f *testing.F) {
	f.Add("a1\na01\na10\nA2\n", uint8(2))
	f.Add("0\n00\n-\n/\n:\n000001x\n1X\n\xff", uint8(0))
	f.Fuzz(func(t *testing.T, text string, dirs uint8) {
		if strings.Contains(text, "\x00") {
			return // no name that is listed
		}
		var names []listed
		for i, name := range strings.Split(text, "\n") {
			names = append(names, listed{name, i < int(dirs)})
		}
		want := slices.SortedStableFunc(slices.Values(names), func(a, b listed) int {
			if a.dir != b.dir {
				if a.dir {
					return -1
				}
				return 1
			}
			return compareNatural(a.name, b.name)
		})
		if sortNames(names); !slices.Equal(names, want) {
			t.Fatalf("got %v, want %v", names, want)
		}
	})
}
