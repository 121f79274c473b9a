package readers

import (
	"slices"
	"strings"
)

// A Reader describes how a program reads a robots file. A selector is denied if one of
// its Forms is. Of all patterns that match a form, Choice selects the one that decides.
type Reader struct {
	Name  string // short, for tables
	Note  string // which program, and what it does
	Agent string // the one robot that reads so, in lower case; "" if any may

	// Which lines bind a robot.

	Dialect   Dialect // how lines and fields are separated
	Groups    bool    // User-agent lines make groups; else every line binds every robot
	Names     Names   // which groups are a robot's own
	Exact     bool    // with Part: groups with exactly the robot's name bind in place of others that fit
	First     bool    // of groups that fit the first binds alone; else all do
	Everybody bool    // the * group binds beside a robot's own; else in place of one
	Loose     bool    // rules before the first User-agent line bind everybody
	Blank     bool    // a blank line ends a group
	Ends      Fields  // fields besides rules that end a run of User-agent lines
	Python    bool    // lines, blanks and fields are those of Python's str
	Mark      bool    // a byte order mark is a part of the first field
	Literal   bool    // no misspelt field counts, and none without a colon
	Words     bool    // a line is words: a field, its value, and so on; a colon ends the first word
	Allow     bool    // Allow lines are rules

	// What a pattern means.

	Star    bool    // * is any bytes
	EndStar bool    // without Star: a * at the end is dropped, and a pattern with another has no effect
	Dollar  bool    // $ at the end is the end
	Regexp  bool    // a pattern with * or $ is found anywhere, and is as long as its regular expression
	whole   bool    // a pattern covers the whole selector (C5)
	Below   bool    // /p/ also covers /p
	Index   bool    // an Allow of index.htm… is one of its directory, too
	Escapes Escapes // how bytes are brought to one form

	// Which pattern decides.

	Choice Choice
	Ties   Ties // which side wins between patterns that Choice takes for equal

	// What it requests.

	Forms []Form // of a selector: at least one
	Bare  bool   // a selector without a leading slash is requested unchanged; else one is added
	Typed bool   // each form also with the item type before it: "/0/p" and "0/p"
	Web   bool   // selectors are paths: the empty one is "/", and /robots.txt is always allowed
}

// Names selects the groups that are a robot's own.
type Names uint8

// How names are compared, without case.
const (
	Token         Names = iota // the product tokens are the same
	Part                       // the group's name is a part of the robot's
	Value                      // the whole value is the robot's name
	ValueOrPart                // as Value, or if no group fits so, as Part
	LongestPart                // the whole value is a part of the robot's name, and none that is one is longer
	LongestPrefix              // as LongestPart, of values that begin the robot's name
)

// Fields is which fields end a run of User-agent lines, besides rules.
type Fields uint8

// The choices.
const (
	NoField    Fields = iota
	UsageField        // Content-Usage, which is a rule to those who know it
	RateFields        // Crawl-delay and Request-rate
	AnyField
)

// Choice is which of the patterns that match decides.
type Choice uint8

// The choices.
const (
	LongestPattern Choice = iota // the one with most bytes, * and $ counted as one each
	FirstMatch                   // the first of the file
	LongestMatch                 // the one that covers most of the form
)

// Ties is the side that wins between patterns that Choice considers equal.
type Ties uint8

// The sides.
const (
	TiesAllow Ties = iota
	TiesDisallow
	TiesFirst // the first of the file
)

// All returns the known readers: a strict Gopher robot, Veronica-2, RFC 9309 by
// the letter and as Google compares (each with the selector escaped as a URI first, and
// unchanged), the standard of 1994, CPython's parser to 3.12, of 3.14 (likewise in both ways)
// and since, Scrapy's Protego, colly's temoto/robotstxt, Gemini's Kennedy, and gopher-mcp.
func All() []Reader { return slices.Clone(all) }

// Named returns the known reader of a name.
func Named(name string) (r Reader, ok bool) {
	i := slices.IndexFunc(all, func(r Reader) bool { return r.Name == name })
	if i < 0 {
		return Reader{}, false
	}
	return all[i], true
}

