package diag

import (
	"fmt"
	"slices"
	"strings"
)

// Command returns a command line for a person to type. It is the only function that
// formats commands. Each word is quoted where sh requires it. The word "--" separates options
// from names; it is omitted unless a name begins with a hyphen.
//
//	diag.Command("chmod", "o+x", "--", dir)
//
// Commands are joined as text, with && or ;.
func Command(words ...string) string {
	if i := slices.Index(words, "--"); i >= 0 && !slices.ContainsFunc(words[i+1:], isOption) {
		words = slices.Delete(slices.Clone(words), i, i+1)
	}
	var b strings.Builder
	for i, word := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(quote(word))
	}
	return b.String()
}

func isOption(word string) bool { return strings.HasPrefix(word, "-") }

// plain are the bytes that have no meaning to any shell, at any place in a word.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-:=,%+@"

// quote returns a word in the form that sh reads, on one line and in printable
// characters.
func quote(word string) string {
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	if Printable(word) == word {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}

	// A control character has no readable form inside quotes. Escape every byte that is
	// not plain, so that a shell which does not know the form finds nothing to run, and
	// hyphens, so that printf finds no option.
	var escaped strings.Builder
	for i := range len(word) {
		if c := word[i]; strings.IndexByte(plain, c) < 0 || c == '-' {
			fmt.Fprintf(&escaped, `\%03o`, c)
		} else {
			escaped.WriteByte(c)
		}
	}
	if strings.HasSuffix(word, "\n") {
		return "$'" + escaped.String() + "'" // POSIX.1-2024; $(...) drops a newline at the end
	}
	return `"$(printf '` + strings.ReplaceAll(escaped.String(), "%", "%%") + `')"`
}
