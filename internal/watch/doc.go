// Package watch tells what changed below a directory, in batches, so that a
// tree that was read once can be kept true by reading again only what a
// [Batch] names.
//
// A [Watcher] asks the kernel (inotify on Linux) for every directory below its
// root but those whose name starts with a dot, and the root's parent, to notice
// when the root itself is exchanged. Where the kernel cannot help it polls.
//
// # What is guaranteed
//
//   - The first Batch has All set and comes when all watches stand. Whoever
//     reads the tree then, and afterwards what each Batch names, ends with what
//     a fresh walk finds, however changes and reading overlap.
//   - A Batch comes after 20 ms of silence, at the latest 200 ms after the
//     first event, plus the time that the previous call of Changed takes.
//   - Touch is called as soon as an event was read from the kernel, whatever
//     Changed is doing. A directory for which Watched is true was watched
//     before that answer: what is read of it afterwards is touched when it
//     changes.
//
// # What is not
//
// No kernel tells everything. Nothing is heard of a file changed through
// another hard link, through the target of a symbolic link, through a mapping
// into memory or a bind mount, by another client of a network file system, nor
// of a file system mounted over a directory. For these everything is read again
// at every Watcher.Poll, and Touch is told that anything may have changed.
//
// The rename of a directory is told as All: the kernel goes on to report what
// is below under the old names, so every watch is made anew, which takes 13 µs
// for each directory.
//
// While polling, names, types, and modes and times of directories are compared,
// and size, mode and time of the files that steer a directory: those whose name
// begins with a dot or with "gopher", robots.txt and caps.txt. The content of
// other files is not looked at: no policy depends on it, and asking for each of
// a million files costs seconds. Watched is always false then, so nothing may
// be cached. A steering file rewritten in place to the same size with its old
// time goes unnoticed, as it does for make.
package watch
