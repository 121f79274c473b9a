package main

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/daemon"
)

// serveFlags returns the options of a server, made from the tags of daemon.Flags: those with the
// given names, or all if none are given.
func serveFlags(f *daemon.Flags, names ...string) (all []cli.Flag) {
	fields := reflect.ValueOf(f).Elem()
	group := ""
	for i := range fields.NumField() {
		tag := fields.Type().Field(i).Tag
		if of := tag.Get("category"); of != "" {
			group = of
		}
		name := tag.Get("flag")
		if name == "" || len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		o := row(fields.Field(i).Addr().Interface(), name, tag.Get("default"), tag.Get("usage"))
		o.value, o.needs, o.category = tag.Get("value"), tag.Get("needs"), group
		if words := tag.Get("oneof"); words != "" {
			o.want = "want one of " + words
			parse := o.parse
			o.parse = func(text string) error {
				if !slices.Contains(strings.Split(words, ", "), text) {
					return strconv.ErrSyntax
				}
				return parse(text)
			}
		}
		if name == "users" {
			o.want = "want a path, and perhaps one after gemini="
			o.parse = func(text string) error { return addUsers(f, text) }
			o.reset = func() { f.Users, f.UsersGemini = "", "" }
		}
		all = append(all, o)
	}
	return all
}

// siteFlags returns the flags for the parts of a site besides its root directory, and more.
func siteFlags(f *daemon.Flags, more ...string) []cli.Flag {
	return serveFlags(f, append(more, "users", "users-min-uid", "mount", "fastcgi",
		"search", "sitemap")...)
}

// addUsers sets the pattern of -users, or the one for Gemini.
func addUsers(f *daemon.Flags, text string) error {
	to := &f.Users
	pattern, isGemini := strings.CutPrefix(text, "gemini=")
	if isGemini {
		to = &f.UsersGemini
	}
	if *to != "" {
		return exit.Usagef("leave one of them out", "-users counts once: %s and %s", *to, pattern)
	}
	*to = pattern
	return nil
}
