// Package selector reads what Gopher clients send and names what they ask for:
// request lines, selectors, the canonical form and every other spelling of one,
// and gopher URLs.
//
// It is useful alone for a Gopher server, a client or a robot. It opens no file and
// no connection. [Path] alone does not protect a tree: it keeps names inside, but the
// program that opens files must handle symbolic links (see [os.Root]).
//
// A request is read with [Line] and taken apart with [Parse]; [Path] makes a file name
// of its selector, [Canonical] the selector again that menus link. [Askable] reports
// whether clients can ask for a name at all.
package selector
