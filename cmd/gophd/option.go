package main

import (
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/command/size"
	"github.com/gophd/gophd/internal/daemon"
)

// An option is one row of a table of flags: the name, what it sets, the default and the
// help, in which the value is named between backquotes. It has the environment variable of
// its name, over which the flag wins. It parses its own value, and implements cli.Flag.
type option struct {
	name, usage, def string
	category         category

	parse  func(text string) error // sets the value; a list gets another element
	reset  func()                  // empties a list; nil: it counts once
	toggle bool                    // it takes no value, or yes or no
	want   string                  // what a value should be, for a hint
	needs  string                  // the flag without which it does nothing, as it is typed

	from   source
	text   string   // the value as it was given last
	typed  []string // the words by which it was typed
	failed error    // why the last value was refused
}

// A source is where a value comes from.
type source int

const (
	byDefault source = iota
	byVariable
	byFlag
)

// of notes that the option modifies another one: typed with its value.
func (o *option) of(needs string) *option {
	o.needs = needs
	return o
}

func (o *option) variable() string {
	return daemon.Variable(o.name)
}

// valueName is what the help calls the value.
func (o *option) valueName() string {
	name, _ := flag.UnquoteUsage(&flag.Flag{Usage: o.usage})
	return name
}

// shownDefault is the default as people write it; "" if it is none or 0.
func (o *option) shownDefault() string {
	if _, def, ok := strings.Cut(o.usage, "(default"); ok {
		def = strings.TrimSuffix(strings.TrimPrefix(def, ":"), ")")
		return strings.TrimSpace(def)
	}
	if d, err := time.ParseDuration(o.def); err == nil && d > 0 {
		return strings.TrimSuffix(strings.Replace(o.def, "m0s", "m", 1), "h0m")
	}
	return strings.TrimPrefix(o.def, "0")
}

// shown is how the user gave the option.
func (o *option) shown() string {
	if o.from == byVariable {
		return o.variable()
	}
	return "-" + o.name
}

// Apply reads the variable and declares the flag.
func (o *option) Apply(set *flag.FlagSet) error {
	o.from, o.text, o.failed = byDefault, o.def, nil
	if o.reset != nil {
		o.reset()
	} else if o.def != "" {
		if err := o.parse(o.def); err != nil {
			return err
		}
	}
	value := os.Getenv(o.variable())
	if value != "" && !orchestrated.MatchString(o.variable()+"="+value) {
		if err := o.give(value, byVariable); err != nil {
			return err
		}
	}
	set.Var(o, o.name, o.usage)
	return nil
}