var all = []Reader{
	{
		Name:    "gopher-strict",
		Note:    "Robots and Gopher (2019) by the letter: every Disallow line binds every robot",
		Dialect: GopherStrict,
		Loose:   true,
		Star:    true,
		Forms:   []Form{Raw},
		Bare:    true,
	},
	{
		Name:    "veronica2",
		Note:    "Veronica-2, as its author documents it: Disallow only, /path/ also covers /path",
		Agent:   "veronica",
		Dialect: Veronica2,
		Groups:  true,
		Loose:   true,
		Star:    true,
		Below:   true,
		Forms:   []Form{Raw},
		Bare:    true,
	},
	{
		Name:    "rfc9309",
		Note:    "RFC 9309 by the letter, selectors escaped as a URI first",
		Dialect: RFC9309,
		Groups:  true,
		Allow:   true,
		Ends:    UsageField,
		Star:    true,
		Dollar:  true,
		Escapes: Letter,
		Forms:   []Form{URI},
		Bare:    true,
		Web:     true,
	},
	{
		Name:    "rfc9309-raw",
		Note:    "RFC 9309 by the letter, selectors as they are",
		Dialect: RFC9309,
		Groups:  true,
		Allow:   true,
		Ends:    UsageField,
		Star:    true,
		Dollar:  true,
		Escapes: Letter,
		Forms:   []Form{Normal},
		Bare:    true,
		Web:     true,
	},
	{
		Name:    "google",
		Note:    "google/robotstxt@22b355f, selectors escaped as a URI first",
		Dialect: RFC9309,
		Groups:  true,
		Allow:   true,
		Star:    true,
		Dollar:  true,
		Index:   true,
		Escapes: Google,
		Forms:   []Form{URI},
		Bare:    true,
		Web:     true,
	},
	{
		Name:    "google-raw",
		Note:    "google/robotstxt@22b355f, of selectors only bytes from 0x80 escaped",
		Dialect: RFC9309,
		Groups:  true,
		Allow:   true,
		Star:    true,
		Dollar:  true,
		Index:   true,
		Escapes: Google,
		Forms:   []Form{High},
		Bare:    true,
		Web:     true,
	},
	{
		Name:    "1994",
		Note:    "A Standard for Robot Exclusion: prefixes only, records end at blank lines",
		Dialect: Standard1994,
		Groups:  true,
		Names:   Part,
		First:   true,
		Blank:   true,
		Forms:   []Form{Raw},
	},
	{
		Name:    "first-match",
		Note:    "CPython to 3.12, urllib.robotparser: prefixes only, the first that matches decides",
		Dialect: RFC9309,
		Groups:  true,
		Names:   Part,
		First:   true,
		Blank:   true,
		Ends:    RateFields,
		Python:  true,
		Mark:    true,
		Literal: true,
		Allow:   true,
		Escapes: Quote,
		Choice:  FirstMatch,
		Forms:   []Form{Quoted},
		Web:     true,
	},
	{
		Name:    "first-match-3.14",
		Note:    "CPython 3.14, urllib.robotparser: as first-match, but a ? is part of a path; selectors escaped as a URI first",
		Dialect: RFC9309,
		Groups:  true,
		Names:   Part,
		First:   true,
		Blank:   true,
		Ends:    RateFields,
		Python:  true,
		Mark:    true,
		Literal: true,
		Allow:   true,
		Escapes: QuoteQuery,
		Choice:  FirstMatch,
		Forms:   []Form{RequotedURI},
		Web:     true,
	},
	{
		Name:    "first-match-3.14-raw",
		Note:    "CPython 3.14, urllib.robotparser: selectors as they are; what follows a ? has parts of its own",
		Dialect: RFC9309,
		Groups:  true,
		Names:   Part,
		First:   true,
		Blank:   true,
		Ends:    RateFields,
		Python:  true,
		Mark:    true,
		Literal: true,
		Allow:   true,
		Escapes: QuoteQuery,
		Choice:  FirstMatch,
		Forms:   []Form{Requoted},
		Web:     true,
	},
	{
		Name:    "longest-match",
		Note:    "CPython from 3.15, urllib.robotparser@055a953: the rule that matches most of the path decides; selectors escaped as a URI first",
		Dialect: RFC9309,
		Groups:  true,
		Names:   ValueOrPart,
		Ends:    RateFields,
		Python:  true,
		Mark:    true,
		Literal: true,
		Allow:   true,
		Star:    true,
		Dollar:  true,
		Escapes: Requote,
		Choice:  LongestMatch,
		Forms:   []Form{RequotedURI},
		Web:     true,
	},
	{
		Name:    "longest-match-raw",
		Note:    "CPython from 3.15, urllib.robotparser@055a953: as longest-match; selectors as they are",
		Dialect: RFC9309,
		Groups:  true,
		Names:   ValueOrPart,
		Ends:    RateFields,
		Python:  true,
		Mark:    true,
		Literal: true,
		Allow:   true,
		Star:    true,
		Dollar:  true,
		Escapes: Requote,
		Choice:  LongestMatch,
		Forms:   []Form{Requoted},
		Web:     true,
	},
	{
		Name:    "protego",
		Note:    "scrapy/protego@81f1b35, which Scrapy uses: the longest pattern as it writes it; selectors escaped as a URI first",
		Dialect: RFC9309,
		Groups:  true,
		Names:   LongestPart,
		Ends:    AnyField,
		Python:  true,
		Mark:    true,
		Allow:   true,
		Star:    true,
		Dollar:  true,
		Index:   true,
		Escapes: QuotePath,
		Forms:   []Form{Parted},
		Web:     true,
	},
	{
		Name:    "temoto",
		Note:    "temoto/robotstxt v1.1.2, which colly uses: a pattern with * or $ is found anywhere in the path",
		Dialect: RFC9309,
		Groups:  true,
		Names:   LongestPrefix,
		Ends:    RateFields,
		Words:   true,
		Allow:   true,
		Star:    true,
		Dollar:  true,
		Regexp:  true,
		Ties:    TiesFirst,
		Forms:   []Form{URI},
		Web:     true,
	},
	{
		Name:      "gemini",
		Note:      "Kennedy: prefixes only, its own group and the * group together",
		Dialect:   RFC9309,
		Groups:    true,
		Everybody: true,
		EndStar:   true,
		Forms:     []Form{Raw},
	},
	{
		Name:    "gopher-mcp",
		Note:    "cameronrye/gopher-mcp@43f5afc: Disallow only, with * and $; selectors with their item type and decoded, too",
		Agent:   "gopher-mcp",
		Dialect: RFC9309,
		Groups:  true,
		Names:   Value,
		Ends:    AnyField,
		Literal: true,
		Star:    true,
		Dollar:  true,
		Escapes: Either,
		Forms:   []Form{Raw, Decoded},
		Typed:   true,
		Web:     true,
	},
}

