// Package watch reports which directories of a tree have changed, in batches. A caller
// keeps its copy of the tree up to date by reading only the directories of a [Batch].
//
// A [Watcher] receives events from the kernel (inotify on Linux) for every directory below its
// root and its other trees, except those whose name starts with a dot, and for the root's
// parent. In addition it polls ("rounds"), for changes that no event reports.
//
//	event, round, mount → dirty directories (20 ms of silence) → watch and list those → Batch
//
// # Guarantees
//
//   - The first Batch has All set and is sent when all watches are set. A caller that then
//     reads the tree, and later the directories of each Batch, ends up with the same result as
//     a fresh walk, however changes and reads overlap.
//   - A Batch comes after 20 ms of silence, or when as much time has passed since
//     the first event as the previous batch took, at least 50 and at most 200 ms;
//     plus the time that the previous call of Changed takes.
//   - Touch is called as soon as an event was read from the kernel, whatever Changed is
//     doing.
//   - After a rename, only the directory and those below it are watched and read again.
//   - Top-level directories do not slow each other down. After one has taken time here or in
//     Changed, its next changes are delayed by ten times as much, at most ten seconds. If the
//     kernel refuses more watches, the directory with the most is polled for five minutes. One
//     with more than 3,000 events in a second is polled for half a minute.
//   - A directory that does not respond delays others by a twentieth of the Guard's timeout: it is
//     visited again each second, until it responds or counts as hanging. After Reread, the root's
//     own tree is read first, and the other trees after it.
//   - Existing annotations (.robots, robots.txt) and the tops of trees are polled every two
//     seconds, on remote file systems (NFS, CIFS, FUSE, Ceph, 9p) every 15 s; less often if
//     that would take more than a fiftieth of the time.
//   - A round over all directories finds all other changes that the policy depends on: names and
//     types, and the revisions of files that configure a directory. Rounds use a fiftieth of the
//     time; the log has the duration of a round.
//   - A mount or unmount at, above or below a tree is noticed within a second, if it lasts that
//     long. Then everything is read again.
//
// The Watcher does not check the content of other files, since the policy does not depend on
// it. A cache of replies must check its files itself.
package watch
