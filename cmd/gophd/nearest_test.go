package main

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"show", "check", "explain", "test", "lint", "convert"}
	for typed, want := range map[string]string{
		"chek": "check", "cehck": "check", "explian": "explain", "tset": "test", "lnt": "lint", "convert": "convert",
		"xyz": "", "": "", "serve": "", "checkchecker": "", "no": "",
	} {
		if got := nearest(typed, names); got != want {
			t.Errorf("nearest(%q) = %q, want %q", typed, got, want)
		}
	}
}
