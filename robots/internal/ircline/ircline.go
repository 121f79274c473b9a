// Package ircline takes lines of the IRC protocol apart.
package ircline

import "strings"

// The most parameters of an IRC message; only the last may contain blanks. A 005 line
// has a nick first and words to people last, so it has two tokens fewer.
const (
	maxParams = 15
	maxTokens = maxParams - 2
)

// Tokens returns the tokens of a 005 line, at most 13, and none of any
// other line. The words to people at its end are no tokens.
func Tokens(line string) []string {
	all := words(line)
	if len(all) < 2 || all[0] != "005" {
		return nil
	}
	return all[2:min(len(all), 2+maxTokens)]
}

// words returns the command and the middle parameters of a message, without
// its trailing parameter.
func words(line string) []string {
	command, rest := Command(line)
	middle, _, _ := strings.Cut(" "+rest, " :")
	return append([]string{command}, Split(middle)...)
}

// Split splits at blanks, the only separator of IRC.
func Split(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ' ' })
}

// Command returns the command of a message and the rest of it, without its
// tags and its source.
func Command(line string) (command, rest string) {
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
