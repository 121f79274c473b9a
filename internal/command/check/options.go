package check

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gophd/gophd"
	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"
)

// The tables of moving-in.txt, option of the old server and flag of gophd, are read from
// the page: what people read is what -from does. A row is
//
//	-R /OLD=/NEW      -mount /OLD=ROOT/NEW; directories only
//
// where words in capitals are values, as they are or within an argument. Of a fixed value,
// as in GopherCgiSupport=1, the row is about no other. "without -nu" is for a server that
// has no -nu. What does not begin with a hyphen on the right is for people to read.

// former is a server that -from reads.
type former struct {
	section string // of the page
	read    func(s *former, text string) ([]setting, error)
	rows    []optionRow
}

var formers = map[string]*former{
	"gophernicus": {section: "gophernicus", read: words},
	"geomyidae":   {section: "geomyidae", read: words},
	"gophor":      {section: "gophor", read: words},
	"pygopherd":   {section: "pygopherd", read: lines},
	"motsognir":   {section: "Motsognir", read: lines},
	"spacecookie": {section: "spacecookie", read: object},
}

// ServerNames are the servers that -from knows.
func ServerNames() []string { return slices.Sorted(maps.Keys(formers)) }

// unit returns the name of the unit that listens.
func (s *former) unit() string {
	if s.section == "gophernicus" {
		return "gophernicus.socket"
	}
	return strings.ToLower(s.section) + ".service"
}

// A setting is what the old server was given.
type setting struct {
	line          int
	option, value string
}

func (s setting) String() string { return strings.TrimSpace(s.option + " " + s.value) }

// optionRow is a row of a table.
type optionRow struct {
	options []string
	value   string // "", words in capitals, or a fixed value
	flags   []string
	say     string
	without bool
}

var (
	rowLine  = regexp.MustCompile(`^    (\S.*?)(?:  +(\S.*))?$`)
	moreLine = regexp.MustCompile(`^ {16,}(\S.*)$`)
	capitals = regexp.MustCompile(`[A-Z]+`)
)

// formerNamed returns a server with the rows of the page.
func formerNamed(name string) (*former, error) {
	s := formers[strings.ToLower(name)]
	if s == nil {
		return nil, exit.Usagef(diag.Command("gophd", "check", "-from", ServerNames()[0], "FILE")+"; it knows "+strings.Join(ServerNames(), ", "), "-from does not know %q", name)
	}
	page, err := fs.ReadFile(gophd.Manual(), "moving-in.txt")
	if err != nil {
		return nil, err
	}
	_, section, _ := strings.Cut(string(page), "\n\n\n"+s.section+"\n")
	section, _, _ = strings.Cut(section, "\n\n\n")
	var found [][2]string
	row := false
	for line := range strings.SplitSeq(section, "\n") {
		if m := rowLine.FindStringSubmatch(line); m != nil {
			found, row = append(found, [2]string{m[1], m[2]}), true
		} else if m := moreLine.FindStringSubmatch(line); m != nil && row {
			found[len(found)-1][1] += " " + m[1]
		} else {
			row = false
		}
	}
	s.rows = nil
	for _, f := range found {
		if right := strings.TrimSpace(f[1]); right != "" {
			s.rows = append(s.rows, parseRow(f[0], right))
		}
	}
	return s, nil
}

func parseRow(left, right string) (r optionRow) {
	left, r.without = strings.CutPrefix(left, "without ")
	for option := range strings.SplitSeq(left, ", ") {
		name, value := option, ""
		if i := strings.IndexAny(option, " ="); i > 0 {
			name, value = option[:i], strings.Trim(option[i:], " =")
		}
		r.options = append(r.options, name)
		r.value = value
	}
	r.say = right
	if right[0] != '-' {
		return r
	}
	flags, say, _ := strings.Cut(right, "; ")
	r.flags, r.say = strings.Fields(flags), say
	return r
}

// takes reports how many words of a command line belong to an option, and whether there
// is a row for it.
func (s *former) takes(option string) (n int, known bool) {
	for _, r := range s.rows {
		if slices.Contains(r.options, option) && !r.without {
			return len(strings.Fields(r.value)), true
		}
	}
	return 0, false
}

