package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A setting is what the old server was given.
type setting struct {
	line          int
	option, value string
}

func (s setting) String() string { return strings.TrimSpace(s.option + " " + s.value) }

// A reading is what a file has for a server.
type reading struct {
	settings []setting
	doubts   []setting // what was not understood: the line's text, as a value, and why
	named    bool      // the file names the program
}

func (r *reading) doubt(line int, text, why string) {
	r.doubts = append(r.doubts, setting{line, why, strings.TrimSpace(text)})
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

var (
	listens    = regexp.MustCompile(`^\s*ListenStream\s*=\s*(?:(.*):)?(\d+)\s*$`)
	optionWord = regexp.MustCompile(`^--?[A-Za-z0-9]`)
	hasOption  = regexp.MustCompile(`(?:^|[\s"'\[,=])--?[A-Za-z]`)
	// assigned is a setting of a shell, a unit, xinetd, Nix, or of a container.
	assigned = regexp.MustCompile(`^\s*(?:-\s+)?(?:export\s+)?[\w.-]+\s*[=:]\s*(.*?)\s*;?$|^\s*(?:CMD|ENTRYPOINT)\s+(.*)$`)
	// openKey is a key of YAML whose value is a list or a text on the following lines.
	openKey = regexp.MustCompile(`^(\s*)[\w-]+:\s*[>|]?[-+]?\s*$`)
	bullet  = regexp.MustCompile(`^\s*-\s+(\S.*)$`)
)

// readWords reads the options of a command line: of /etc/default, a unit, xinetd,
// inetd.conf, a script, a container or Nix.
func readWords(s *former, text string) (r reading) {
	name := regexp.MustCompile(`(?:^|[\s"'=:\[(/,])(?:in\.)?` + regexp.QuoteMeta(s.name) + `(?:["'\s\])` + "`" + `;,]|$)`)
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line, number := lines[i], i+1
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		if m := listens.FindStringSubmatch(line); m != nil {
			r.settings = append(r.settings, setting{number, "ListenStream", strings.TrimPrefix(m[1]+":"+m[2], ":")})
			continue
		}

		// Join the lines of one value.
		var more int
		line, more = joined(lines[i:])
		i += more

		// Find the words of the old server: behind its name, or the value of a setting.
		args, list := "", false
		if at := name.FindStringIndex(line); at != nil {
			r.named = true
			args, list = behind(line, at[1])
		} else if m := assigned.FindStringSubmatch(line); m != nil {
			if value := m[1] + m[2]; strings.HasPrefix(strings.TrimLeft(value, `"'[ `), "-") {
				args, list = value, strings.HasPrefix(value, "[")
				if quote := value[0]; quote == '"' || quote == '\'' {
					args, _, _ = strings.Cut(value[1:], string(quote))
				}
			}
		}
		words, ok := split(args, list)
		if !ok {
			r.doubt(number, line, "a quotation mark has no partner")
		}
		found := s.options(words, number)
		r.settings = append(r.settings, found...)
		if len(found) == 0 && hasOption.MatchString(args) {
			r.doubt(number, line, "its options are not recognized")
		}
	}
	return r
}

// joined returns a line with those that continue it, and how many those are.
func joined(lines []string) (line string, more int) {
	line = lines[0]
	for strings.HasSuffix(line, "\\") && more+1 < len(lines) {
		more++
		line = line[:len(line)-1] + " " + lines[more]
	}
	for strings.Count(line, "[") > strings.Count(line, "]") && strings.Contains(line, "[") && !strings.HasPrefix(strings.TrimSpace(line), "[") && more+1 < min(len(lines), 100) {
		more++
		line += " " + lines[more]
	}
	m := openKey.FindStringSubmatch(line)
	if m == nil {
		return line, more
	}
	line = strings.TrimRight(line, " >|-+")
	for more+1 < len(lines) {
		next := lines[more+1]
		indent := next[:len(next)-len(strings.TrimLeft(next, " "))]
		item := bullet.FindStringSubmatch(next)
		if strings.Contains(next, ": ") || strings.HasSuffix(next, ":") || strings.TrimSpace(next) == "" || len(indent) < len(m[1]) || item == nil && len(indent) == len(m[1]) {
			break
		}
		more++
		if item != nil {
			next = item[1]
		}
		line += " " + strings.TrimSpace(next)
	}
	return line, more
}

