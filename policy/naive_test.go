package policy

import (
	"fmt"
	"strings"
)

// The policy, straight from its definition and with no cleverness: an oracle for
// the compiler and for the proof.

type naiveRule struct {
	allow   bool
	pattern string
}

// naiveDenied says whether the policy denies a resource to a robot. The
// directories on the way are those of path, the root first.
func naiveDenied(path []*Dir, sel, agent string) bool {
	if sel == "/robots.txt" {
		return false
	}
	denied, longest := false, -1
	at := ""
	for i, d := range path {
		if i > 0 {
			at += "/" + d.Name
		}
		for _, a := range d.Notes {
			if a.Err != nil || len(a.Data) > maxAnnotation {
				return true
			}
		}
		for _, r := range naiveRules(d, agent) {
			if !naiveMatch(r.pattern, naiveNormal(sel[len(at):])) {
				continue
			}
			n := len(naiveNormal(at)) + len(r.pattern)
			if n > longest || n == longest && r.allow {
				denied, longest = !r.allow, n
			}
		}
	}
	return denied
}

// naiveRules gives what the annotations of a directory say to a robot. It reads
// the plain texts of the tests only.
func naiveRules(d *Dir, agent string) []naiveRule {
	rules := map[string][]naiveRule{"*": nil}
	for _, a := range d.Notes {
		current, ended := []string{"*"}, true
		for text := range strings.SplitSeq(string(a.Data), "\n") {
			text, _, _ = strings.Cut(text, "#")
			field, value, ok := strings.Cut(text, ":")
			if !ok {
				continue
			}
			value = strings.TrimSpace(value)
			switch strings.ToLower(strings.TrimSpace(field)) {
			case "user-agent":
				if ended {
					current, ended = nil, false
				}
				current = append(current, strings.ToLower(value))
			case "allow", "disallow":
				ended = true
				for _, name := range current {
					rules[name] = append(rules[name], naiveRule{})
					if value != "" {
						allow := strings.EqualFold(strings.TrimSpace(field), "allow")
						rules[name] = append(rules[name], naiveRule{allow, naivePattern(value)})
					}
				}
			}
		}
	}
	list := rules["*"]
	if own, ok := rules[agent]; ok {
		list = own
	}
	var said []naiveRule
	for _, r := range list {
		if r.pattern != "" {
			said = append(said, r)
		}
	}
	return said
}

func naivePattern(p string) string {
	if p[0] != '/' && p[0] != '*' {
		p = "/" + p
	}
	body, anchored := strings.CutSuffix(p, "$")
	parts := strings.Split(body, "*")
	for i := range parts {
		parts[i] = naiveNormal(parts[i])
	}
	body = strings.Join(parts, "*")
	if anchored {
		body += "$"
	}
	return body
}

func naiveNormal(s string) string {
	const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		var c byte
		if n, err := fmt.Sscanf(s[i:min(len(s), i+3)], "%%%2x", &c); s[i] == '%' && n == 1 && err == nil && i+3 <= len(s) &&
			strings.Trim(s[i+1:i+3], "0123456789abcdefABCDEF") == "" {
			i += 2
			if strings.IndexByte(unreserved, c) >= 0 {
				b.WriteByte(c)
			} else {
				fmt.Fprintf(&b, "%%%02X", c)
			}
			continue
		}
		if strings.IndexByte(unreserved+":/?[]@!&'()+,;=%", s[i]) >= 0 {
			b.WriteByte(s[i])
		} else {
			fmt.Fprintf(&b, "%%%02X", s[i])
		}
	}
	return b.String()
}

// naiveMatch tries every length for every star.
func naiveMatch(p, s string) bool {
	switch {
	case p == "":
		return true
	case p == "$":
		return s == ""
	case p[0] == '*':
		for i := range len(s) + 1 {
			if naiveMatch(p[1:], s[i:]) {
				return true
			}
		}
		return false
	}
	return s != "" && p[0] == s[0] && naiveMatch(p[1:], s[1:])
}
