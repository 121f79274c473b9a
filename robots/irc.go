package robots

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Index is what an IRC network says of being indexed.
type Index uint8

// The three states. Only IndexAllow is a permission; a crawler that finds
// IndexUnspecified goes by its own rules.
const (
	IndexUnspecified Index = iota
	IndexAllow
	IndexDeny
)

// String gives unspecified, allow or deny.
func (i Index) String() string {
	switch i {
	case IndexAllow:
		return "allow"
	case IndexDeny:
		return "deny"
	}
	return "unspecified"
}

// The cooldown of a token that gives none, and the longest one that is kept
// (292 years); both are whole seconds.
const (
	DefaultCooldown = time.Hour
	MaxCooldown     = math.MaxInt64 / time.Second * time.Second
)

// Crawler is the preference of an IRC network, not of one of its servers, as
// the ISUPPORT token CRAWLER gives it (IRCv3 Crawler Preference). The zero
// Crawler is unspecified.
type Crawler struct {
	Index    Index
	Cooldown time.Duration // before the next visit; with IndexDeny: before asking again
}

// String writes the token, or nothing if the preference is unspecified: a
// network says nothing by sending no token.
func (c Crawler) String() string {
	if c.Index == IndexUnspecified {
		return ""
	}
	return "CRAWLER=index:" + c.Index.String() +
		",cooldown:" + strconv.FormatInt(int64(c.Cooldown/time.Second), 10)
}

// The most parameters of an IRC message, of which the last may hold blanks,
// and with it the most tokens of a 005 line: the first parameter is a nick.
const (
	maxParams = 15
	maxTokens = maxParams - 2
)

// ISupportTokens gives the tokens of a 005 line, at most 13, and none of any
// other line. The words to people at its end are no tokens.
func ISupportTokens(line string) []string {
	words := ircWords(line)
	if len(words) < 2 || words[0] != "005" {
		return nil
	}
	return words[2:min(len(words), 2+maxTokens)]
}

// ircWords gives the command and the middle parameters of a message, without
// its trailing parameter.
func ircWords(line string) []string {
	command, rest := ircCommand(line)
	middle, _, _ := strings.Cut(" "+rest, " :")
	return append([]string{command}, splitBlanks(middle)...)
}

// splitBlanks splits at blanks, the only separator of IRC.
func splitBlanks(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ' ' })
}

// ircCommand gives the command of a message and the rest of it, without its
// tags and its source.
func ircCommand(line string) (command, rest string) {
	line = strings.TrimRight(line, "\r\n")
	for _, mark := range []string{"@", ":"} {
		if strings.HasPrefix(line, mark) {
			_, line, _ = strings.Cut(line, " ")
			line = strings.TrimLeft(line, " ")
		}
	}
	command, rest, _ = strings.Cut(line, " ")
	return command, strings.TrimLeft(rest, " ")
}