// behind returns what follows the name of a program up to the end of its command, and
// whether that is a list of quoted words.
func behind(line string, at int) (args string, list bool) {
	var quote byte
	for i := range at - 1 {
		switch c := line[i]; {
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == quote:
			quote = 0
		}
	}
	rest := line[min(at, len(line)):]
	switch last := line[at-1]; {
	case quote != 0 && last == quote: // ["name", "-h"]
		return rest, true
	case quote != 0: // "name -h x"
		args, _, _ = strings.Cut(rest, string(quote))
		return args, false
	case strings.IndexByte(")`;", last) >= 0:
		return "", false
	}
	return rest, false
}

// split divides a command at blanks outside of quotes, and a list at commas, too. It ends
// where the shell's next command begins. Ok is false if a quote does not end.
func split(text string, list bool) (words []string, ok bool) {
	var word strings.Builder
	var quote rune
	open := false
	end := func() {
		if open {
			words = append(words, word.String())
		}
		word.Reset()
		open = false
	}
loop:
	for _, c := range text {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '"' || c == '\'':
			quote = c
			open = true
		case c == ' ' || c == '\t' || list && (c == ',' || c == '['):
			end()
		case list && c == ']', !list && strings.ContainsRune(";&|<>)`", c):
			break loop
		default:
			open = true
			word.WriteRune(c)
		}
	}
	end()
	return words, quote == 0
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
			if n, known = s.takes(word); !known && len(word) > 2 && word[1] != '-' {
				if m, short := s.takes(word[:2]); short && m > 0 {
					option, value, joined, n, known = word[:2], word[2:], true, m, true
				}
			}
		}
		if joined {
			n--
		} else if !known && len(list) > 0 && !strings.HasPrefix(list[0], "-") {
			n = 1 // most likely its value
		}
		n = min(max(n, 0), len(list))
		all = append(all, setting{line, option, strings.TrimSpace(value + " " + strings.Join(list[:n], " "))})
		list = list[n:]
	}
	return all
}

// readLines reads a file of NAME = VALUE lines. Indented lines go on.
func readLines(s *former, text string) (r reading) {
	for i, line := range strings.Split(text, "\n") {
		r.named = r.named || strings.TrimSpace(line) == "["+s.name+"]"
		name, value, ok := strings.Cut(line, "=")
		switch {
		case strings.TrimSpace(line) == "", strings.ContainsAny(line[:1], "#; \t["):
		case !ok || strings.ContainsAny(strings.TrimSpace(name), " \t"):
			r.doubt(i+1, line, "it is no setting: NAME = VALUE")
		case strings.TrimSpace(value) != "":
			r.settings = append(r.settings, setting{i + 1, strings.TrimSpace(name), strings.TrimSpace(value)})
		}
	}
	return r
}

// readObject reads a file in JSON, or settings of Nix. A name in an object within it is
// OBJECT.NAME.
func readObject(s *former, text string) (r reading) {
	var top map[string]any
	if err := json.Unmarshal([]byte(text), &top); err != nil {
		if r = readNix(s, text); len(r.settings) == 0 {
			r.doubt(0, err.Error(), "neither JSON nor settings of Nix")
		}
		return r
	}
	var walk func(prefix string, in map[string]any)
	walk = func(prefix string, in map[string]any) {
		for _, name := range slices.Sorted(maps.Keys(in)) {
			switch v := in[name].(type) {
			case map[string]any:
				walk(prefix+name+".", v)
			case float64:
				r.settings = append(r.settings, setting{0, prefix + name, strconv.FormatFloat(v, 'f', -1, 64)})
			default:
				r.settings = append(r.settings, setting{0, prefix + name, fmt.Sprint(v)})
			}
		}
	}
	walk("", top)
	return r
}

var nixLine = regexp.MustCompile(`^\s*([\w.-]+)\s*=\s*(?:"([^"]*)"|([\w./-]+))\s*;`)

