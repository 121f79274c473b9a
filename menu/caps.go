package menu

import "github.com/gophd/gophd/selector"

// Caps returns a caps.txt, which tells clients how selectors of this server are
// put together. Version is that of gophd; each of more is a key and a value to be
// added. "Delimeter" is how clients look it up.
func Caps(version string, more [][2]string) []byte {
	b := []byte("CAPS\n\n")
	for _, kv := range [][2]string{
		{"CapsVersion", "1"},
		{"ExpireCapsAfter", "3600"},
		{"PathDelimeter", "/"},
		{"PathIdentity", "."},
		{"PathParent", ".."},
		{"PathParentDouble", "FALSE"},
		{"PathEscapeCharacter", ""},
		{"PathKeepPreDelimeter", "FALSE"},
		{"ServerSoftware", "gophd"},
		{"ServerSoftwareVersion", version},
	} {
		b = appendCap(b, kv)
	}
	for _, kv := range more {
		b = appendCap(b, kv)
	}
	return b
}

func appendCap(b []byte, kv [2]string) []byte {
	b = selector.AppendClean(b, kv[0])
	b = append(b, '=')
	b = selector.AppendClean(b, kv[1])
	return append(b, '\n')
}
