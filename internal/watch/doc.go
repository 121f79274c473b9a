// Package watch reports which directories of a tree have changed, in batches, so that
// what was read of the tree can be kept up to date by reading again only what a [Batch]
// names.
//
// A [Watcher] asks the kernel (inotify on Linux) for events of every directory below its
// root and its other trees, except those whose name starts with a dot, and of the root's
// parent. Rounds find what no event reports.
//
//	event → names → pending (20 ms of silence) → watch what is new → Batch
//	rounds, annotations, mounts ─────↗
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
//   - A rename costs what it concerns: the directory and those below it are watched and
//     read again, and nothing else.
//   - One top-level directory takes nothing from another. If the kernel watches no more
//     directories, the one that has most is not watched for five minutes; nor is one for
//     half a minute that changes too much: more than 30,000 events at once and 300 a
//     second after that.
//   - Annotations that exist (.robots, robots.txt), and the directories of the trees, are
//     looked at every two seconds, whether or not events come; on remote file systems
//     (NFS, CIFS, FUSE, Ceph, 9p) every 15 s.
//   - A round over all directories finds whatever else policy depends on: names, types,
//     and size, owner, mode and time of the files that steer a directory. Rounds take a
//     fiftieth of the time; the log says how long one takes.
//   - A mount or unmount at, above or below a tree is a change within a second, if it
//     lasts as long.
//
// The content of other files is not looked at, since no policy depends on it. A cache of
// replies has to look at their files.
package watch
