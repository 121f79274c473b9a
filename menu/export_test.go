package menu

import "slices"

// AddType adds a row to the table of item types, until undo is called.
func AddType(typ byte, name, extensions string) (undo func()) {
	knownTypes, typeByExtension = index(append(slices.Clone(itemTypes),
		itemType{typ, name, extensions}))
	return func() { knownTypes, typeByExtension = index(itemTypes) }
}

// SizeText is sizeText, for the tests of package menu_test.
var SizeText = sizeText
