// Package policy makes one robots.txt of what many people say about their own
// directories, and proves that every kind of robot in use takes it as it is
// meant.
//
//	c := policy.Compile(tree, nil)
//	if len(c.Unproven()) == 0 {
//		serve(c.File())
//	}
//
// # Annotations
//
// An annotation is a robots.txt whose "/" is the directory it lies in. The
// policy is what RFC 9309 says of all of them together, each pattern put below
// its directory and confined to it: the longest pattern decides, Allow on a tie.
// The name of the directory is part of the pattern, and its octets are no
// syntax. To a robot that is named somewhere each directory says what it has for
// that robot, or else what it says to all. A group whose only rule is an empty
// Disallow has something to say: that all is allowed. A resource has the policy
// of its canonical selector: "/p" for a file, "/d/" for a directory.
//
// # Guarantee
//
// No reader is let in where the policy denies it, unless a [Report] has said so
// by name; and a reader that knows RFC 9309 gets exactly the policy, unless two
// names are one to it (NAME-COLLISION), or the file would be larger than the
// 500 KiB that robots read: then too much is denied (COARSENED, ROBOTS-MERGED).
// The readers are those of [robots.Readers]. What readers that know only
// Disallow cannot be told is barred rather than let through, with the exception
// of menus above something allowed (LISTING-EXPOSED), names with # or * in them
// (NAME), files of one kind that are too many to list (GLOB), and the root's
// empty selector (ROOT-MENU). A robots.txt written by hand is served as it is,
// if nothing else is said anywhere, and its leaks are reported (HAND-WRITTEN).
//
// What a robot does that no annotation names, but whose name contains one that
// is named, is not proven for readers of the 1994 standard, which would take
// the one for the other.
//
// The package is useful for whatever serves a tree of names, on Gopher or not.
// It is of no use for a site whose selectors are not known beforehand, and it
// does not read the file system: that is for the caller.
package policy
