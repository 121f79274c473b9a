// Package gophd holds the manual, for the command "gophd manual".
package gophd

import (
	"embed"
	"io/fs"
)

//go:embed content/manual/*.txt
var content embed.FS

// Manual returns the pages of the manual, NAME.txt each.
func Manual() fs.FS {
	pages, err := fs.Sub(content, "content/manual")
	if err != nil {
		panic(err) // the name is valid
	}
	return pages
}
