package menu

// IsMap reports whether the last element of a file name is that of a directory's
// map.
func IsMap(base string) bool { return base == mapName || base == gphName }
