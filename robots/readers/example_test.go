package readers_test

import (
	"fmt"

	"github.com/gophd/gophd/robots/readers"
)

func ExampleAll() {
	file := []byte("User-agent: *\nDisallow: /a*c\nAllow: /abc\n")
	for _, r := range readers.All() {
		fmt.Println(r.Name, r.Read(file).Allowed("mybot", "/abc"))
	}
	// Output:
	// gopher-strict false
	// veronica2 false
	// rfc9309 true
	// rfc9309-raw true
	// google true
	// google-raw true
	// 1994 true
	// first-match true
	// longest-match true
	// gemini true
	// gopher-mcp false
}
