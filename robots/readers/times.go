package readers

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// day is the minutes of one day in UT.
const day = 24 * 60

// MaxDelay bounds the interval between two requests. No file sets a longer one in earnest,
// and the bound keeps sums of times from overflowing.
const MaxDelay = 365 * 24 * time.Hour

// ErrRange marks a time or rate that is well written but outside of its limits.
var ErrRange = errors.New("out of range")

// A Window is a part of every day in UT, as Visit-time and Request-rate lines
// give it (C7, C8). From and To are minutes after midnight, 0 to 1439, and both
// belong to the window up to their last second; From > To wraps midnight.
// The zero Window is the first minute of the day.
type Window struct {
	From, To int
}

// ParseVisitTime reads the value of a Visit-time line (C7): two times HHMM with
// `-` or white space between them. It also takes `H:MM`, and 2400 as an end.
// Times out of range give an error that is [ErrRange].
func ParseVisitTime(value string) (Window, error) {
	from, to, ok := strings.Cut(strings.TrimSpace(value), "-")
	if !ok {
		from, to, ok = cutSpace(from)
	}
	if !ok {
		return Window{}, fmt.Errorf("reading times %q: want HHMM-HHMM", value)
	}
	var w Window
	var err error
	if w.From, err = parseMinute(strings.TrimSpace(from)); err == nil && w.From == day {
		err = ErrRange
	}
	if err != nil {
		return Window{}, fmt.Errorf("reading start of times %q: %w", value, err)
	}
	if w.To, err = parseMinute(strings.TrimSpace(to)); err != nil {
		return Window{}, fmt.Errorf("reading end of times %q: %w", value, err)
	}
	w.To = min(w.To, day-1)
	return w, nil
}

// cutSpace cuts s around its first run of white space.
func cutSpace(s string) (before, after string, found bool) {
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		return s, "", false
	}
	return s[:i], strings.TrimLeft(s[i:], " \t"), true
}

// parseMinute reads HHMM, HMM, HH:MM or H:MM as a minute of the day, 0 to 1440.
func parseMinute(s string) (int, error) {
	hour, minute, ok := strings.Cut(s, ":")
	if !ok && len(s) > 2 {
		hour, minute = s[:len(s)-2], s[len(s)-2:]
	}
	if !digits(hour) || !digits(minute) || len(hour) > 2 || len(minute) != 2 {
		return 0, fmt.Errorf("%q is not a time of the form HHMM", s)
	}
	h, _ := strconv.Atoi(hour)
	m, _ := strconv.Atoi(minute)
	if m > 59 || h*60+m > day {
		return 0, fmt.Errorf("time %q: %w", s, ErrRange)
	}
	return h*60 + m, nil
}

// digits reports whether s is one ASCII digit or more, and nothing else.
func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// Contains reports whether t is in the window.
func (w Window) Contains(t time.Time) bool { return w.has(minuteOf(t)) }

// has reports whether a minute of the day belongs to the window.
func (w Window) has(minute int) bool {
	if w.From <= w.To {
		return w.From <= minute && minute <= w.To
	}
	return minute >= w.From || minute <= w.To
}

// minuteOf is the minute of the day in UT.
func minuteOf(t time.Time) int {
	t = t.UTC()
	return t.Hour()*60 + t.Minute()
}

// String writes the window as HHMM-HHMM, the only form in use.
func (w Window) String() string {
	return fmt.Sprintf("%02d%02d-%02d%02d", w.From/60, w.From%60, w.To/60, w.To%60)
}

// ParseCrawlDelay reads the value of a Crawl-delay line: seconds, decimals
// allowed. More than [MaxDelay] gives MaxDelay together with an error that is
// [ErrRange], so that a robot that takes no notice of the error stays polite.
func ParseCrawlDelay(value string) (time.Duration, error) {
	value = strings.TrimSpace(value)
	whole, fraction, point := strings.Cut(value, ".")
	if !digits(whole+fraction) || point && !digits(fraction) {
		return 0, fmt.Errorf("reading delay %q: want seconds", value)
	}
	seconds, err := strconv.ParseFloat(value, 64)
	if err != nil || seconds > MaxDelay.Seconds() {
		return MaxDelay, fmt.Errorf("reading delay %q: %w", value, ErrRange)
	}
	return time.Duration(seconds * float64(time.Second)), nil
}

