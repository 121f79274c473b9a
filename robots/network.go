package robots

// A file of the dialect [readers.IRCv3] holds ISUPPORT tokens in place of rules.

import (
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/robots/internal/ircline"
	"github.com/gophd/gophd/robots/readers"
)

// Crawler returns the preference that an [readers.IRCv3] file states, and diagnostics of
// its tokens. The file is a list of ISUPPORT tokens, separated by blanks and line
// ends, or a server's output, with tokens in 005 lines. In other dialects the
// preference is unspecified.
func (f *File) Crawler() (readers.Crawler, []diag.Diagnostic) {
	if f == nil || f.dialect != readers.IRCv3 {
		return readers.Crawler{Cooldown: readers.DefaultCooldown}, nil
	}
	return readers.ParseCrawler(texts(f.tokens())...)
}

// token is an ISUPPORT token of an [readers.IRCv3] file.
type token struct {
	text string
	line int
}

func (f *File) tokens() (all []token) {
	for l := range f.Lines() {
		text := strings.Trim(l.Text, "\r\n")
		line := ircline.Tokens(text)
		if line == nil {
			line = ircline.Split(text)
		}
		for _, t := range line {
			all = append(all, token{t, l.Number})
		}
	}
	return all
}

func texts(tokens []token) (all []string) {
	for _, t := range tokens {
		all = append(all, t.text)
	}
	return all
}

// crawlerToken returns the token that holds after all others, which is zero if there
// is none.
func (f *File) crawlerToken() (held token) {
	for _, t := range f.tokens() {
		switch name, value, _ := strings.Cut(t.text, "="); {
		case strings.EqualFold(name, "-"+readers.CrawlerToken):
			held = token{}
		case strings.EqualFold(name, readers.CrawlerToken) && value != "":
			held = t
		}
	}
	return held
}

// hasCrawler reports whether an [readers.IRCv3] file has a CRAWLER token.
func (f *File) hasCrawler() bool {
	return slices.ContainsFunc(f.tokens(), func(t token) bool {
		name, _, _ := strings.Cut(t.text, "=")
		return strings.EqualFold(name, readers.CrawlerToken)
	})
}

// networkRules returns the rules of an [readers.IRCv3] file: the preference of the network
// binds every robot, for every selector. Only index:allow is a permission.
func (f *File) networkRules() *Rules {
	r := f.rulesOf(Unspecified)
	c, _ := f.Crawler()
	if c.Index != readers.IndexUnspecified {
		r.reason = NetworkToken
	}
	r.closed = c.Index != readers.IndexAllow
	return r
}
