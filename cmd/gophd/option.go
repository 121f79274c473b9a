package main

import (
	"cmp"
	"encoding"
	"errors"
	"flag"
	"net/netip"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/command/size"
	"github.com/gophd/gophd/internal/daemon"
	"github.com/gophd/gophd/menu"
)

// An option is a flag and its environment variable, which the flag overrides. It implements
// cli.Flag.
type option struct {
	name, value, def, usage string
	category                string

	parse  func(text string) error // sets the value; a list gets another element
	reset  func()                  // empties a list; nil if the option counts once
	toggle bool                    // it takes no value, or yes or no
	want   string                  // the hint for a wrong value; if empty, it names value
	needs  string                  // the flag without which it has no effect, with its hyphen

	from   source
	text   string   // the last value
	typed  []string // the arguments that set it
	failed error    // of the last value
}

// A source is the origin of a value.
type source int

const (
	byDefault source = iota
	byVariable
	byFlag
)

// shownDefault returns the default for people, or "" if there is none or it is 0.
func (o *option) shownDefault() string {
	if _, def, ok := strings.Cut(o.usage, "(default"); ok {
		def = strings.TrimSuffix(strings.TrimPrefix(def, ":"), ")")
		return strings.TrimSpace(def)
	}
	return strings.TrimPrefix(o.def, "0")
}

// shown returns the option as the user set it.
func (o *option) shown() string { return o.as("-" + o.name) }

// Apply reads the variable and declares the flag.
func (o *option) Apply(set *flag.FlagSet) error {
	o.from = byDefault
	o.text = o.def
	o.failed = nil
	if o.reset != nil {
		o.reset()
	} else if o.def != "" {
		if err := o.parse(o.def); err != nil {
			return err
		}
	}
	value := os.Getenv(daemon.Variable(o.name))
	if value != "" && !orchestrated.MatchString(daemon.Variable(o.name)+"="+value) {
		if err := o.give(value, byVariable); err != nil {
			return err
		}
	}
	set.Var(o, o.name, o.usage)
	return nil
}

// Set sets the value from the command line. A flag overrides its variable.
func (o *option) Set(text string) error {
	if o.from == byFlag && o.reset == nil {
		o.failed = exit.Usagef("leave one of them out", "-%s counts once: %s and %s",
			o.name, o.text, text)
		return o.failed
	}
	if o.from == byVariable && o.reset != nil {
		o.reset()
	}
	if o.toggle {
		o.typed = append(o.typed, "-"+o.name+"="+text)
	} else {
		o.typed = append(o.typed, "-"+o.name, text)
	}
	o.failed = o.give(text, byFlag)
	return o.failed
}

func (o *option) give(text string, from source) error {
	o.from, o.text = from, text
	values := []string{text}
	if o.reset != nil {
		values = strings.Split(text, ",")
	}
	for _, value := range values {
		if o.reset != nil {
			value = strings.TrimSpace(value)
		}
		if err := o.refused(value); err != nil {
			return err
		}
	}
	return nil
}

// wanted returns the hint for a wrong value.
func (o *option) wanted() string {
	return cmp.Or(o.want, "-"+o.name+" takes "+o.value)
}

// refused parses and sets a value, or returns why it is wrong.
func (o *option) refused(value string) error {
	if strings.HasPrefix(value, "-") && len(value) > 1 && value[1] >= 'a' &&
		o.from == byFlag && !o.toggle {
		return exit.Usagef(o.wanted(), "-%s has no value: %s follows it", o.name, value)
	}
	err := o.parse(value)
	if err == nil || errors.As(err, new(*exit.CommandError)) {
		return err
	}
	return exit.Usagef(o.wanted(), "%s is %q", o.shown(), value)
}

// String, IsBoolFlag, Names and IsSet describe the option to package flag and to the flag
// library.
func (o *option) String() string {
	return o.name
}                                  // identifies the flag in the library
func (o *option) IsBoolFlag() bool { return o.toggle }
func (o *option) Names() []string  { return []string{o.name} }
func (o *option) IsSet() bool      { return o.from != byDefault }

// row returns the option that sets a variable; the type of the variable selects the parser. The
// usage may begin with the placeholder of the value, in backquotes.
func row(to any, name, def, usage string) *option {
	o := &option{name: name, def: def, usage: usage}
	if value, rest, ok := strings.Cut(strings.TrimPrefix(usage, "`"), "` "); ok {
		o.value, o.usage = value, rest
	}
	switch to := to.(type) {
	case *[]string:
		listTo(o, to, "", func(text string) (string, error) { return text, nil })
	case *bool:
		o.toggle = true
		parseTo(o, to, "want yes or no", func(text string) (bool, error) {
			switch strings.ToLower(text) {
			case "yes", "on":
				return true, nil
			case "no", "off":
				return false, nil
			}
			return strconv.ParseBool(text)
		})
	case *int:
		parseTo(o, to, "want a number of 0 or more", func(text string) (int, error) {
			n, err := strconv.ParseUint(text, 10, 31)
			return int(n), err
		})
	case *uint16:
		parseTo(o, to, "want a number from 0 to 65535", func(text string) (uint16, error) {
			n, err := strconv.ParseUint(text, 10, 16)
			return uint16(n), err
		})
	case *int64:
		parseTo(o, to, "want a number of bytes, or KiB, MiB, GiB, such as "+def, size.Parse)
	case *float64:
		parseTo(o, to, "want requests per second, such as 2 or 0.5",
			func(text string) (float64, error) {
				n, err := strconv.ParseFloat(text, 64)
				if err == nil && !(n >= 0 && n < 1e9) {
					err = strconv.ErrRange
				}
				return n, err
			})
	case *time.Duration:
		parseTo(o, to, "want a DURATION, such as 90s or 10m; none is below 0",
			func(text string) (time.Duration, error) {
				d, err := time.ParseDuration(text)
				if err == nil && d < 0 {
					err = strconv.ErrRange
				}
				return d, err
			})
	case *[]netip.Prefix:
		listTo(o, to, "want an address or a block of them, such as 10.0.0.0/8 or ::1",
			func(text string) (netip.Prefix, error) {
				if a, err := netip.ParseAddr(text); err == nil {
					a = a.Unmap()
					return netip.PrefixFrom(a, a.BitLen()), nil
				}
				return netip.ParsePrefix(text)
			})
	case encoding.TextUnmarshaler:
		o.parse = func(text string) error { return to.UnmarshalText([]byte(text)) }
		if _, isCharset := to.(*menu.Charset); isCharset {
			o.want = "want auto, utf-8, cp437 or a name of the WHATWG's, such as koi8-r, windows-1251 or shift_jis"
		}
	default: // a string, perhaps of a type of its own
		o.parse = func(text string) error {
			reflect.ValueOf(to).Elem().SetString(text)
			return nil
		}
	}
	return o
}

func parseTo[T any](o *option, to *T, want string, parse func(string) (T, error)) {
	o.want = want
	o.parse = func(text string) error {
		v, err := parse(text)
		if err == nil {
			*to = v
		}
		return err
	}
}

// listTo is parseTo for an option that may be repeated or have several values between commas.
func listTo[T any](o *option, to *[]T, want string, parse func(string) (T, error)) {
	o.want, o.reset = want, func() { *to = nil }
	o.parse = func(text string) error {
		v, err := parse(text)
		if err == nil {
			*to = append(*to, v)
		}
		return err
	}
}