// A Rate is the number of documents that a robot may fetch in a period: the value of a
// Request-rate line (C8).
type Rate struct {
	Documents int           // more than 0
	Per       time.Duration // more than 0, at most MaxDelay, in whole seconds
	Window    *Window       // when the rate applies; nil: whenever no other does
}

// ParseRequestRate reads the value of a Request-rate line (C8):
// `documents/time[unit] [HHMM-HHMM]` with the unit s (when there is none), m, h
// or d. A line that gives an error is to be ignored, like a rate of no
// documents or in no time; then the error is [ErrRange].
func ParseRequestRate(value string) (Rate, error) {
	ratio, times, timed := cutSpace(strings.TrimSpace(value))
	r, err := parseRatio(ratio)
	if err != nil {
		return Rate{}, fmt.Errorf("reading rate %q: %w", value, err)
	}
	if !timed {
		return r, nil
	}
	w, err := ParseVisitTime(times)
	if err != nil {
		return Rate{}, fmt.Errorf("reading rate %q: %w", value, err)
	}
	r.Window = &w
	return r, nil
}

// parseRatio reads documents/time[unit].
func parseRatio(s string) (Rate, error) {
	documents, per, ok := strings.Cut(s, "/")
	if !ok {
		return Rate{}, errors.New("no slash; want documents/time")
	}
	if !digits(documents) {
		return Rate{}, fmt.Errorf("%q is not a number of documents", documents)
	}
	n, err := strconv.ParseInt(documents, 10, 32)
	if err != nil || n == 0 {
		return Rate{}, fmt.Errorf("%s documents: %w", documents, ErrRange)
	}
	d, err := parsePer(per)
	return Rate{Documents: int(n), Per: d}, err
}

// parsePer reads time[unit].
func parsePer(s string) (time.Duration, error) {
	number, unit := s, time.Second
	if n := len(s) - 1; n >= 0 {
		switch s[n] {
		case 's', 'S':
			number = s[:n]
		case 'm', 'M':
			number, unit = s[:n], time.Minute
		case 'h', 'H':
			number, unit = s[:n], time.Hour
		case 'd', 'D':
			number, unit = s[:n], 24*time.Hour
		}
	}
	if !digits(number) {
		return 0, fmt.Errorf("%q is not a time in s, m, h or d", s)
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n == 0 || n > int64(MaxDelay/unit) {
		return 0, fmt.Errorf("time %q: %w", s, ErrRange)
	}
	return time.Duration(n) * unit, nil
}

// Interval is the time between the starts of two requests at this rate, rounded
// up, so that the rate is never exceeded. A Rate of no documents gives 0.
func (r Rate) Interval() time.Duration {
	if r.Documents <= 0 || r.Per <= 0 {
		return 0
	}
	n := time.Duration(r.Documents)
	return r.Per/n + min(1, r.Per%n)
}

// String writes the value of a Request-rate line in the largest unit that is
// exact.
func (r Rate) String() string {
	seconds, unit := int64(math.Ceil(r.Per.Seconds())), ""
	for _, u := range []struct {
		seconds int64
		name    string
	}{{24 * 3600, "d"}, {3600, "h"}, {60, "m"}} {
		if seconds > 0 && seconds%u.seconds == 0 {
			seconds, unit = seconds/u.seconds, u.name
			break
		}
	}
	s := strconv.Itoa(r.Documents) + "/" + strconv.FormatInt(seconds, 10) + unit
	if r.Window != nil {
		s += " " + r.Window.String()
	}
	return s
}

// EffectiveRate returns the rate that applies at a time (C8): the slowest of those whose
// window contains it, else the slowest of those without a window. Without either, found is
// false, and the client's rule of thumb applies.
func EffectiveRate(rates []Rate, at time.Time) (best Rate, found bool) {
	minute := minuteOf(at)
	for _, r := range rates {
		if r.Window != nil && !r.Window.has(minute) {
			continue
		}
		special := r.Window != nil && best.Window == nil
		equal := (r.Window != nil) == (best.Window != nil)
		if !found || special || equal && r.Interval() > best.Interval() {
			best, found = r, true
		}
	}
	return best, found
}
