package check

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A setting is what the old server was given.
type setting struct {
	line          int
	option, value string
}

func (s setting) String() string {
	return strings.TrimSpace(s.option + " " + s.value)
}

// A word is one of a command line; "" ends a command.
type word struct {
	text string
	line int
}

var (
	listens    = regexp.MustCompile(`^(?:(.*):)?(\d+)$`)
	optionWord = regexp.MustCompile(`^--?[A-Za-z0-9]`)

	// lexeme matches a comment, the end of a line (where YAML has a sign that a text follows), a
	// sign that ends a command, or a word with its quoted parts; quoted matches such a part.
	lexeme = regexp.MustCompile("#[^\n]*|(?:[|>][-+ ]*)?\n|[;&|<>)`]|(?:\"[^\"\n]*\"|'[^'\n]*'|[^\\s;&|<>)`])+")
	quoted = regexp.MustCompile(`(=?)(?:"([^"\n]*)"|'([^'\n]*)')`)

	// The marks of a list ["-h", "x"] become blanks; quotation marks without a partner vanish.
	listMarks = strings.NewReplacer(`["`, ` "`, `['`, ` '`, "[\n", " \n", "[ ", "  ", `",`, `" `,
		`',`, `' `, `"]`, `" `, `']`, `' `)
	quoteMarks = strings.NewReplacer(`"`, "", "'", "")
)

// isName reports whether a word names the program.
func (s *former) isName(word string) bool {
	base := path.Base(strings.TrimRight(word, ":"))
	return base == s.name || base == "in."+s.name
}

// lex divides a text into words. A string in quotes is a word, or a command.
func (m *move) lex(text string) (all []word) {
	text = quoted.ReplaceAllStringFunc(listMarks.Replace(text), func(part string) string {
		inner := strings.Trim(strings.TrimPrefix(part, "="), part[len(part)-1:])
		words := strings.Fields(inner)
		isCommand := slices.ContainsFunc(words, m.server.isName) || optionWord.MatchString(inner)
		switch {
		case !isCommand || len(words) < 2 && part[0] != '=':
			return part
		case part[0] == '=':
			return "= " + inner + ";"
		}
		return " " + inner + ";"
	})
	line := 1
	for _, w := range lexeme.FindAllString(text, -1) {
		switch {
		case strings.HasSuffix(w, "\n"):
			line++
		case w[0] == '#', w == `\`, w == "-": // an element of a list in YAML
		case strings.Contains(";&|<>)`", w):
			all = append(all, word{"", line})
		default:
			w = quoted.ReplaceAllString(w, "$1$2$3")
			if w != "" && strings.Contains(`"'`, w[:1]) {
				m.doubt(line, w, "a quotation mark has no partner")
			}
			all = append(all, word{quoteMarks.Replace(w), line})
		}
	}
	return all
}

// readWords reads the options of a command line: of /etc/default, a unit, xinetd,
// inetd.conf, a script, a container or Nix. They follow the name of the program, or an
// assignment.
func (m *move) readWords(text string) {
	for i, line := range strings.Split(text, "\n") {
		name, value, _ := strings.Cut(line, "=")
		if value = strings.TrimSpace(value); strings.TrimSpace(name) == listenStream && value != "" {
			m.add(i+1, listenStream, value)
		}
	}
	words := m.lex(text)
	at, assigned := 0, false // the line of the command's last word, 0 outside of commands
	for i := 0; i < len(words); i++ {
		w := words[i]
		if name, value, ok := strings.Cut(w.text, "="); ok && optionWord.MatchString(value) &&
			!optionWord.MatchString(name) {
			w.text, assigned = value, true // OPTIONS=-nu
		}
		switch {
		case w.text == "":
			at = 0
		case m.server.isName(w.text):
			at = w.line
			m.named = true
		case optionWord.MatchString(w.text) && (at > 0 || assigned):
			words[i] = w
			i = m.option(words, i)
			at = words[i].line
		case w.line != at:
			at = 0
		}
		assigned = strings.HasSuffix(w.text, "=") || strings.HasSuffix(w.text, ":")
	}
}

// takes returns how many values an option has.
func (s *former) takes(option string) (n int, known bool) {
	for _, r := range s.rows {
		if slices.Contains(r.options, option) && !r.without {
			return len(strings.Fields(r.value)), true
		}
	}
	return 0, false
}

// option reads an option with its values, and returns the index of its last word.
func (m *move) option(words []word, i int) (last int) {
	var values []string
	option, value, joined := strings.Cut(words[i].text, "=")
	n, known := m.server.takes(option)
	if short, is := m.server.takes(option[:2]); is && short > 0 && !known { // -p7070
		option, value = words[i].text[:2], words[i].text[2:]
		n = short
		joined = true
	}
	if next := i + 1; joined {
		values = append(values, value)
	} else if !known && next < len(words) && words[next].line == words[i].line &&
		!strings.HasPrefix(words[next].text, "-") {
		n = 1 // most likely its value
	}
	for last = i; len(values) < n && last+1 < len(words) && words[last+1].text != ""; last++ {
		values = append(values, words[last+1].text)
	}
	m.add(words[i].line, option, strings.Join(values, " "))
	return last
}

