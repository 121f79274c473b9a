// Package prooftest is the policy once more, straight from its definition and
// with no cleverness: every annotation on the way to a resource is read line by
// line, and each pattern is tried at each place. Tests draw trees with it and compare
// the compiler and the proof with it.
package prooftest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Dir is a directory of a tree; equal pointers stand for the same content.
type Dir struct {
	Name  string
	Files []string
	Dirs  []*Dir
	Text  string // of its annotation; "" if it has none
	Err   error  // why that cannot be read
}

// File is the name of the directory's annotation, given its selector.
func File(dir string) string { return dir[1:] + ".robots" }

// A Rule is a line of an annotation.
type Rule struct {
	Allow bool
	File  string
	Line  int // 0: the annotation cannot be read

	final, named bool
	pattern      string // put below its directory, in URI form
	depth        int
}

// Slashed reports whether the pattern begins with a star between slashes: it is
// not written for selectors without a leading slash.
func (r *Rule) Slashed() bool {
	return r != nil && strings.HasPrefix(strings.TrimLeft(strings.TrimPrefix(r.pattern, "/"), "*"), "/")
}

// InEscape reports whether the rule matches a selector only because a star of it
// ends inside of an escape, as that of "/*9" in "/%C3%A9".
func InEscape(path []*Dir, robot, sel string) bool {
	letters := func(s string) string {
		return escapes.ReplaceAllStringFunc(s, func(e string) string {
			var c byte
			_, _ = fmt.Sscanf(e, "%%%02X", &c)
			return string(0x800 + rune(c)) // of three bytes, too: the longest pattern decides
		})
	}
	rules := rulesFor(path, robot)
	for i := range rules {
		rules[i].pattern = letters(rules[i].pattern)
	}
	return !decide(rules, letters(Escape(sel))).Denied()
}

var escapes = regexp.MustCompile(`%[0-9A-F]{2}`)

// Denied reports whether a rule denies. Where none matches, all is allowed.
func (r *Rule) Denied() bool { return r != nil && !r.Allow }

// Decide returns the rule that decides whether a robot may fetch a canonical
// selector, nil if there is none. The directories on the way are those of path,
// the root first; the robot is "*" or a name in lower case.
func Decide(path []*Dir, robot, sel string) *Rule {
	return decide(rulesFor(path, robot), Escape(sel))
}

func decide(rules []Rule, uri string) *Rule {
	limit := 1 << 30
	for _, f := range rules {
		if f.final && f.depth < limit && Match(f.pattern, uri) &&
			longest(rules, uri, func(r Rule) bool { return r.depth == f.depth }).Denied() {
			limit = f.depth
		}
	}
	return longest(rules, uri, func(r Rule) bool { return !r.Allow || r.depth <= limit })
}

func longest(rules []Rule, uri string, counts func(Rule) bool) *Rule {
	var best *Rule
	for i := range rules {
		r := &rules[i]
		if r.Line == 0 {
			return r
		}
		if r.final || !counts(*r) || !Match(r.pattern, uri) {
			continue
		}
		if best == nil || len(r.pattern) > len(best.pattern) || len(r.pattern) == len(best.pattern) && r.Allow && !best.Allow {
			best = r
		}
	}
	return best
}

