package menu

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Commands in maps mostly print a date, the host or the server's version. So a few
// variables stand for these in lines of information, and a command that does
// nothing but print such a line is understood. Nothing is ever run.

// variable returns what a name stands for; ok is false if it is none. Those that
// show the time or something of the client make a menu that must not be kept.
func (m *making) variable(name string) (value string, ok bool) {
	switch name {
	case "SERVER_NAME", "SERVER_HOST":
		return m.Host, true
	case "SERVER_PORT":
		return strconv.Itoa(m.Port), true
	case "SERVER_SOFTWARE":
		return "gophd", true
	case "SERVER_VERSION":
		return m.Version, true
	case "DATE":
		m.menu.Changing = true
		return m.now().Format(time.UnixDate), true
	case "REMOTE_ADDR":
		m.menu.Changing, m.menu.Personal = true, true
		return m.Client, true
	}
	return "", false
}

// expand puts the values in the place of variables. A dollar that begins none
// stands for itself. ok is false if a value is not known.
func (m *making) expand(line string) (expanded string, ok bool) {
	if strings.IndexByte(line, '$') < 0 {
		return line, true
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(line, "$")
		b.WriteString(before)
		if !found {
			return b.String(), true
		}
		n := variableLen(rest)
		value, known := m.variable(rest[:n])
		switch {
		case !known:
			value, n = "$", 0
		case value == "":
			return "", false
		}
		b.WriteString(value)
		line = rest[n:]
	}
}

// variableLen is how many bytes at the beginning of s can be the name of one.
func variableLen(s string) int {
	n := 0
	for n < len(s) && ('A' <= s[n] && s[n] <= 'Z' || s[n] == '_') {
		n++
	}
	return n
}

// dateCommand and hostCommand are commands of maps that print the date or the host.
var (
	dateCommand = regexp.MustCompile(`^(TZ=[\w/+-]+ +)?(/usr)?(/bin/)?date( [^$()|;&<>\x60]*)?$`)
	hostCommand = regexp.MustCompile(`^(/usr)?(/bin/)?hostname( -[fs])?$`)
	substituted = regexp.MustCompile("\\$\\([^()`]*\\)|`[^`]*`")
)

// commandValue returns the text that replaces a command.
func commandValue(command string) (variable string, ok bool) {
	switch {
	case dateCommand.MatchString(command):
		return "$DATE", true
	case hostCommand.MatchString(command):
		return "$SERVER_NAME", true
	}
	return "", false
}

// printed returns the line that a command prints, if it only prints the date or the
// host, or echoes a text with these and known variables in it.
func (m *making) printed(command string) (line string, ok bool) {
	if value, ok := commandValue(command); ok {
		return value, true
	}
	line, ok = strings.CutPrefix(command, "echo ")
	line = strings.TrimSpace(line)
	if !ok || line == "" {
		return "", false
	}
	quote := line[0]
	if quote == '"' || quote == '\'' {
		if len(line) < 2 || line[len(line)-1] != quote {
			return "", false
		}
		line = line[1 : len(line)-1]
	}
	if quote == '\'' {
		return line, !strings.ContainsAny(line, "'$")
	}
	line = substituted.ReplaceAllStringFunc(line, func(s string) string {
		value, ok := commandValue(strings.Trim(s, "$()`"))
		if !ok {
			return "`"
		}
		return value
	})
	special := "`\\\""
	if quote != '"' {
		special = "`\\\"'|&;<>()*?[]#~{}"
		line = strings.Join(strings.Fields(line), " ")
	}
	if strings.ContainsAny(strings.ReplaceAll(line, `\"`, ""), special) {
		return "", false
	}
	line = strings.ReplaceAll(line, `\"`, `"`)
	for _, rest := range strings.Split(line, "$")[1:] {
		if _, known := m.variable(rest[:variableLen(rest)]); !known {
			return "", false
		}
	}
	return line, true
}