// readNix reads the assignments of services.NAME in a module of NixOS.
func readNix(s *former, text string) (r reading) {
	var at []string
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		name := ""
		m := nixLine.FindStringSubmatch(line)
		switch {
		case m != nil:
			name = m[1]
		case strings.HasSuffix(line, "{"):
			at = append(at, strings.TrimRight(line, "={ \t"))
			continue
		case strings.HasPrefix(line, "}"):
			at = at[:max(0, len(at)-1)]
			continue
		}
		full := strings.Join(append(slices.Clone(at), name), ".")
		_, option, ours := strings.Cut(full, "services."+s.name+".")
		r.named = r.named || ours
		option = strings.TrimPrefix(option, "settings.")
		switch option {
		case "", "enable", "openFirewall", "package":
			if ours && m == nil && line != "" {
				r.doubt(i+1, line, "its value is not recognized")
			}
			continue
		case "address":
			option = "listen.addr"
		}
		if ours && m != nil {
			r.settings = append(r.settings, setting{i + 1, option, m[2] + m[3]})
		}
	}
	return r
}

// gmidOption are the words of gmid.conf that begin an option, the longest first.
var gmidOption = regexp.MustCompile(`^(auto index|log access|log style|log syslog|listen on|default type|require client ca|[a-z]+)\b`)

// readBlocks reads gmid.conf: options in a line each, or divided by semicolons, some in
// blocks of a server.
func readBlocks(s *former, text string) (r reading) {
	macros := map[string]string{}
	var blocks []string
	server, root, chroot, first := "", "", "", true
	for i, line := range strings.Split(text, "\n") {
		for _, statement := range statements(line) {
			words, ok := split(strings.TrimSpace(statement), false)
			for j, word := range words {
				if name, is := strings.CutPrefix(word, "$"); is && macros[name] != "" {
					words[j] = macros[name]
				}
			}
			if !ok {
				r.doubt(i+1, line, "a quotation mark has no partner")
				continue
			}
			if len(words) == 0 {
				continue
			}

			// Blocks begin and end; a second server has a directory of its own.
			last := words[len(words)-1]
			if last == "{" {
				blocks = append(blocks, words[0])
				words = words[:len(words)-1]
				if words[0] == "server" {
					r.named = true
					server, root = strings.Join(words[1:], ""), ""
					continue
				}
			}
			if words[0] == "}" {
				if len(blocks) > 0 && blocks[len(blocks)-1] == "server" {
					dir := path.Join(chroot, root)
					if first {
						r.settings = append(r.settings, setting{i + 1, "server", server}, setting{i + 1, "root", dir})
					} else {
						r.settings = append(r.settings, setting{i + 1, "server", server + "=" + dir})
					}
					first = false
				}
				blocks = blocks[:max(0, len(blocks)-1)]
				continue
			}
			if len(words) > 2 && words[1] == "=" {
				macros[words[0]] = strings.Join(words[2:], "")
				continue
			}
			if len(blocks) > 0 && blocks[len(blocks)-1] != "server" && last != "{" {
				continue // of a location, or types: the block is reported
			}

			option := gmidOption.FindString(strings.Join(words, " "))
			if option == "" {
				r.doubt(i+1, line, "it is no option of gmid.conf")
				continue
			}
			value := strings.Join(words[len(strings.Fields(option)):], "")
			switch option {
			case "root":
				root = value
				continue
			case "chroot":
				chroot = value
			case "listen on":
				addr, port, _ := strings.Cut(strings.Join(words[2:], " "), " port ")
				if port == "" {
					port = "1965"
				}
				if strings.Contains(addr, ":") {
					addr = "[" + addr + "]"
				}
				value = strings.TrimPrefix(addr, "*") + ":" + port
			}
			r.settings = append(r.settings, setting{i + 1, option, value})
		}
	}
	return r
}

// statements divides a line of gmid.conf at semicolons, braces and its comment, outside of
// quotes.
func statements(line string) (all []string) {
	begin, quoted := 0, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '#':
			return append(all, line[begin:i])
		case c == ';':
			all = append(all, line[begin:i])
			begin = i + 1
		case c == '{':
			all = append(all, strings.TrimSpace(line[begin:i])+" {")
			begin = i + 1
		case c == '}':
			all = append(all, line[begin:i], "}")
			begin = i + 1
		}
	}
	return append(all, line[begin:])
}
