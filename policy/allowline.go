package policy

import "strings"

// An Allow line of the file is an exception to a Disallow line of it. It comes
// from the Allow that decides for its selector or, where none does, since it is
// only rescued from a line that bars too much, from what that line comes from.
// This is found out when somebody asks.

// allowSource tells where an Allow line comes from.
func (c *Compiled) allowSource(l source) source {
	sel := slashed(unescape(strings.TrimSuffix(l.allow, "$")))
	for _, sel := range []string{sel, sel + "/"} { // a file's, or a directory's without its slash
		if by, _ := c.deciding(l.token, sel); by != nil && by.allow {
			return source{file: by.file, line: by.line}
		}
	}
	var from source
	longest := -1
	for _, s := range c.sources {
		begin, _, _ := strings.Cut(slashed(strings.TrimSuffix(s.deny, "$")), "*")
		if s.token == l.token && s.deny != "" && len(begin) > longest && strings.HasPrefix(slashed(l.allow), begin) {
			from, longest = s, len(begin)
		}
	}
	return from
}

// slashed gives both families of spellings one form.
func slashed(s string) string { return "/" + strings.TrimPrefix(s, "/") }

// unescape takes back what escape has done.
func unescape(s string) string {
	var b []byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' {
			if v, ok := escaped(s[i:]); ok && (v >= 0x80 || strings.IndexByte(" #*$", v) >= 0) {
				c = v
				i += 2
			}
		}
		b = append(b, c)
	}
	return string(b)
}
