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
//	Parse, ParseReader     read a file, as [RFC9309] or [Gopher]
//	File.Allowed, Decide   answer for one robot and one selector, Decide with the reason
//	File.Agent             the [Rules] of one robot, for many questions
//	File.Usage             what may be done with a page: search, training (Content-Usage)
//	File.CrawlDelay        the time to leave between two requests
//	File.Sitemaps          the URLs of Sitemap lines
//
// All else is for tools. Packages below read lines and values, in the other dialects,
// too, and model programs in use (robots/readers); fetch and keep the files of hosts, and
// wait as these ask (robots/client); report lines without effect (robots/lint); write one
// standard in another (robots/convert); ask IRC networks (robots/irc); and hold test
// cases for other parsers (robots/kit).
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
// # Limits
//
// Nothing here takes more than linear space, or recurses, or uses regular
// expressions on what it reads: a file of 100,000 rules is as quick to ask as one of
// ten, and a pattern of 500 stars takes microseconds. The first question for a robot
// is answered without an index, the second makes it. README.md has the numbers. A
// [File] and its [Rules] may be used by many goroutines at once.
package robots
