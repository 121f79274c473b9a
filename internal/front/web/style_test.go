package web

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	comment  = regexp.MustCompile(`(?s)/\*.*?\*/`)
	root     = regexp.MustCompile(`(@media[^{]*\{\s*)?(?::root)+\{([^}]*)\}`)
	variable = regexp.MustCompile(`--([a-z0-9]+):(#[0-9a-f]{6}|#[0-9a-f]{3})\b`)
	literal  = regexp.MustCompile(`(?:color|background|fill|stroke):\s*(#[0-9a-f]+|[a-z]+)`)
	gradient = regexp.MustCompile(`gradient\([^;}]*#`)
)

// palettes returns the colors of a theme by name, light and dark.
func palettes(theme string) map[string]map[string]string {
	light, dark := map[string]string{}, map[string]string{}
	for _, part := range root.FindAllStringSubmatch(baseStyle+theme, -1) {
		if strings.Contains(part[1], "print") {
			continue
		}
		for _, m := range variable.FindAllStringSubmatch(part[2], -1) {
			dark[m[1]] = m[2]
			if part[1] == "" {
				light[m[1]] = m[2]
			}
		}
	}
	return map[string]map[string]string{"light": light, "dark": dark}
}

// contrast is that of two colors, as WCAG 2.2 defines it.
func contrast(t *testing.T, a, b string) float64 {
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(t *testing.T, color string) float64 {
	t.Helper()
	hex := strings.TrimPrefix(color, "#")
	if len(hex) == 3 {
		hex = fmt.Sprintf("%c%c%c%c%c%c", hex[0], hex[0], hex[1], hex[1], hex[2], hex[2])
	}
	n, err := strconv.ParseUint(hex, 16, 32)
	if err != nil || len(hex) != 6 {
		t.Fatalf("no color: %q", color)
	}
	l := 0.0
	for i, weight := range []float64{0.0722, 0.7152, 0.2126} {
		c := float64(n>>(8*i)&255) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		l += weight * c
	}
	return l
}

// TestContrast: every color that text may have stands out from every background it may have,
// in each theme, light and dark.
func TestContrast(t *testing.T) {
	for name, theme := range map[string]string{"plain": "", "paper": paperStyle,
		"terminal": terminalStyle} {
		for mode, colors := range palettes(theme) {
			if colors["fg"] == "" || colors["c15"] == "" {
				t.Fatalf("%s, %s: the colors were not found: %v", name, mode, colors)
			}
			pairs := [][2]string{{"fg", "bg"}, {"dim", "bg"}, {"link", "bg"}, {"seen", "bg"},
				{"fg", "soft"}, {"dim", "soft"}, {"link", "soft"}, {"fg", "mark"}}
			for i := range 16 {
				pairs = append(pairs, [2]string{fmt.Sprintf("c%d", i), "bg"})
			}
			for _, p := range pairs {
				if got := contrast(t, colors[p[0]], colors[p[1]]); got < 4.5 {
					t.Errorf("%s, %s: %s on %s: %.2f", name, mode, p[0], p[1], got)
				}
			}
			for _, shape := range []string{"bar", "bad"} {
				if got := contrast(t, colors[shape], colors["bg"]); got < 3 {
					t.Errorf("%s, %s: %s: %.2f", name, mode, shape, got)
				}
			}
		}
	}
	if got := contrast(t, "#000", "#fff"); math.Abs(got-21) > 0.01 {
		t.Errorf("black on white is %v", got)
	}
}

// TestColorsAreVariables: no rule has a color that TestContrast does not see.
func TestColorsAreVariables(t *testing.T) {
	for _, style := range []string{baseStyle, paperStyle, terminalStyle} {
		style = comment.ReplaceAllString(style, "")
		for _, m := range literal.FindAllStringSubmatch(style, -1) {
			if !slices.Contains([]string{"var", "inherit", "current", "transparent", "none",
				"linear"}, m[1]) { // currentColor, and a gradient
				t.Error(m[0])
			}
		}
		if m := gradient.FindString(style); m != "" {
			t.Error(m)
		}
	}
}