// readLines reads a file of NAME = VALUE lines. Indented lines go on.
func (m *move) readLines(text string) {
	for i, line := range strings.Split(text, "\n") {
		m.named = m.named || strings.TrimSpace(line) == "["+m.server.name+"]"
		name, value, ok := strings.Cut(line, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case strings.TrimSpace(line) == "", strings.ContainsAny(line[:1], "#; \t["):
		case !ok || strings.ContainsAny(name, " \t"):
			m.doubt(i+1, line, "not a setting: NAME = VALUE is expected")
		case value != "":
			m.add(i+1, name, value)
		}
	}
}

// A statement is a setting in a configuration with blocks. It ends with its line, a comma, a
// semicolon, or a brace, which is its last word if it opens a block.
type statement struct {
	line  int
	in    []string // the words in front of the enclosing braces, outermost first
	words []string
}

// lexemeOfBlocks matches a comment, a string, or a word of such a configuration.
var lexemeOfBlocks = regexp.MustCompile(`#[^\n]*|"[^"\n]*"|[{}=;,\n]|[^\s{}=;,"]+`)

func (m *move) statements(text string) (all []statement) {
	var in, words []string
	line := 1
	end := func() {
		if len(words) > 0 {
			all = append(all, statement{line, slices.Clone(in), words})
		}
		words = nil
	}
	for _, w := range lexemeOfBlocks.FindAllString(text, -1) {
		switch w[0] {
		case '#':
		case '{':
			name := strings.Trim(strings.Join(words, " "), " =:")
			words = append(words, w)
			end()
			in = append(in, name)
		case '}':
			end()
			in = in[:max(0, len(in)-1)]
		case '\n':
			end()
			line++
		case ';', ',':
			end()
		default:
			words = append(words, strings.Trim(w, `"`))
		}
	}
	end()
	if len(in) > 0 {
		m.doubt(0, "", "a brace has no partner")
	}
	return all
}

// readObject reads a file in JSON, or the settings of services.NAME in a module of NixOS. A
// name in an object within it is OBJECT.NAME.
func (m *move) readObject(text string) {
	isJSON := strings.HasPrefix(strings.TrimSpace(text), `{`) && strings.Contains(text, `":`)
	for _, st := range m.statements(text) {
		words := slices.DeleteFunc(st.words, func(w string) bool { return w == "=" || w == ":" })
		if len(words) == 0 || words[len(words)-1] == "{" {
			continue
		}
		option := strings.Trim(strings.Join(append(st.in, words[0]), "."), ".")
		if !isJSON {
			_, own, ours := strings.Cut(option, "services."+m.server.name+".")
			if !ours || slices.Contains([]string{"enable", "openFirewall", "package"}, own) {
				continue
			}
			m.named = true
			option = strings.TrimPrefix(own, "settings.")
		}
		switch {
		case len(words) != 2:
			m.doubt(st.line, strings.Join(words, " "), "its value is not recognized")
		case option == "address":
			m.add(st.line, "listen.addr", words[1])
		default:
			m.add(st.line, option, words[1])
		}
	}
}

// gmidOption are the words of gmid.conf that begin an option, the longest first.
var gmidOption = regexp.MustCompile(`^(auto index|log access|log style|log syslog|listen on|default type|require client ca|[a-z]+)\b`)

// readBlocks reads gmid.conf. What is in the block of a location is reported by that.
func (m *move) readBlocks(text string) {
	macros := map[string]string{}
	chroot, hosts := "", 0
	for _, st := range m.statements(text) {
		server := ""
		if len(st.in) == 1 {
			server, _ = strings.CutPrefix(st.in[0], "server ")
		}
		if len(st.in) > 1 || len(st.in) == 1 && server == st.in[0] {
			continue
		}
		if len(st.words) > 2 && st.words[1] == "=" {
			macros["$"+st.words[0]] = strings.Join(st.words[2:], "")
			continue
		}
		words := st.words
		for i, w := range words {
			words[i] = cmp.Or(macros[w], w)
		}
		option := gmidOption.FindString(strings.Join(words, " "))
		words = slices.DeleteFunc(words[len(strings.Fields(option)):], func(w string) bool {
			return w == "{"
		})
		value := strings.Join(words, "")
		switch option {
		case "":
			m.doubt(st.line, value, "not an option of gmid.conf")
			continue
		case "server":
			m.named = true
			continue
		case "listen on":
			addr, port, ok := strings.Cut(strings.Join(words, " "), " port ")
			if !ok {
				port = "1965"
			}
			if strings.Contains(addr, ":") {
				addr = "[" + addr + "]"
			}
			value = strings.TrimPrefix(addr, "*") + ":" + port
		case "chroot":
			chroot = value
		case "root": // a second server has a directory of its own
			value = path.Join(chroot, value)
			if hosts++; hosts == 1 {
				m.add(st.line, "server", server)
			} else {
				option, value = "server", server+"="+value
			}
		}
		m.add(st.line, option, value)
	}
	if hosts == 0 {
		m.doubt(0, "", "no server has a root")
	}
}
