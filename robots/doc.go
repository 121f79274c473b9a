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
//	File.Allowed, Decide   decide for one robot and one selector; Decide gives the reason
//	File.Agent             the [Rules] of one robot, for repeated decisions
//	File.Usage             the permitted uses of a page: search, training (Content-Usage)
//	File.CrawlDelay        the minimum time between two requests
//	File.Sitemaps          the URLs of Sitemap lines
//
// The rest is for tools. Packages below parse lines and values of all dialects, and model
// programs in use (robots/readers); fetch and cache the files of hosts, and pace requests
// (robots/client); report lines without effect (robots/lint); convert between standards
// (robots/convert); query IRC networks (robots/irc); and contain test cases for other parsers
// (robots/kit).
//
// A robots file is a request, not access control: do not serve what must stay secret. The
// package imports no network code.
//
// # Words
//
// The terms follow RFC 9309. A robot is named by its product token: the first word
// of its User-agent, without version. A group is one or more User-agent lines and the
// rules below them. A rule is an Allow, Disallow or Content-Usage line; its value is a
// pattern. The crawl delay is the minimum time between two requests that a
// Crawl-delay line sets. The fetch status is whether a file was fetched, does not exist, or could
// not be fetched (robots/client, Access). A selector names a document: bytes on
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
// Memory is linear in the size of the file; nothing recurses or uses regular expressions on
// input. A decision takes as long with 100,000 rules as with ten, and a pattern with 500 stars
// takes microseconds. The first decision for a robot scans its rules, the second builds an index.
// README.md has the numbers. A [File] and its [Rules] may be used concurrently.
package robots