// rulesFor returns what the annotations on the way say to a robot.
func rulesFor(path []*Dir, robot string) (rules []Rule) {
	base := "/"
	for depth, d := range path {
		if depth > 0 {
			base += d.Name + "/"
		}
		if d.Err != nil {
			rules = append(rules, Rule{File: File(base), depth: depth})
		}
		own, named := read(d.Text, robot)
		for _, r := range own {
			r.File, r.named, r.depth = File(base), named, depth
			value := r.pattern
			for _, decode := range []bool{true, false} {
				if decode || !r.Allow && !r.final && strings.Contains(value, "%") {
					r.pattern = Escape(base[:len(base)-1]) + uriForm(value, decode)
					rules = append(rules, r)
				}
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(rules), func(r Rule) bool { return void(rules, r) })
}

// void reports whether an Allow for all opens what rules above deny by name.
func void(rules []Rule, w Rule) bool {
	if !w.Allow || w.named {
		return false
	}
	head, _, _ := strings.Cut(strings.TrimSuffix(w.pattern, "$"), "*")
	var above []Rule
	for _, r := range rules {
		if r.named && r.Line > 0 && r.depth < w.depth && !strings.HasSuffix(r.pattern, "$") {
			above = append(above, r)
		}
	}
	return longest(above, head, func(Rule) bool { return true }).Denied()
}

// read returns the rules of an annotation for a robot, and whether they are its own.
func read(text, robot string) (rules []Rule, named bool) {
	list, named := linesFor(text, robot, func(field, value string) bool {
		return field == "Allow" || field == "Disallow" || field == "Final" && strings.TrimSpace(value) != ""
	})
	for _, l := range list {
		if l.value != "" {
			rules = append(rules, Rule{Allow: l.field == "Allow", final: l.field == "Final", pattern: l.value, Line: l.number})
		}
	}
	return rules, named
}

type line struct {
	field, value string
	number       int
}

// linesFor returns the lines of an annotation that count for a robot: its own if it
// has any, else those for all.
func linesFor(text, robot string, counts func(field, value string) bool) (list []line, named bool) {
	var own []line
	names, ended := []string{"*"}, true
	number := 0
	for text := range strings.SplitSeq(text, "\n") {
		number++
		field, value, _ := strings.Cut(text, ": ")
		switch field {
		case "User-agent":
			if ended {
				names, ended = nil, false
			}
			names = append(names, agents(value)...)
			continue
		case "Allow", "Disallow", "Final", "Content-Usage":
			ended = true
		}
		if l := (line{field, value, number}); counts(field, value) {
			if slices.Contains(names, "*") {
				list = append(list, l)
			}
			if robot != "*" && slices.Contains(names, robot) {
				own = append(own, l)
			}
		}
	}
	if own != nil {
		return own, true
	}
	return list, false
}

var token = regexp.MustCompile(`^[a-z_-]+$`)

// agents are the robots of a User-agent line, in lower case. What is no product
// token names nobody.
func agents(value string) (names []string) {
	for word := range strings.SplitSeq(strings.ToLower(value), ", ") {
		if word, _, _ = strings.Cut(word, "/"); word == "*" || token.MatchString(word) {
			names = append(names, word)
		}
	}
	return names
}

// uriForm escapes a pattern, with its own escapes decoded or taken as they are
// written. An escaped slash is no slash: no name has one.
func uriForm(pattern string, decode bool) string {
	if pattern[0] != '/' {
		pattern = "/" + pattern
	}
	body, whole := strings.CutSuffix(pattern, "$")
	parts := strings.Split(body, "*")
	for i, part := range parts {
		parts[i] = ""
		for part != "" {
			var c byte
			if decode && len(part) >= 3 && part[0] == '%' && strings.Trim(part[1:3], "0123456789abcdefABCDEF") == "" {
				_, _ = fmt.Sscanf(part[:3], "%%%2x", &c)
				if part = part[3:]; c == '/' {
					parts[i] += "%2F"
					continue
				}
			} else {
				c, part = part[0], part[1:]
			}
			parts[i] += Escape(string([]byte{c}))
		}
	}
	body = strings.Join(parts, "*")
	if whole {
		body += "$"
	}
	return body
}

// Escape returns the URI form of a selector.
func Escape(s string) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!&'()+,;=:@/"
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(plain, s[i]) >= 0 {
			b.WriteByte(s[i])
		} else {
			_, _ = fmt.Fprintf(&b, "%%%02X", s[i])
		}
	}
	return b.String()
}

// Match reports whether a pattern matches a selector, both in URI form. It tries every
// length for every star.
func Match(p, s string) bool {
	switch {
	case p == "":
		return true
	case p == "$":
		return s == ""
	case p[0] == '*':
		for p != "" && p[0] == '*' {
			p = p[1:]
		}
		for i := range len(s) + 1 {
			if Match(p, s[i:]) {
				return true
			}
		}
		return false
	}
	return s != "" && p[0] == s[0] && Match(p[1:], s[1:])
}
