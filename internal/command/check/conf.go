package check

import (
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

// A word is one of a command line; "" ends a command.
type word struct {
	text string
	line int
}

var (
	listens    = regexp.MustCompile(`^\s*ListenStream\s*=\s*(?:(.*):)?(\d+)\s*$`)
	optionWord = regexp.MustCompile(`^--?[A-Za-z0-9]`)
)

// isName reports whether a word names the program.
func (s *former) isName(word string) bool {
	base := path.Base(strings.TrimRight(word, ":"))
	return base == s.name || base == "in."+s.name
}

// lex divides a text into words: at blanks, at shell's signs, and in a list ["-h", "x"] at
// commas. A string in quotes is a word, or a command.
func (s *former) lex(text string, line int, r *reading) (all []word) {
	var b strings.Builder
	open, lists := false, 0
	flush := func() {
		if open {
			all = append(all, word{b.String(), line})
		}
		b.Reset()
		open = false
	}
	for i := 0; i < len(text); i++ {
		rest, _, _ := strings.Cut(text[i+1:], "\n")
		switch c := text[i]; {
		case c == '\n':
			flush()
			line++
		case c == ' ', c == '\t', c == '\\' && rest == "", lists > 0 && c == ',':
			flush()
		case c == '#' && !open, (c == '>' || c == '|') && strings.Trim(rest, "-+ ") == "": // a comment; a text of YAML follows
			i += len(rest)
		case c == '[' && !open && (rest == "" || strings.IndexByte("\"' ", rest[0]) >= 0):
			lists++
		case strings.IndexByte(";&|<>)`", c) >= 0, lists > 0 && c == ']':
			flush()
			all = append(all, word{"", line})
			lists = 0
		case c == '"' || c == '\'':
			quoted, _, closed := strings.Cut(rest, string(c))
			if !closed && open { // an apostrophe
				continue
			}
			if !closed {
				r.doubt(line, text[strings.LastIndexByte(text[:i], '\n')+1:i+1+len(rest)], "a quotation mark has no partner")
			}
			i += min(len(rest), len(quoted)+1)
			inner := strings.Fields(quoted)
			isCommand := slices.ContainsFunc(inner, s.isName) || optionWord.MatchString(quoted)
			if isCommand && (len(inner) > 1 && closed || strings.HasSuffix(b.String(), "=")) {
				flush()
				all = append(append(all, s.lex(quoted, line, r)...), word{"", line})
				continue
			}
			b.WriteString(quoted)
			open = true
			if strings.HasPrefix(text[min(i+1, len(text)):], ",") {
				flush()
				i++
			}
		default:
			b.WriteByte(c)
			open = true
		}
	}
	flush()
	return all
}

// readWords reads the options of a command line: of /etc/default, a unit, xinetd,
// inetd.conf, a script, a container or Nix. They follow the name of the program, or an
// assignment.
func readWords(s *former, text string) (r reading) {
	for i, line := range strings.Split(text, "\n") {
		if m := listens.FindStringSubmatch(line); m != nil {
			r.settings = append(r.settings, setting{i + 1, "ListenStream", strings.TrimPrefix(m[1]+":"+m[2], ":")})
		}
	}
	words := s.lex(text, 1, &r)
	at, assigned := 0, false // the line of the command's last word, 0 outside of commands
	for i := 0; i < len(words); i++ {
		w := words[i]
		if name, value, ok := strings.Cut(w.text, "="); ok && optionWord.MatchString(value) && !optionWord.MatchString(name) {
			w.text, assigned = value, true // OPTIONS=-nu
		}
		switch {
		case w.text == "-": // an element of a list in YAML
			continue
		case w.text == "":
			at = 0
		case s.isName(w.text):
			at = w.line
			r.named = true
		case optionWord.MatchString(w.text) && (at > 0 || assigned):
			words[i] = w
			var g setting
			g, i = s.option(words, i)
			r.settings = append(r.settings, g)
			at = words[i].line
		case w.line != at:
			at = 0
		}
		assigned = strings.HasSuffix(w.text, "=") || strings.HasSuffix(w.text, ":")
	}
	return r
}

// option reads an option with its values, and returns the index of its last word.
func (s *former) option(words []word, i int) (g setting, last int) {
	text := words[i].text
	takes := func(option string) (n int, known bool) {
		for _, r := range s.rows {
			if slices.Contains(r.options, option) && !r.without {
				return len(strings.Fields(r.value)), true
			}
		}
		return 0, false
	}
	option, value, joined := strings.Cut(text, "=")
	n, known := takes(option)
	if !known && len(text) > 2 && text[1] != '-' {
		if m, short := takes(text[:2]); short && m > 0 { // -p7070
			option, value, joined, n, known = text[:2], text[2:], true, m, true
		}
	}
	if next := i + 1; !known && next < len(words) && words[next].line == words[i].line && !strings.HasPrefix(words[next].text, "-") {
		n = 1 // most likely its value
	}
	g = setting{words[i].line, option, value}
	if joined {
		n--
	}
	for last = i; n > 0 && last+1 < len(words) && words[last+1].text != ""; last++ {
		if value := words[last+1].text; value != "-" {
			g.value = strings.TrimSpace(g.value + " " + value)
			n--
		}
	}
	return g, last
}

// readLines reads a file of NAME = VALUE lines. Indented lines go on.
func readLines(s *former, text string) (r reading) {
	for i, line := range strings.Split(text, "\n") {
		r.named = r.named || strings.TrimSpace(line) == "["+s.name+"]"
		name, value, ok := strings.Cut(line, "=")
		switch {
		case strings.TrimSpace(line) == "", strings.ContainsAny(line[:1], "#; \t["):
		case !ok || strings.ContainsAny(strings.TrimSpace(name), " \t"):
			r.doubt(i+1, line, "not a setting: NAME = VALUE is expected")
		case strings.TrimSpace(value) != "":
			r.settings = append(r.settings, setting{i + 1, strings.TrimSpace(name), strings.TrimSpace(value)})
		}
	}
	return r
}

// member matches a member of an object of JSON or Nix, a brace, or a comment.
var member = regexp.MustCompile(`"?([\w.-]+)"?\s*[:=]\s*(\{|"[^"]*"|[^\s;,{}"\[]+)|[{}]|#[^\n]*`)

// readObject reads a file in JSON, or the settings of services.NAME in a module of NixOS. A
// name in an object within it is OBJECT.NAME.
func readObject(s *former, text string) (r reading) {
	isJSON := strings.HasPrefix(strings.TrimSpace(text), `{`) && strings.Contains(text, `":`)
	var objects []string
	option := func(name string) (option string, ours bool) {
		full := strings.Trim(strings.Join(append(slices.Clone(objects), name), "."), ".")
		if isJSON {
			return full, true
		}
		_, option, ours = strings.Cut(full+".", "services."+s.name+".")
		return strings.TrimSuffix(strings.TrimPrefix(option, "settings."), "."), ours
	}
	end := 0
	for _, m := range append(member.FindAllStringSubmatchIndex(text, -1), []int{len(text), len(text), -1, -1, -1, -1}) {
		between := strings.Trim(text[end:m[0]], " \t\n,;")
		line := 1 + strings.Count(text[:m[0]], "\n")
		_, ours := option("")
		if ours && between != "" {
			r.doubt(line, between, "its value is not recognized")
		}
		end = m[1]
		if m[2] < 0 {
			switch text[m[0]:m[1]] {
			case "{":
				objects = append(objects, "")
			case "}":
				objects = objects[:max(0, len(objects)-1)]
			}
			continue
		}
		name, value := text[m[2]:m[3]], strings.Trim(text[m[4]:m[5]], `"`)
		full, ours := option(name)
		r.named = r.named || ours && !isJSON
		switch {
		case value == "{":
			objects = append(objects, name)
		case !ours, !isJSON && slices.Contains([]string{"enable", "openFirewall", "package"}, full):
		case full == "address":
			r.settings = append(r.settings, setting{line, "listen.addr", value})
		default:
			r.settings = append(r.settings, setting{line, full, value})
		}
	}
	if len(objects) > 0 {
		r.doubt(0, "", "a brace has no partner")
	}
	return r
}

// gmidOption are the words of gmid.conf that begin an option, the longest first.
var gmidOption = regexp.MustCompile(`^(auto index|log access|log style|log syslog|listen on|default type|require client ca|[a-z]+)\b`)

// readBlocks reads gmid.conf: options in a line each, or divided by semicolons, some in
// blocks of a server.
func readBlocks(s *former, text string) (r reading) {
	braces := strings.NewReplacer("{", " { ", "}", " } ")
	macros := map[string]string{}
	var blocks []string
	server, root, chroot, first := "", "", "", true
	for i, line := range strings.Split(text, "\n") {
		var words []string
		for _, w := range append(s.lex(braces.Replace(line), i+1, &r), word{"", i + 1}) {
			if !slices.Contains([]string{"", "{", "}"}, w.text) {
				if value := macros[strings.TrimPrefix(w.text, "$")]; w.text[0] == '$' && value != "" {
					w.text = value
				}
				words = append(words, w.text)
				continue
			}

			// An option ends; what is in the block of a location is reported by that.
			option := gmidOption.FindString(strings.Join(words, " "))
			value := strings.Join(words[min(len(words), len(strings.Fields(option))):], "")
			switch inner := len(blocks) > 0 && blocks[len(blocks)-1] != "server"; {
			case len(words) == 0, inner:
			case len(words) > 2 && words[1] == "=":
				macros[words[0]] = strings.Join(words[2:], "")
			case option == "":
				r.doubt(i+1, line, "not an option of gmid.conf")
			case option == "server":
				r.named = true
				server, root = value, ""
			case option == "root":
				root = value
			case option == "listen on":
				addr, port, ok := strings.Cut(strings.Join(words[2:], " "), " port ")
				if !ok {
					port = "1965"
				}
				if strings.Contains(addr, ":") {
					addr = "[" + addr + "]"
				}
				r.settings = append(r.settings, setting{i + 1, option, strings.TrimPrefix(addr, "*") + ":" + port})
			default:
				if option == "chroot" {
					chroot = value
				}
				r.settings = append(r.settings, setting{i + 1, option, value})
			}

			// A block begins or ends; a second server has a directory of its own.
			if w.text == "{" {
				blocks = append(blocks, option)
			}
			if w.text == "}" && len(blocks) > 0 {
				dir := path.Join(chroot, root)
				switch ended := blocks[len(blocks)-1]; {
				case ended == "server" && first:
					r.settings = append(r.settings, setting{i + 1, "server", server}, setting{i + 1, "root", dir})
					first = false
				case ended == "server":
					r.settings = append(r.settings, setting{i + 1, "server", server + "=" + dir})
				}
				blocks = blocks[:len(blocks)-1]
			}
			words = nil
		}
	}
	return r
}
