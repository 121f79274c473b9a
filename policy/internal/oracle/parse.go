package oracle

import (
	"regexp"
	"slices"
	"strings"
)

// sheet holds the groups of one directory.
type sheet struct {
	dir    string
	groups []group
}

// group is lines of an annotation, and the robots that they are for.
type group struct {
	star  bool
	names []string // in lower case
	rules []*rule
}

// rule is a line; its pattern includes the directory.
type rule struct {
	allow, final bool
	usage        map[string]string // of a preference
	text         string            // "": it matches nothing
	dir, file    string
	line         int
}

// count returns the lines of a kind that count for a robot: its own, or else the
// general ones.
func (s sheet) count(robot string, kind func(*rule) bool) (own bool, list []*rule) {
	var all []*rule
	for _, g := range s.groups {
		for _, r := range g.rules {
			if !kind(r) {
				continue
			}
			if g.star {
				all = append(all, r)
			}
			if slices.Contains(g.names, robot) {
				own, list = true, append(list, r)
			}
		}
	}
	if own {
		return true, list
	}
	return false, all
}

var (
	isAgent    = regexp.MustCompile(`(?i)^user[- ]?agents?$`)
	isDisallow = regexp.MustCompile(`(?i)^d[ie]s{1,2}all?ow$`)
	finalPath  = regexp.MustCompile(`^/?([^*]*|\*.*)$`)
	list       = regexp.MustCompile(`^([a-z*][a-z0-9_.*-]*)=([a-z]+)(;[a-z]+=[a-z0-9"]+)?$`)
)

// parse reads an annotation line by line.
func parse(n Note) (groups []group) {
	at, ended := group{star: true}, true
	var exact []string // names that stand alone in a line or list
	type later struct {
		group int
		name  string
	}
	var blanks []later
	for i, text := range strings.Split(string(n.Data), "\n") {
		text, _, _ = strings.Cut(text, "#")
		field, value, colon := strings.Cut(text, ":")
		if field, value = strings.TrimSpace(field), strings.TrimSpace(value); !colon {
			continue
		}
		r := &rule{dir: n.Dir, file: n.File, line: i + 1}
		switch {
		case isAgent.MatchString(field):
			if ended {
				groups, at, ended = append(groups, at), group{}, false
			}
			for _, word := range strings.Split(value, ",") {
				switch name, whole := robotOf(word); {
				case name == "*":
					at.star = true
				case name != "" && whole:
					exact = append(exact, name)
					at.names = append(at.names, name)
				case name != "":
					blanks = append(blanks, later{len(groups), name})
				}
			}
			continue
		case strings.EqualFold(field, "Allow"):
			r.allow = true
		case strings.EqualFold(field, "Final"):
			r.final = finalPath.MatchString(value)
		case strings.EqualFold(field, "Content-Usage"):
			path := "/"
			if strings.HasPrefix(value, "/") {
				path, value, _ = strings.Cut(value, " ")
			}
			if r.usage = dictionary(strings.TrimSpace(value)); r.usage != nil {
				r.text = place(n.Dir, path)
				at.rules = append(at.rules, r)
			}
			ended = true
			continue
		case !isDisallow.MatchString(field):
			continue
		}
		if ended = true; value != "" {
			r.text = place(n.Dir, value)
		}
		at.rules = append(at.rules, r)
	}
	groups = append(groups, at)
	for _, b := range blanks {
		if !slices.Contains(exact, b.name) {
			groups[b.group].names = append(groups[b.group].names, b.name)
		}
	}
	return groups
}

var token = regexp.MustCompile(`^[A-Za-z0-9_.-]*`)

// robotOf returns the robot that a word of a User-agent line names, in lower case: "*"
// for everybody, "" for none. It is whole unless a blank stands in it.
func robotOf(word string) (name string, whole bool) {
	word = strings.TrimSpace(word)
	if strings.HasPrefix(word+" ", "* ") {
		return "*", true
	}
	return strings.ToLower(token.FindString(word)), !strings.Contains(word, " ")
}

// keys lists the keys in the table of preferences; other keys state nothing.
const keys = " search train-ai ai-use ai train-genai genai tdm bots all "

// dictionary parses a preference; nil if it is no dictionary, or states nothing.
func dictionary(value string) map[string]string {
	states := map[string]string{}
	for item := range strings.SplitSeq(value, ",") {
		m := list.FindStringSubmatch(strings.TrimSpace(item))
		if m == nil {
			return nil
		}
		if strings.Contains(keys, " "+m[1]+" ") {
			states[m[1]] = m[2]
		}
	}
	if len(states) == 0 {
		return nil
	}
	return states
}
