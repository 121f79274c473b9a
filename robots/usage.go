package robots

// Preferences about use: what a site wants to be done with what a robot may
// fetch. They are stated by Content-Usage lines, which are rules of a group
// (draft-ietf-aipref-attach and -vocab of 2026-08-19, which are to update RFC
// 9309): an optional path, and a dictionary of Structured Fields (RFC 9651).

import (
	"errors"
	"slices"
	"strings"

	"github.com/dunglas/httpsfv"
)

// Preference is what is preferred for one category of use.
type Preference uint8

// The preferences. Unstated is neither a permission nor a prohibition: what a
// robot takes it for is for its author to decide.
const (
	Unstated Preference = iota
	Yes                 // y: the use is allowed
	No                  // n: it is not
)

// String returns unstated, y or n.
func (p Preference) String() string {
	switch p {
	case Yes:
		return "y"
	case No:
		return "n"
	}
	return "unstated"
}

// Stated is the preference for one category of use.
type Stated struct {
	Key        string // of the dictionary, such as train-ai or search
	Preference Preference
	Line       int // of the Content-Usage line; 0 if the statement is no part of a file
}

// Statement is what is stated of one path, sorted by key.
type Statement []Stated

// Of returns the preference for a category of use.
func (s Statement) Of(key string) Preference {
	for _, p := range s {
		if p.Key == key {
			return p.Preference
		}
	}
	return Unstated
}

// String writes what is stated as a dictionary: "search=y, train-ai=n". That is
// the value of a Content-Usage line, and of the field of that name in HTTP.
func (s Statement) String() string {
	var all []string
	for _, p := range s {
		if p.Preference != Unstated {
			all = append(all, p.Key+"="+p.Preference.String())
		}
	}
	return strings.Join(all, ", ")
}

// Combine adds another statement about the same: of each category the most
// restrictive preference holds (draft-ietf-aipref-vocab, section 5.1).
func (s Statement) Combine(other Statement) Statement {
	all := slices.Clone(s)
	for _, o := range other {
		i := slices.IndexFunc(all, func(p Stated) bool { return p.Key == o.Key })
		switch {
		case i < 0:
			all = append(all, o)
		case o.Preference > all[i].Preference:
			all[i] = o
		}
	}
	slices.SortFunc(all, func(a, b Stated) int { return strings.Compare(a.Key, b.Key) })
	return all
}

// errUsage is why an empty statement is none.
var errUsage = errors.New("no preference is stated")

// ParseUsage reads a dictionary. Of each key the preference is Yes for the token
// y and No for n; any other value, which is no error, is Unstated. Parameters do
// not count.
func ParseUsage(value string) (Statement, error) {
	dict, err := httpsfv.UnmarshalDictionary([]string{value})
	if err != nil {
		return nil, err
	}
	var s Statement
	for _, key := range dict.Names() {
		stated := Stated{Key: key}
		member, _ := dict.Get(key)
		if item, ok := member.(httpsfv.Item); ok {
			switch item.Value {
			case httpsfv.Token("y"):
				stated.Preference = Yes
			case httpsfv.Token("n"):
				stated.Preference = No
			}
		}
		s = append(s, stated)
	}
	if s == nil {
		return nil, errUsage
	}
	slices.SortFunc(s, func(a, b Stated) int { return strings.Compare(a.Key, b.Key) })
	return s, nil
}

// Usage is as [File.Usage], for the robot of these rules.
func (r *Rules) Usage(path string) Statement {
	if r == nil || r.file == nil || !r.Allowed(path) {
		return nil
	}
	f := r.file
	syntax := f.dialect.Syntax(Version1)
	if f.dialect.Web() {
		path = pathOf(path)
	}
	if syntax.Escapes {
		path = NormalPath(path)
	}
	var stated Statement
	longest := 0
	for _, g := range r.groups {
		for _, rec := range f.members(int(g)) {
			if rec.kind() != KindUsage {
				continue
			}
			u := f.usage(rec)
			p := u.Pattern
			if syntax.Escapes {
				p = NormalPattern(p)
			}
			if len(p) < longest || p != "" && !syntax.matches(p, path) {
				continue
			}
			s, err := ParseUsage(u.Value)
			if err != nil {
				continue
			}
			for i := range s {
				s[i].Line = u.Line
			}
			if len(p) > longest {
				longest, stated = len(p), nil
			}
			stated = stated.Combine(s)
		}
	}
	return stated
}
