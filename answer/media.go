package answer

import (
	"path"
	"strings"

	"github.com/gophd/gophd/menu"
)

const plainText = "text/plain; charset=utf-8"

// mediaTypes are types that browsers and other clients show. None of them runs
// anything: HTML and SVG in a page of their own could.
var mediaTypes = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".avif": "image/avif",
	".bmp": "image/bmp", ".ico": "image/x-icon", ".svg": "image/svg+xml",
	".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".oga": "audio/ogg", ".opus": "audio/ogg", ".flac": "audio/flac", ".wav": "audio/wav", ".m4a": "audio/mp4",
	".mp4": "video/mp4", ".webm": "video/webm", ".ogv": "video/ogg", ".m4v": "video/mp4",
	".pdf": "application/pdf", ".xml": plainText, ".atom": plainText,
}

// MediaType returns the media type that an answer is sent with where the protocol
// names one.
func (a *Value) MediaType() string {
	if a.Media != "" {
		return a.Media
	}
	if t, ok := mediaTypes[strings.ToLower(path.Ext(a.Selector))]; ok {
		return t
	}
	if a.Type == menu.TypeText || a.Type == menu.TypeHTML {
		return plainText
	}
	return "application/octet-stream"
}
