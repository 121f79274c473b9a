package menu

import "testing"

// TestTypeIsARow: a new item type takes one row. The page of item types is held to the
// table by a test of the documentation.
func TestTypeIsARow(t *testing.T) {
	known, extensions := index(append(itemTypes[:len(itemTypes):len(itemTypes)], itemType{'%', "hologram", "holo"}))
	defer func(k map[byte]itemType, e map[string]byte) { knownTypes, typeByExtension = k, e }(knownTypes, typeByExtension)
	knownTypes, typeByExtension = known, extensions
	if typ, ok := TypeOf("a.holo"); typ != '%' || !ok || !IsType('%') || TypeName('%') != "hologram" {
		t.Errorf("a.holo is %q, %v: %q", typ, ok, TypeName('%'))
	}
	it, err := ParseItem("%A figure\t/a.holo\th\t70")
	if err != nil || it.Type != '%' {
		t.Errorf("%+v, %v", it, err)
	}
}
