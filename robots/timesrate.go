package robots

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A Rate says how many documents a robot may fetch in a time, as a
// Request-rate line gives it (C8).
type Rate struct {
	Documents int           // more than 0
	Per       time.Duration // more than 0, at most MaxDelay, in whole seconds
	Window    *Window       // when the rate holds; nil: whenever no other does
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

// EffectiveRate picks the rate that binds at a time (C8): the slowest of those
// whose window holds it, else the slowest of those without one. It is false
// when there is neither; then the rule of thumb of [Pace] holds.
func EffectiveRate(rates []Rate, at time.Time) (Rate, bool) {
	return rateAt(rates, minuteOf(at))
}

// rateAt is EffectiveRate for a minute of the day.
func rateAt(rates []Rate, minute int) (best Rate, found bool) {
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