// Set is called by package flag, for each time that the flag is typed. A flag wins over its
// variable.
func (o *option) Set(text string) error {
	if o.from == byFlag && o.reset == nil {
		o.failed = exit.Usagef("leave one of them out", "-%s counts once: %s and %s", o.name, o.text, text)
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

// refused parses a value, and returns why it is refused.
func (o *option) refused(value string) error {
	if strings.HasPrefix(value, "-") && len(value) > 1 && value[1] >= 'a' && o.from == byFlag && !o.toggle {
		return exit.Usagef(o.want, "-%s has no value: %s follows it", o.name, value)
	}
	err := o.parse(value)
	if err == nil || errors.As(err, new(*exit.CommandError)) {
		return err
	}
	return exit.Usagef(o.want, "%s is %q", o.shown(), value)
}

// String, IsBoolFlag, Names and IsSet describe the option to package flag and to the flag
// library.
func (o *option) String() string   { return o.name } // by which the flag library tells flags apart
func (o *option) IsBoolFlag() bool { return o.toggle }
func (o *option) Names() []string  { return []string{o.name} }
func (o *option) IsSet() bool      { return o.from != byDefault }

// A category groups flags in the help. Its methods make options.
type category string

const (
	catContent category = "Content"
	catNetwork category = "Network"
	catLimits  category = "Limits"
	catWatch   category = "Changes"
	catLog     category = "Log"
	catRights  category = "Rights"
	catOther   category = "Other"
	ofCommand  category = "" // flags of a command have none
)

// value makes an option of any type.
func value[T any](c category, to *T, name, def, usage, want string, parse func(string) (T, error)) *option {
	set := func(text string) error {
		v, err := parse(text)
		if err == nil {
			*to = v
		}
		return err
	}
	return &option{name: name, usage: usage, def: def, category: c, parse: set, want: want}
}

// list makes an option that may be repeated, or have several values between commas.
func list[T any](c category, to *[]T, name, usage, want string, parse func(string) (T, error)) *option {
	add := func(text string) error {
		v, err := parse(text)
		if err == nil {
			*to = append(*to, v)
		}
		return err
	}
	return &option{name: name, usage: usage, category: c, parse: add, reset: func() { *to = nil }, want: want}
}

func asIs(text string) (string, error) { return text, nil }

func (c category) text(to *string, name, def, usage string) *option {
	o := value(c, to, name, def, usage, "", asIs)
	o.want = "-" + name + " takes " + o.valueName()
	return o
}

func (c category) list(to *[]string, name, usage string) *option {
	o := list(c, to, name, usage, "", asIs)
	o.want = "-" + name + " takes " + o.valueName()
	return o
}

// word takes one of a few words.
func (c category) word(to *string, name, usage string, words ...string) *option {
	return value(c, to, name, words[0], usage, "want one of "+strings.Join(words, ", "), func(text string) (string, error) {
		if !slices.Contains(words, text) {
			return "", strconv.ErrSyntax
		}
		return text, nil
	})
}

// mode takes one of the words that a type knows.
func mode[T any, P interface {
	*T
	UnmarshalText(text []byte) error
}](c category, to *T, name, usage string, words ...string) *option {
	return value(c, to, name, words[0], usage, "want one of "+strings.Join(words, ", "), func(text string) (v T, err error) {
		err = P(&v).UnmarshalText([]byte(text))
		return v, err
	})
}

func (c category) yes(to *bool, name, usage string) *option {
	o := value(c, to, name, "", usage, "want yes or no", func(text string) (bool, error) {
		switch strings.ToLower(text) {
		case "yes", "on":
			return true, nil
		case "no", "off":
			return false, nil
		}
		return strconv.ParseBool(text)
	})
	o.toggle = true
	return o
}

// number takes a number from 0 to most.
func (c category) number(to *int, name string, def, most int, usage string) *option {
	want := "want a number of 0 or more"
	if most < 1<<30 {
		want = fmt.Sprintf("want a number from 0 to %d", most)
	}
	return value(c, to, name, strconv.Itoa(def), usage, want, func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err == nil && (n < 0 || n > most) {
			err = strconv.ErrRange
		}
		return n, err
	})
}

func (c category) duration(to *time.Duration, name string, def time.Duration, usage string) *option {
	return value(c, to, name, def.String(), usage, "want a DURATION, such as 90s or 10m; none is below 0", func(text string) (time.Duration, error) {
		d, err := time.ParseDuration(text)
		if err == nil && d < 0 {
			err = strconv.ErrRange
		}
		return d, err
	})
}

// rate takes requests per second.
func (c category) rate(to *float64, name, usage string) *option {
	return value(c, to, name, "0", usage, "want requests per second, such as 2 or 0.5", func(text string) (float64, error) {
		n, err := strconv.ParseFloat(text, 64)
		if err == nil && !(n >= 0 && n < 1e9) {
			err = strconv.ErrRange
		}
		return n, err
	})
}

func (c category) size(to *int64, name, def, usage string) *option {
	return value(c, to, name, def, usage, "want a number of bytes, or KiB, MiB, GiB, such as "+def, size.Parse)
}

// blocks takes address blocks; an address is a block of one.
func (c category) blocks(to *[]netip.Prefix, name, usage string) *option {
	return list(c, to, name, usage, "want an address or a block of them, such as 10.0.0.0/8 or ::1", func(text string) (netip.Prefix, error) {
		if a, err := netip.ParseAddr(text); err == nil {
			a = a.Unmap()
			return netip.PrefixFrom(a, a.BitLen()), nil
		}
		return netip.ParsePrefix(text)
	})
}
