// Package selector reads what Gopher clients send and names what they ask for:
// request lines, selectors, the canonical form and every other spelling of one,
// and gopher URLs.
//
// It is useful alone to whoever writes a Gopher server, a client or a robot. It
// opens no file and no connection. Do not use [Path] as the only wall around a
// tree: it keeps names inside, but symbolic links are the business of whoever
// opens them (see [os.Root]).
//
// A request is read with [Line] and taken apart with [Parse]; [Path] makes a
// file name of its selector, [Canonical] the selector again that menus link.
// [Askable] says which names can be asked for at all.
package selector
