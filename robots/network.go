package robots

import "strings"

// network is what an IRCv3 file says: the preference of the whole network, for
// every robot and whatever is asked for.
type network struct {
	crawler Crawler
	there   bool // there is a CRAWLER token
	found   []Diagnostic
}

// Crawler gives the preference that an [IRCv3] file states, and what is odd in
// it. The file is a list of ISUPPORT tokens, separated by blanks and line ends,
// or what a server sent: of 005 lines the tokens count. In other dialects it is
// unspecified.
func (f *File) Crawler() (Crawler, []Diagnostic) {
	if f == nil || f.dialect != IRCv3 {
		return Crawler{Cooldown: DefaultCooldown}, nil
	}
	n := f.network()
	return n.crawler, n.found
}

func (f *File) network() network {
	var n network
	var tokens []string
	for l := range f.Lines() {
		text := strings.Trim(l.Text, "\r\n")
		line := ISupportTokens(text)
		if line == nil {
			line = splitBlanks(text)
		}
		tokens = append(tokens, line...)
	}
	for _, token := range tokens {
		name, _, _ := strings.Cut(token, "=")
		n.there = n.there || strings.EqualFold(name, "CRAWLER")
	}
	n.crawler, n.found = ParseCrawler(tokens...)
	return n
}

func (n network) rules(f *File) *Rules {
	r := f.rulesOf(NoGroup)
	if n.crawler.Index != IndexUnspecified {
		r.reason = NetworkToken
	}
	r.closed = n.crawler.Index == IndexDeny
	return r
}

// lintToken reports on an IRCv3 file.
func (f *File) lintToken() []Diagnostic {
	_, found := f.Crawler()
	if f != nil && !f.present && f.text != "" {
		found = append(found, Diagnostic{Code: "absent", ID: "I2", Message: "no CRAWLER token: nothing is said"})
	}
	return found
}
