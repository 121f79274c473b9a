package menu

import (
	"errors"
	"html"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gophd/gophd/selector"
)

// redirectSchemes are the schemes that a URL: selector may lead to. None of them
// runs anything in the browser.
var redirectSchemes = []string{
	"http", "https", "ftp", "ftps", "sftp", "gopher", "gophers", "gemini", "spartan", "nex", "finger", "mailto", "xmpp",
	"sip", "irc", "ircs", "telnet", "ssh", "news", "nntp", "git", "magnet", "tel",
	"ssb", "ipfs", "ipns", "matrix",
}

// maxTarget is the longest URL of a redirect page, in bytes.
const maxTarget = 2048

// errTarget does not repeat the target, which comes from a stranger.
var errTarget = errors.New("making a redirect page: the URL must not be linked")

// RedirectPage returns the page for a selector URL:target: HTML that leads to the
// target, for browsers that ask the Gopher server for it. The target is a URL of a
// scheme that only leads somewhere (http, mailto, gemini...), of at most 2,048
// bytes of UTF-8 without control characters or spaces. Others, like javascript:,
// data: and file:, are an error.
func RedirectPage(target string) ([]byte, error) {
	scheme, rest, _ := strings.Cut(target, ":")
	switch {
	case len(target) > maxTarget, rest == "", !slices.Contains(redirectSchemes, strings.ToLower(scheme)):
		return nil, errTarget
	case selector.HasControl(target), strings.Contains(target, " "), !utf8.ValidString(target):
		return nil, errTarget
	}
	u := html.EscapeString(target)
	return []byte(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="3; URL=` + u + `">
<title>Leaving Gopher</title>
</head>
<body>
<p>This link leaves Gopher. In three seconds you are taken to
<a href="` + u + `">` + u + `</a>.</p>
</body>
</html>
`), nil
}

// Caps returns a caps.txt, which explains to clients how selectors of this server are
// put together. Version is gophd's; each of more is a key and a value to be
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
