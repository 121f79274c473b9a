// Package poll keeps the connections of a TCP listener while there is nothing
// to do for them: those that have not sent their request yet, and those that
// were answered and are being closed. Such a connection costs a descriptor and
// a table entry, no goroutine. It is the only package with raw system calls on
// sockets, and the only one of the server with unsafe code; it exists on Linux.
//
// A connection is a state machine. The arrows that lead out of the package are
// what [Loop.Next] returns:
//
//	accept → reading ──→ Ready: Wait again, or answer and Linger, or Block
//	            └──────→ Closed by the client, or TimedOut
//	Linger → closing ──→ closed by the client, as nearly all are
//	            └ lingering → Closed, or TimedOut
//
// reading and lingering connections are registered with epoll(7). A closing one
// is only looked at once more, 25 ms after its reply: to register it would cost
// half as much as the reply did.
//
// Several loops share a [Poller]. One loop at a time leads: it waits for events. While
// it handles them at once it wakes no other loop, so an idle server costs as much as
// one loop. When it gets a full batch, or recent work took long, it lets the next loop
// lead before it starts to work. The listener is one socket with one queue, which may
// be inherited; no loop has a queue of its own in which a connection could be lost.
//
// Do not use it for connections that speak more than once.
package poll

import "errors"

// ErrBusy reports that a file is not sent because the kernel is reading too many.
var ErrBusy = errors.New("too many files are being read already")
