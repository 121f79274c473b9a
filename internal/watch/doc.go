// Package watch reports which directories of a tree have changed, in batches. A caller
// keeps its copy of the tree up to date by reading only the directories of a [Batch].
//
// A [Watcher] asks the kernel (inotify on Linux) for events of every directory below its
// root and its other trees, except those whose name starts with a dot, and of the root's
// parent. Rounds find what no event reports.
//
//	event, round, mount → dirty directories (20 ms of silence) → watch and list those → Batch
//
// # Guarantees
//
//   - The first Batch has All set and comes when all watches stand. A caller that reads
//     the tree then, and afterwards what each Batch names, ends with what a fresh walk
//     finds, however changes and reading overlap.
//   - A Batch comes after 20 ms of silence, or when as much time has passed since
//     the first event as the previous batch took, at least 50 and at most 200 ms;
//     plus the time that the previous call of Changed takes.
//   - Touch is called as soon as an event was read from the kernel, whatever Changed is
//     doing.
//   - After a rename, only the directory and those below it are watched and read again.
//   - One top-level directory takes nothing from another. What it takes here and in Changed
//     it pays with ten times as long a rest, ten seconds at most. If the kernel watches no
//     more directories, the one with the most watches is not watched for five minutes. One
//     with more than 3,000 events in a second is not watched for half a minute, beginning
//     within a second.
//   - Annotations that exist (.robots, robots.txt), and the directories of the trees, are
//     looked at every two seconds, whether or not events come, or as often as a fiftieth of
//     the time allows; on remote file systems (NFS, CIFS, FUSE, Ceph, 9p) every 15 s.
//   - A round over all directories finds whatever else policy depends on: names, types,
//     and size, owner, mode and time of the files that steer a directory. Rounds take a
//     fiftieth of the time; the log says how long one takes.
//   - A mount or unmount at, above or below a tree is a change within a second, if it
//     lasts as long: everything is read again.
//
// The Watcher does not check other files, since no policy depends on their content. A
// cache of replies must check its files itself.
package watch
