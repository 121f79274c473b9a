package menu

// SizeText is sizeText, for the tests of package menu_test.
var SizeText = sizeText
