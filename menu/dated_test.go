package menu

import (
	"testing"
	"time"
)

func TestDay(t *testing.T) {
	for name, want := range map[string]string{
		"2026-11-22.txt": "2026-11-22", "2026-11-22": "2026-11-22",
		"20261122-title.txt": "2026-11-22", "2026_01_02x": "2026-01-02", "1970-12-31": "1970-12-31",
		"1969-12-31": "",
		"2026.01.02": "2026-01-02", "2024-02-29 leap": "2024-02-29",
		"2025-02-29.txt": "", "2026-13-01": "", "202611221.txt": "", "2026-11-223": "",
		"2026-11-220": "", "2026-11_22": "", "1200-01-01": "",
		"post-2026-11-22": "", "2026": "", "": "", "2026-1-2.txt": "", "20261": "",
	} {
		got := ""
		if day, ok := Day(name); ok {
			got = day.Format(time.DateOnly)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]bool{"2026-11-22.txt": true, "2026-11-22": true,
		"2026-11-22.zip": false} {
		if _, ok := DatedText(name); ok != want {
			t.Errorf("%q is a dated text: %v", name, ok)
		}
	}
}
