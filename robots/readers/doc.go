// Package readers has the dialects of robots files, their lines, names, times and
// patterns, and models how programs in use read a file of a Gopher server:
//
//	for _, r := range readers.All() {
//		fmt.Println(r.Name, r.Read(file).Allowed("mybot", "/phlog/drafts/"))
//	}
//
// A reader is a row of abilities. For a program that no row describes, fill in a
// [Reader] of your own; all functions of this package accept it.
//
//	file ─ group.go: lines, groups, the rules that bind a robot ─┐
//	value of a rule ─ pattern.go: what it compares ──────────────┼─ reading.go: Allowed
//	selector ─ pattern.go: Form ─────────────────────────────────┘
//
// # Dialects
//
// All are a robots.File with the same methods. What each can express:
//
//	dialect        rules            patterns              groups        fields
//	Gopher         Disallow         prefix with *         honoured      any
//	GopherStrict   Disallow         prefix with *         bind everyone any
//	Veronica2      Disallow         same; /p/ covers /p   honoured      any
//	RFC9309        Allow, Disallow  prefix with *, $ ends combined      any
//	Standard1994   Disallow         plain prefix          first record  none
//	Extended 1.0   Allow, Disallow  plain prefix          first set     any
//	Extended 2.0   Allow, Disallow  the whole path, *     first set     any
//	Gemini         Disallow         plain prefix          combined      none
//
// A dialect is a row, too: see [Dialect.Reader].
//
// Where a text is silent or contradicts itself, this is what was chosen, and why:
//
//   - Everywhere: the longest pattern decides and Allow wins a tie, since file
//     order, the alternative, makes the meaning of a rule depend on its neighbours.
//     NUL ends a line. An empty pattern is no rule. UTF-16 with a byte order mark is
//     read. "*Word*" names no robot.
//   - [Gopher]: by the text every Disallow line counts, and there is no other
//     keyword. The robots in use honour groups, and files are written for them, so
//     groups are honoured where there are User-agent lines. Lines before the first
//     bind everyone, as in the text. [GopherStrict] is the letter. A file that uses
//     Allow, a final $ or escapes was written for RFC9309; robots/client reads it so.
//     Selectors are bytes, so nothing is decoded. Keys are taken without case,
//     and blanks before them, because to honour too much is the safer mistake.
//   - [Veronica2]: what its author documents, which leaves open whether its own group
//     replaces the * group; here it does.
//   - [RFC9309]: the length of a pattern is measured in its normal form (R6). A robot's
//     name is compared as a whole word, digits and all, though the grammar knows
//     no digits: names like MJ12bot are in use. A group of only Crawl-delay joins
//     the next one, by the letter; package lint reports it. Common misspellings of
//     User-agent and Disallow, and a missing colon, count as they do for Google
//     (2.2.4; robots.Parser has the letter); Allow, which opens, must be spelt right.
//   - [Standard1994]: the field must be part of the robot's name, not the name part
//     of the field, or rules for any "somebot" would bind "bot". A record that is
//     the robot's name is taken, else the first that fits. A blank line ends a record, so rules after it
//     belong to none. An empty Disallow beside others has no effect.
//   - [Extended]: names as in 1994, which it refers to. The text gives three orders
//     of precedence; the longest pattern satisfies 16 of the 17 statements in its
//     prose. Where Robot-version is not directly after User-agent, or is malformed,
//     the set is a 1.0 one. "?" and "[" are ordinary bytes: one form
//     of wildcard is enough to implement wrongly.
//   - [Gemini]: the text names virtual agents, which a robot obeys besides its own
//     name: robots.Robot has them as Categories, with the purpose tokens of the web.
package readers
