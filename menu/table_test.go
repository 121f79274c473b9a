package menu

import (
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
	if len(knownTypes) != len(itemTypes) || IsType(0) || IsType('?') {
		t.Error("a type has two rows, or others are types")
	}
}

func TestSortNames(t *testing.T) {
	want := strings.Split(",-x,0,00,01,1,2,10,A,a,a01,a1,a1b,a2,A10,a10b,a100,ab,B,b,file 9,file 10,z,ä", ",")
	var names []listed
	for i := range want {
		names = append(names, listed{name: want[i*7%len(want)]})
	}
	sortNames(names)
	for i, l := range names {
		if l.name != want[i] {
			t.Errorf("%q is in the place of %q", l.name, want[i])
		}
	}
}
