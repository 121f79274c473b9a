// Package policy compiles the annotations of many authors (.robots files) into one robots.txt,
// and proves that every known kind of robot interprets it as the authors intend.
//
//	c := policy.Compile(policy.Input{Annotations: []policy.Annotation{
//		{Dir: "/~bob/", File: "~bob/.robots", Data: []byte("Disallow: /drafts/\n")},
//	}})
//	os.Stdout.Write(c.File())    // robots.txt, with "Disallow: /~bob/drafts/"
//	for _, r := range c.Reports() {
//		fmt.Println(r)       // what some robots will get wrong, by file and line
//	}
//
// # Annotations
//
// An annotation is a robots.txt whose "/" is the directory that contains it. The policy is the
// one of RFC 9309 for all annotations together, with each pattern placed below its directory: the
// longest matching pattern wins; on a tie, Allow wins. It applies to existing and future names.
// In each directory, a robot that is named gets the rules for its name, if there are any, and
// otherwise the rules for "*".
//
// Three denials cannot be undone by an Allow further down: a Disallow for a robot by name, Final,
// and selectors that programs answer. If an Allow overlaps with such a denial, the compiler
// repeats the denial in lines for the overlap ([readers.Pattern.Meeting]). If these lines would
// not be longer than the Allow, or would be too many, the Allow is dropped and reported.
//
// A selector has the policy of its canonical form: "/p" for a file, "/d/" for a directory.
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
// A reader that implements RFC 9309 and escapes selectors gets exactly the policy, for existing
// and future names. No reader gets what the policy denies, unless a [Report] says so with file
// and line. The file contains no name that no author wrote. In return, the server must answer
// spellings for which [Compiled.Closed] returns true with a link to the canonical selector.
//
// # Limits
//
// Time and memory are proportional to the size of the annotations and of the file. An
// annotation has at most 500 KiB, 1,000 rules and 600 patterns with a * before their
// end. The annotations below one top-level directory have at most 10,000 rules; the
// file has at most 500 KiB. Beyond a bound, directories are denied and reported.
//
// The package does not read the file system, and is not limited to Gopher.
package policy