// Needs is a set of abilities that a rule needs a reader to have.
type Needs uint16

// The abilities that a rule may need. [NeedsOf] returns the needs of a pattern; only
// the author of the file knows the others.
const (
	NeedsStar    Needs = 1 << iota // a * with something behind it
	NeedsDollar                    // a $ at the end
	NeedsGroups                    // a group of its own for a robot that is named
	NeedsNames                     // names are compared whole: a robot whose name contains another's is not that robot
	NeedsEscapes                   // selectors are escaped as a URI before they are compared
)

// NeedsOf returns the needs of a pattern.
func NeedsOf(pattern string) (n Needs) {
	body, whole := strings.CutSuffix(pattern, "$")
	if whole {
		n |= NeedsDollar
	} else {
		body = strings.TrimRight(body, "*")
	}
	if strings.Contains(body, "*") {
		n |= NeedsStar
	}
	return n
}

// Lacks returns which of the needs the reader does not meet.
func (r Reader) Lacks(n Needs) Needs {
	quotes := r.Escapes == Quote || r.Escapes == QuoteQuery // which leaves no * and no $ in a pattern
	can := NeedsStar | NeedsDollar | NeedsGroups | NeedsNames | NeedsEscapes
	for _, not := range []struct {
		lacks bool
		need  Needs
	}{
		{!r.Star || quotes, NeedsStar}, {!r.Dollar || quotes, NeedsDollar},
		{!r.Groups || r.Everybody && r.Allow, NeedsGroups},
		{r.Names != Token && r.Names != Value, NeedsNames},
		{!slices.Equal(r.Forms, []Form{URI}), NeedsEscapes},
	} {
		if not.lacks {
			can &^= not.need
		}
	}
	return n &^ can
}

// Asks returns the selector as robots of this kind request it.
func (r Reader) Asks(selector string) string {
	if !r.Bare && !strings.HasPrefix(selector, "/") {
		return "/" + selector
	}
	return selector
}
