package selector

import (
	"bytes"
	"strings"
)

// MaxRequest is the longest request in bytes, its line end included. Gopher
// clients send less than 255 (RFC 1436, Appendix); URLs in queries are longer.
const MaxRequest = 4096

// RequestLine is one request line, taken apart.
type RequestLine struct {
	Selector string // before the first TAB, as it was sent; empty is the root
	Query    string // the words of a search; empty if there are none
	Plus     string // the Gopher+ request ("+", "$", "!"...), with its arguments; empty for other clients
}

// Line returns the first line of buf without its end, which is LF, CR LF or CR
// (some clients send LF alone). ok is false if there is none yet. A CR ends the
// line at once: the LF that may follow it is left to be drained. The line is
// part of buf.
func Line(buf []byte) (line []byte, ok bool) {
	if i := bytes.IndexAny(buf, "\r\n"); i >= 0 {
		return buf[:i], true
	}
	return buf, false
}

// Parse takes a request line apart; line is without its end. The fields are
// divided by TABs: selector, query, and Gopher+ request. A plain
// Gopher+ request has no query, so that its second field is the Gopher+ one: it
// is taken as that if it is exactly "+", "!" or "$", or begins with "+" or "$"
// and goes on with a MIME type ("+text/plain"), or with "!" or "$" and an
// attribute ("!+INFO"). The UMN client requests the root with TAB "$". A search
// for the word "+1" stays a search. Fields after the third are dropped.
//
// It returns a [*RefusedError] if a control byte is in the line (C0 or DEL) or if it
// is longer than [MaxRequest].
func Parse(line []byte) (RequestLine, error) {
	if len(line) > MaxRequest {
		return RequestLine{}, &RefusedError{TooLong}
	}
	for _, c := range line {
		if IsControl(c) && c != '\t' {
			return RequestLine{}, &RefusedError{Control}
		}
	}
	sel, rest, _ := strings.Cut(string(line), "\t")
	query, plus, _ := strings.Cut(rest, "\t")
	if isPlus(query) && plus == "" {
		query, plus = "", query
	}
	plus, _, _ = strings.Cut(plus, "\t")
	return RequestLine{Selector: sel, Query: query, Plus: plus}, nil
}

// IsRobots reports whether a selector is that of a site's robots.txt. A robot that gets an
// error in reply assumes that everything is allowed.
func IsRobots(selector string) bool {
	switch selector {
	case "robots.txt", "/robots.txt", "0/robots.txt", "/0/robots.txt":
		return true
	}
	return false
}

// isPlus reports whether a second field is a Gopher+ field and not a query.
func isPlus(s string) bool {
	switch s {
	case "":
		return false
	case "+", "!", "$":
		return true
	}
	switch s[0] {
	case '+':
		return strings.Contains(s, "/")
	case '!', '$':
		return s[1] == '+'
	}
	return false
}
