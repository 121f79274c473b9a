package main

import (
	"cmp"
	"encoding"
	"errors"
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

// An option is a flag and its environment variable, which the flag overrides.
type option struct {
	name, value, def, usage string
	category                string

	parse  func(text string) error // sets the value; a list gets another element
	list   bool                    // it may be repeated
	toggle bool                    // it takes no value, or yes or no
	want   string                  // the hint for a wrong value; if empty, it names value
	needs  string                  // the flag without which it has no effect, with its hyphen

	from  source
	text  string   // the last value
	typed []string // the arguments that set it
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

// readVariable sets the value from the variable, unless a flag has set it.
func (o *option) readVariable() error {
	value := os.Getenv(daemon.Variable(o.name))
	if value == "" || o.from == byFlag ||
		orchestrated.MatchString(daemon.Variable(o.name)+"="+value) {
		return nil
	}
	return o.give(value, byVariable)
}

// set sets the value from the command line.
func (o *option) set(text string) error {
	if o.from == byFlag && !o.list {
		return exit.Usagef("leave one of them out", "-%s counts once: %s and %s",
			o.name, o.text, text)
	}
	if o.toggle {
		o.typed = append(o.typed, "-"+o.name+"="+text)
	} else {
		o.typed = append(o.typed, "-"+o.name, text)
	}
	return o.give(text, byFlag)
}

func (o *option) give(text string, from source) error {
	o.from, o.text = from, text
	if !o.list {
		return o.refused(text)
	}
	for value := range strings.SplitSeq(text, ",") {
		if err := o.refused(strings.TrimSpace(value)); err != nil {
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

// row returns the option that sets a variable; the type of the variable selects the parser. The
// usage may begin with the placeholder of the value, in backquotes.
func row(to any, name, def, usage string) *option {
	o := &option{
		name:  name,
		def:   def,
		usage: usage,
		text:  def,
	}
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
	if def != "" {
		if err := o.parse(def); err != nil {
			panic(err) // the row is wrong
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
	o.want, o.list = want, true
	o.parse = func(text string) error {
		v, err := parse(text)
		if err == nil {
			*to = append(*to, v)
		}
		return err
	}
}
