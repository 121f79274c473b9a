// Package robots reads robots.txt files and answers what a robot may fetch:
//
//	f, err := robots.ParseReader(robots.RFC9309, body, 0)
//	// ...
//	if d := f.Decide("mybot", "/phlog/drafts/"); !d.Allowed {
//		log.Print(d.Rule.Line, d.Rule.Pattern, d.Reason)
//	}
//
// An author of a robot needs eight names:
//
//	Parse, ParseReader     read a file, in a [Dialect]
//	File.Allowed, Decide   answer for one robot and one selector, Decide with the reason
//	File.Agent             the [Rules] of one robot, for many questions
//	File.Usage             what may be done with a page: search, training (Content-Usage)
//	File.CrawlDelay        the time to leave between two requests
//	File.Sitemaps          the URLs of Sitemap lines
//
// All else is for tools. Packages below fetch and keep the files of hosts, and wait as
// these ask (robots/client); report lines without effect (robots/lint); write one
// standard in another (robots/convert); model programs in use (robots/readers); ask IRC
// networks (robots/irc); and hold test cases for other parsers (robots/kit).
//
// A robots file is a request, not a lock: what must not be read must not be
// served. The package links nothing of the network.
//
// # Words
//
// The terms follow RFC 9309. A robot is named by its product token: the first word
// of its User-agent, without version. A group is one or more User-agent lines and the
// rules below them. A rule is an Allow, Disallow or Content-Usage line; its value is a
// pattern. The crawl delay is the time that a Crawl-delay line asks for between two
// requests. Whether a file could be fetched, is not there, or cannot be had is the
// fetch status (robots/client, Access). A selector names a document: bytes on
// Gopher, path and query of a URL on the web.
//
// G1, R5 and the like in the documentation are requirements of the texts. They are
// listed in https://github.com/gophd/gophd/blob/main/doc/requirements.md.
//
// For those who know github.com/temoto/robotstxt: TestAgent is [File.Allowed],
// FindGroup is [File.Agent], FromResponse is in robots/client, Sitemaps is
// [File.Sitemaps], CrawlDelay is [File.CrawlDelay]. OneAgentAllowedByRobots of
// google/robotstxt is Parse(RFC9309, body).Allowed(agent, url).
//
// # Dialects
//
// All seven are a [File] with the same methods. What each can say:
//
//	dialect        rules            patterns              groups        fields
//	Gopher         Disallow         prefix with *         honoured      any
//	GopherStrict   Disallow         prefix with *         bind everyone any
//	Veronica2      Disallow         same; /p/ covers /p   honoured      any
//	RFC9309        Allow, Disallow  prefix with *, $ ends combined      any
//	Standard1994   Disallow         plain prefix          first record  none
//	Extended 1.0   Allow, Disallow  plain prefix          first set     any
//	Extended 2.0   Allow, Disallow  the whole path, *     first set     any
//	IRCv3          all or nothing   none                  none          cooldown
//
// Where a text is silent or contradicts itself, this is what was chosen, and why:
//
//   - Everywhere: the longest pattern decides and Allow wins a tie, since file
//     order, the alternative, makes the meaning of a rule depend on its neighbours.
//     NUL ends a line. An empty pattern is no rule. UTF-16 with a byte order mark is
//     read. "*Word*" names no robot.
//   - [Gopher]: the text says that every Disallow line counts, and knows no other
//     keyword. The robots in use honour groups, and files are written for them, so
//     groups are honoured where there are User-agent lines. Lines before the first
//     bind everyone, as the text wants. [GopherStrict] is the letter. A file that uses
//     Allow or a final $ was written for RFC9309; robots/client reads it so.
//     Selectors are bytes, so nothing is decoded. Keys are taken without case,
//     and blanks before them, because to honour too much is the safer mistake.
//   - [Veronica2]: what its author documents. Whether its own group replaces the *
//     group is not said; it is taken to.
//   - [RFC9309]: the length of a pattern is measured in its normal form (R6). A robot's
//     name is compared as a whole word, digits and all, though the grammar knows
//     no digits: names like MJ12bot are in use. A group of only Crawl-delay joins
//     the next one, by the letter; package lint says so. Common misspellings of
//     User-agent and Disallow, and a missing colon, count as they do for Google
//     (2.2.4; [Parser] has the letter); what opens, Allow, must be spelt right.
//   - [Standard1994]: the field must be part of the robot's name, not the name part
//     of the field, or rules for any "somebot" would bind "bot". The first
//     record that fits is taken. A blank line ends a record, so rules after it
//     belong to none. An empty Disallow beside others has no effect.
//   - [Extended]: names as in 1994, which it refers to. The text gives three orders
//     of precedence; the longest pattern satisfies 16 of the 17 statements in its
//     prose. Where Robot-version is not directly after User-agent, or is nothing
//     one can read, the set is a 1.0 one. "?" and "[" are ordinary bytes: one form
//     of wildcard is enough to implement wrongly.
//   - [IRCv3]: without a valid index nothing is said, which is no permission; of
//     contradictions the most restrictive counts.
//
// # Limits
//
// Nothing here takes more than linear space, or recurses, or uses regular
// expressions on what it reads: a file of 100,000 rules is as quick to ask as one of
// ten, and a pattern of 500 stars takes microseconds. The first question for a robot
// is answered without an index, the second makes it. README.md has the numbers. A
// [File] and its [Rules] may be used by many goroutines at once.
package robots
