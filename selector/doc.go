// Package selector parses what Gopher clients send: request lines, selectors with their
// canonical form and other spellings, and gopher URLs.
//
// A Gopher server, a client or a robot can use it alone. It opens no file and no
// connection. [Path] alone does not protect a tree: it keeps names inside, but the
// program that opens files must handle symbolic links (see [os.Root]).
//
// [Line] reads a request and [Parse] splits it; [Path] converts its selector to a file
// name, and [Canonical] a file name to the selector that menus link. [Askable] reports
// whether clients can request a name.
package selector