// values returns what a row's words in capitals stand for in a value; nil if the row is
// not for that value.
func (r optionRow) values(value string) map[string]string {
	if !capitals.MatchString(r.value) {
		if r.value != "" && !strings.EqualFold(r.value, value) {
			return nil
		}
		return map[string]string{}
	}
	names := capitals.FindAllString(r.value, -1)
	pattern := capitals.ReplaceAllLiteralString(regexp.QuoteMeta(strings.TrimSuffix(r.value, "/")), "(.+?)")
	m := regexp.MustCompile("^" + pattern + "$").FindStringSubmatch(strings.TrimSuffix(value, "/"))
	if m == nil {
		return nil
	}
	found := map[string]string{}
	for i, name := range names {
		found[name] = m[i+1]
	}
	return found
}

var (
	assigned   = regexp.MustCompile(`^\s*(?:export\s+)?\w+\s*=\s*`)
	listens    = regexp.MustCompile(`^\s*ListenStream\s*=\s*(?:(.*):)?(\d+)\s*$`)
	optionWord = regexp.MustCompile(`^--?[A-Za-z0-9]`)
	shellWord  = regexp.MustCompile(`(?:[^\s"']|"[^"]*"|'[^']*')+`)
)

// words reads options of a command line: of /etc/default, a unit, xinetd, inetd.conf or a
// script of rc.d.
func words(s *former, text string) (all []setting, err error) {
	text = strings.ReplaceAll(text, "\\\n", " ")
	for i, line := range strings.Split(text, "\n") {
		if m := listens.FindStringSubmatch(line); m != nil {
			all = append(all, setting{i + 1, "ListenStream", strings.TrimPrefix(m[1]+":"+m[2], ":")})
			continue
		}
		value := assigned.ReplaceAllString(line, "")
		if strings.HasPrefix(strings.TrimSpace(line), "#") || value == line && !strings.Contains(line, strings.ToLower(s.section)) {
			continue
		}
		if quote := value; len(quote) > 1 && (quote[0] == '"' || quote[0] == '\'') && strings.HasSuffix(strings.TrimSpace(quote), quote[:1]) {
			value = strings.Trim(strings.TrimSpace(quote), quote[:1])
		}
		list := shellWord.FindAllString(value, -1)
		for j, word := range list {
			list[j] = strings.NewReplacer(`"`, "", "'", "").Replace(word)
		}
		if j := slices.IndexFunc(list, func(word string) bool { return path.Base(strings.TrimRight(word, ")`;")) == s.section }); j > 0 && list[j-1][0] != '-' {
			list = list[j:] // what is before is another command's
		}
		all = append(all, s.options(list, i+1)...)
	}
	return all, nil
}

// options reads the words of one line.
func (s *former) options(list []string, line int) (all []setting) {
	for len(list) > 0 {
		word := list[0]
		list = list[1:]
		if !optionWord.MatchString(word) {
			continue
		}
		option, value, joined := strings.Cut(word, "=")
		n, known := s.takes(option)
		if !known {
			option, value, joined = word, "", false
			if n, known = s.takes(word); !known && len(word) > 2 {
				if m, short := s.takes(word[:2]); short && m > 0 {
					option, value, joined, n, known = word[:2], word[2:], true, m, true
				}
			}
		}
		if joined {
			n--
		} else if !known && len(list) > 0 && list[0][0] != '-' {
			n = 1 // most likely its value
		}
		n = min(max(n, 0), len(list))
		all = append(all, setting{line, option, strings.TrimSpace(value + " " + strings.Join(list[:n], " "))})
		list = list[n:]
	}
	return all
}

// lines reads a file of NAME = VALUE lines. Indented lines go on.
func lines(_ *former, text string) (all []setting, err error) {
	for i, line := range strings.Split(text, "\n") {
		name, value, ok := strings.Cut(line, "=")
		if ok && !strings.ContainsAny(line[:1], "#; \t[") {
			all = append(all, setting{i + 1, strings.TrimSpace(name), strings.TrimSpace(value)})
		}
	}
	return slices.DeleteFunc(all, func(s setting) bool { return s.value == "" }), nil
}

// object reads a file in JSON. A name in an object within it is OBJECT.NAME.
func object(_ *former, text string) (all []setting, err error) {
	var top map[string]any
	if err := json.Unmarshal([]byte(text), &top); err != nil {
		return nil, err
	}
	var walk func(prefix string, in map[string]any)
	walk = func(prefix string, in map[string]any) {
		for _, name := range slices.Sorted(maps.Keys(in)) {
			switch v := in[name].(type) {
			case map[string]any:
				walk(prefix+name+".", v)
			case float64:
				all = append(all, setting{0, prefix + name, strconv.FormatFloat(v, 'f', -1, 64)})
			default:
				all = append(all, setting{0, prefix + name, fmt.Sprint(v)})
			}
		}
	}
	walk("", top)
	return all, nil
}
