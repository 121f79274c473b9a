// Package policy makes one robots.txt from the annotations of many authors, and proves
// that every kind of robot in use reads it as it is meant.
//
//	c := policy.Compile(policy.Input{Annotations: annotations})
//	serve(c.File())
//
// # Annotations
//
// An annotation is a robots.txt whose "/" is the directory it lies in. The policy is
// RFC 9309 for all of them together, each pattern put below its directory: the longest
// pattern decides, Allow on a tie, for names that exist and for names to come. A named
// robot gets each directory's rules for it; where there are none, the rules for "*". Three
// things stand above an Allow: a Disallow that names the robot, in an annotation above;
// Final, in an annotation above; and what a program answers. Such a Disallow is carried
// below an Allow that may open some of it: the compiler writes lines for the names that
// both match ([readers.Pattern.Meeting]). The Allow is struck, and does not count, if such a
// line is not longer than the Allow, or if there are too many. A selector has the policy of
// its canonical form: "/p" for a file, "/d/" for a directory.
//
// # From annotations to file
//
// Compile is a function of the annotations: it sees no tree and no names. Three lines of
// ~bob/.robots on their way (the example of this package runs them):
//
//	1 Disallow: /drafts/
//	2 Allow: /drafts/about.txt
//	3 Disallow: /*.zip$
//
//	[]Annotation
//	   │ Compile        compile.go   the whole way
//	   ▼
//	[]*note ─────────── note.go      groups of rules, each pattern below its directory:
//	   │                pattern.go   "/~bob/*.zip$" in three forms; what patterns match
//	   │                field.go     preferences, fields of the whole site
//	   │ classesOf      class.go     robots that are treated alike; here "*" alone
//	   ▼
//	[]*class
//	   │ compose        compose.go   rules that count for them: what stands above an Allow
//	   │                             is carried below it, or strikes it
//	   ▼
//	[]*composition ◄────────────────────────────────────────────────────────────┐
//	   │ sectionsOf     file.go      lines: "/~bob/*.zip$"; and a group for     │
//	   │                             weak readers: "/~bob/*.zip"                │
//	   │ join, coarsen  share.go     too large? directories share groups, and   │
//	   │                             what takes too much is denied ─────────────┤
//	   ▼                                                                        │
//	File                                                                        │
//	   │ prove          prove.go     package proof reads annotations and file   │
//	   │                             by itself: a leak that no report names? ───┘
//	   ▼
//	*Compiled           report.go    package lint says what is wrong with a line;
//	                                 line 3: readers without * fetch a.zip (GLOB);
//	                                 line 2: readers without Allow lose it (OVER-BLOCK)
//	                    verdict.go   what the server asks: DeniedToAll, Closed, Explain
//
// # Guarantee
//
// A reader of RFC 9309 that escapes selectors gets exactly the policy, now and for names
// to come. No reader is let in where the policy denies it, unless a [Report] has said so
// with file and line. The file publishes no name that no author wrote. The server must
// answer the spellings that [Compiled.Closed] names with a pointer to the canonical
// selector.
//
// # Limits
//
// Time and memory are proportional to the size of the annotations and of the file. An
// annotation has at most 500 KiB, 1,000 rules and 600 patterns with a * before their
// end. The annotations below one top-level directory have at most 10,000 rules; the
// file has at most 500 KiB. Beyond a bound, directories are denied and reported.
//
// The package is useful for whatever serves a tree of names, on Gopher or not. It does
// not read the file system: that is for the caller.
package policy
