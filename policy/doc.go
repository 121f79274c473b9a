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
// for names that exist and for names to come. A named robot gets each directory's
// rules for it; where there are none, the rules for "*". A resource has the policy of
// its canonical selector: "/p" for a file, "/d/" for a directory.
//
// # From annotation to file
//
// Three lines of ~bob/.robots on their way (the example of this package runs them):
//
//	1 Disallow: /drafts/
//	2 Allow: /drafts/about.txt
//	3 Disallow: /*.zip$
//
//	Compile             compile.go     the whole way
//	   │ grow           tree.go        nodes: directories with annotations; unchanged ones are reused
//	   │ readNote       annotation.go  rules: each pattern below its directory, "/~bob/*.zip$"
//	   │                pattern.go     in three forms; without what weak readers do not know: "/~bob/*.zip"
//	   │                field.go       fields of the whole site, preferences
//	   ▼
//	rules ◄───────────────────────────────────────────────────────────────────────────────┐
//	   │ classes        class.go       robots that are treated alike; here "*" alone      │
//	   │ compose        compose.go     which rules hold for them: named robots, Final     │
//	   │ simplify       line.go        rules that change nothing are dropped              │
//	   │ lines          line.go        both families: "/~bob/*.zip$" and "~bob/*.zip$"    │
//	   │ sections       write.go       and a group for weak readers, without the Allow    │
//	   │ coarsen        share.go       too large? what takes too much is denied ──────────┤
//	   ▼                                                                                  │
//	file                                                                                  │
//	   │ prove          prove.go       package proof reads annotations and file           │
//	   │                               by itself: a leak without a reason? ───────────────┘
//	   ▼ explain        explain.go     its directory is denied; the reasons:
//	Compiled            report.go      line 3: readers without * fetch a.zip (GLOB);
//	                                   line 2: readers without Allow lose it (OVER-BLOCK)
//	                    tree.go        rules that match nothing now (NO-MATCH)
//	                    verdict.go     what the server asks: Denied, Closed, Explain
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
