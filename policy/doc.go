// Package policy makes one robots.txt of what many people say about their own
// directories, and proves that every kind of robot in use takes it as it is
// meant.
//
//	c := policy.Compile(policy.Input{Root: tree}, nil)
//	serve(c.File())
//
// # Annotations
//
// An annotation is a robots.txt whose "/" is the directory it lies in. The
// policy is what RFC 9309 says of all of them together, each pattern put below
// its directory and confined to it: the longest pattern decides, Allow on a tie,
// for names that exist and for names to come. To a robot that is named somewhere
// each directory says what it has for that robot, or else what it says to all. A
// resource has the policy of its canonical selector: "/p" for a file, "/d/" for a
// directory.
//
// # From annotation to file
//
//	Dir, Annotation          tree.go              directories with annotations; of an older tree taken over
//	   │ read                annotation.go        lines to rules; pattern.go: each in three forms
//	   ▼                     field.go             fields, preferences
//	rules
//	   │ classes             class.go             robots that are treated alike
//	   │ compose             compose.go           whose rules hold; named robots, Final, what is denied as a whole
//	   ▼
//	groups
//	   │ simplify, lines     line.go              both families, raw and weak forms
//	   │ sections            write.go             the group veronica, order
//	   ▼
//	file ── share.go         directories that take too much are denied, and it is written again
//	   │ prove               prove.go             package proof reads the annotations once more
//	   ▼
//	Compiled                 compile.go           reports: report.go, find.go; explain.go
//
// # Guarantee
//
// A reader of RFC 9309 that escapes selectors gets exactly the policy, now and for
// names to come (a Final line that meets patterns with wildcards may deny more). No
// reader is let in where the policy denies it, unless a [Report] has said so with
// file and line; and the file publishes no name that no author wrote. The server
// must answer the spellings that [Compiled.Closed] names with a pointer to the
// canonical selector.
//
// # Limits
//
// Time is in proportion to the bytes of the annotations, to what is written, and
// to the names that rules can reach. An annotation has at most 500 KiB, 1,000 rules
// and 256 names of robots; what lies below one top-level directory 10,000 rules; the
// file 500 KiB. Past a bound, directories are denied and reported.
//
// The package is useful for whatever serves a tree of names, on Gopher or not. It
// does not read the file system: that is for the caller.
package policy
