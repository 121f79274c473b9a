// Package watch tells what changed below a directory, in batches, so that what
// was read of a tree can be kept up to date by reading again only what a
// [Batch] names.
//
// A [Watcher] asks the kernel (inotify on Linux) for every directory below its
// root and its other trees, except those whose name starts with a dot, and for the
// root's parent, to notice when the root itself is exchanged. Where the kernel
// cannot help it compares.
//
//	event → names → pending (20 ms of silence) → watch what is new → Batch
//	mount, unmount: looked for every second ↗       ↑
//	units: compared, when they are due ─────────────┘
//
// # What is guaranteed
//
//   - The first Batch has All set and comes when all watches stand. A
//     caller that reads the tree then, and afterwards what each Batch names, ends
//     with what a fresh walk finds, however changes and reading overlap.
//   - A Batch comes after 20 ms of silence, or when as much time has passed since
//     the first event as the previous batch took, at least 50 and at most 200 ms;
//     plus the time that the previous call of Changed takes.
//   - Touch is called as soon as an event was read from the kernel, whatever
//     Changed is doing. A directory for which Watched is true was watched
//     before that answer: what is read of it afterwards is touched when it
//     changes.
//   - A change costs what it concerns: when a directory is renamed, that one and
//     those below it are watched and read again, and nothing else.
//   - One top-level directory takes nothing from another. If the kernel watches
//     no more directories, the one that has most is compared instead (every 2 s,
//     and never more than a twentieth of the time); and so is one that changes
//     too much: more than 30,000 events at once and 300 a second after that.
//   - A mount or unmount at, above or below a tree is a change within a second, if it
//     lasts as long: mounts are looked for, and what comes and goes in between is seen
//     by no look, only by the next complete reading.
//   - What lies on a file system that others change unknown to this kernel
//     (NFS, CIFS, FUSE, Ceph, 9p, overlay) is compared every 15 s as well.
//
// # What is not
//
// No kernel tells everything. Nothing is heard of a file changed through
// another hard link, through the target of a symbolic link or through a mapping
// into memory. For these everything is read again at every Watcher.Poll, and
// Touch is told that anything may have changed.
//
// While comparing, names, types, and modes and times of directories are
// looked at, and size, mode and time of the files that steer a directory:
// those whose name begins with a dot or with "gopher", menus (*.gph,
// *.gophermap), robots.txt and caps.txt. A directory whose times did not
// change is listed again at every twentieth comparison only. The content of
// other files is not looked at: no policy depends on it, and asking for each
// of a million files costs seconds. Watched is false for what is compared, so
// nothing of it may be cached. An overlay is the exception: its layers must
// not change while it is mounted. A steering file rewritten in place to the
// same size with its old time goes unnoticed, as it does for make.
package watch
