package sites

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// Fault is a way in which a robots.txt can be wrong. Spoil returns the file that a
// compiler with the fault would write for a site; right is a correct compiler. If the
// site has nothing to spoil, the file may be right.
type Fault struct {
	Name  string
	Spoil func(rnd *rand.Rand, s Site, right func(Site) string) string
}

// Faults lists the faults that a proof must find.
var Faults = []Fault{
	{"a Disallow is dropped", lines(`^Disallow: `, "")},
	{"an Allow is dropped", lines(`^Allow: `, "")},
	{"Allow is written for Disallow", lines(`^Disallow: `, "Allow: ")},
	{"Disallow is written for Allow", lines(`^Allow: `, "Disallow: ")},
	{"an Allow wins a tie", lines(`^Disallow: (.*)`, "Disallow: $1\nAllow: $1")},
	{"an Allow is longer", lines(`^Disallow: (.*)`, "Disallow: $1\nAllow: $1*")},
	{"a rule reaches out of its directory", lines(`^Disallow: (/.*/)[^/]+`, "Disallow: $1")},
	{"an Allow reaches out of its directory", lines(`^Allow: (/.*/)[^/]+`, "Allow: $1")},
	{"a pattern loses its end", lines(`\$$`, "")},
	{"a star is taken for a name", lines(`llow: (.*)\*`, "llow: ${1}q")},
	{"a star is taken for nothing", lines(`llow: (.*)\*`, "llow: $1")},
	{"an escape is lost", lines(`%([0-9A-F]{2})`, "%25$1")},
	{"no rule is written", all(`(?m)^(Disa|A)llow: /.*
`, "")},
	{"a reader without Allow is told nothing of its own",
		all(`(?ms)^User-agent: (veronica|gopher-strict)\n.*?(\n\n|\z)`, "")},
	{"a robot's own group is forgotten", lines(`^User-agent: [^*]*$`, "User-agent: zzbot")},
	{"a group is everybody's", lines(`^User-agent: [^*]+$`, "User-agent: *")},
	{"a preference is forgotten", lines(`^Content-Usage: `, "")},
	{"a preference permits more", lines(`=n`, "=y")},
	{"a preference is everybody's", lines(`^Content-Usage: /\S+`, "Content-Usage: /")},
	{"a name that nobody denied", func(rnd *rand.Rand, s Site, right func(Site) string) string {
		return strings.Replace(right(s), "User-agent: *\n",
			"User-agent: *\nDisallow: /"+s.Names[rnd.IntN(len(s.Names))][:1]+"\n", 1)
	}},
	{"an annotation is never read", func(rnd *rand.Rand, s Site, right func(Site) string) string {
		if i := rnd.IntN(len(s.Notes) + 1); i < len(s.Notes) {
			s.Notes = slices.Delete(slices.Clone(s.Notes), i, i+1)
		}
		return right(s)
	}},
	{"one that cannot be read is taken for empty",
		func(_ *rand.Rand, s Site, right func(Site) string) string {
			s.Notes = slices.DeleteFunc(slices.Clone(s.Notes),
				func(n Note) bool { return n.Err != nil })
			return right(s)
		}},
	{"Final is ignored", each(`(?m)^Final:.*$`, "#")},
	{"Final is a Disallow", each(`(?m)^Final:`, "Disallow:")},
	{"Final in a robot's own group is ignored",
		each(`(?m)^(User-agent: [a-zA-Z].*\n(?:.*\n)??)Final:.*$`, "$1#")},
	{"a ban by name is anybody's", each(`(?m)^User-agent: (GPTBot|foo|foobot)$`, "User-agent: *")},
	{"an Allow of all counts as named",
		each(`(?m)^(Allow: .*)$`, "$1\nUser-agent: GPTBot\nUser-agent: foo\n$1\nUser-agent: *")},
	{"*x* is taken for *", each(`(?m)^User-agent: \*foo\*`, "User-agent: *")},
	{"a list is taken for its first word", each(`(?m)^User-agent: (.*?),.*$`, "User-agent: $1")},
	{"an escape in a rule is not decoded", each(`(?m)%`, "%25")},
	{"a named robot's preferences are everybody's",
		each(`(?m)^User-agent: .*\n(Content-Usage)`, "User-agent: *\n$1")},
	{"programs are not denied", func(_ *rand.Rand, s Site, right func(Site) string) string {
		s.Programs = nil
		return right(s)
	}},
	{"ties are won by a $", lines(`^Disallow: ([^*$\n]+)$`,
		"Disallow: $1\nAllow: $1\nDisallow: $1$$")},
}

// lines replaces the matches of an expression in one line of the file.
func lines(expr, with string) func(*rand.Rand, Site, func(Site) string) string {
	re := regexp.MustCompile(expr)
	return func(rnd *rand.Rand, s Site, right func(Site) string) string {
		list := strings.Split(right(s), "\n")
		var found []int
		for i, line := range list {
			if !strings.HasPrefix(line, "#") && re.MatchString(line) {
				found = append(found, i)
			}
		}
		if len(found) > 0 {
			i := found[rnd.IntN(len(found))]
			if list[i] = re.ReplaceAllString(list[i], with); with == "" &&
				strings.HasPrefix(expr, "^") {
				list = slices.Delete(list, i, i+1)
			}
		}
		return strings.Join(list, "\n")
	}
}

// all replaces the matches of an expression in the whole file.
func all(expr, with string) func(*rand.Rand, Site, func(Site) string) string {
	return func(_ *rand.Rand, s Site, right func(Site) string) string {
		return regexp.MustCompile(expr).ReplaceAllString(right(s), with)
	}
}

// each replaces the matches of an expression in the annotations.
func each(expr, with string) func(*rand.Rand, Site, func(Site) string) string {
	re := regexp.MustCompile(expr)
	return func(_ *rand.Rand, s Site, right func(Site) string) string {
		s.Notes = slices.Clone(s.Notes)
		for i := range s.Notes {
			s.Notes[i].Data = re.ReplaceAll(s.Notes[i].Data, []byte(with))
		}
		return right(s)
	}
}
