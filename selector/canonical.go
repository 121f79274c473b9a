package selector

// Canonical returns the one selector that menus link for a file name in the form
// of [io/fs.ValidPath]: a slash before it, and one after it for a directory. The
// root is "/".
func Canonical(name string, dir bool) string {
	switch {
	case name == "." || name == "":
		return "/"
	case dir:
		return "/" + name + "/"
	}
	return "/" + name
}

// Spellings returns every selector that [Path] takes for a file name, the
// canonical one first: "/p" and "p"; "/d/", "/d", "d/" and "d"; for the root "/"
// and "". Percent-encoded forms are not among them.
func Spellings(name string, dir bool) []string {
	c := Canonical(name, dir)
	switch {
	case c == "/":
		return []string{c, ""}
	case dir:
		bare := c[:len(c)-1]
		return []string{c, bare, c[1:], bare[1:]}
	}
	return []string{c, c[1:]}
}
