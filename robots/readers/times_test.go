package readers

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// timeRecord is one line of testdata/extended-2.0.jsonl.
type timeRecord struct {
	Kind, Line, Why string
	Expect          json.RawMessage
}

// readRecords calls f with every line of a file in testdata.
func readRecords(t *testing.T, name string, f func(line int, data []byte)) {
	t.Helper()
	file, err := os.Open("../testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		f(n, lines.Bytes())
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
}

// TestTimeCases proves C7 and C8 by the records of the Extended Standard.
func TestTimeCases(t *testing.T) {
	count := 0
	readRecords(t, "extended-2.0.jsonl", func(n int, data []byte) {
		var r timeRecord
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatalf("line %d: %v", n, err)
		}
		got, ok := evaluate(t, r)
		if !ok {
			return
		}
		count++
		if want := strings.ReplaceAll(string(r.Expect), " ", ""); got != want {
			t.Errorf("line %d: %q gives %s, want %s (%s)", n, r.Line, got, want, r.Why)
		}
	})
	if count != 15 {
		t.Errorf("%d records about times, want 15", count)
	}
}

// evaluate returns the answer to a record in the form of its expectation.
func evaluate(t *testing.T, r timeRecord) (string, bool) {
	var values []string
	for line := range strings.Lines(r.Line) {
		_, value, _ := strings.Cut(line, ":")
		values = append(values, value)
	}
	switch r.Kind {
	case "visit-time":
		w, err := ParseVisitTime(values[0])
		return fmt.Sprintf("[[%d,%d]]", w.From, w.To), err == nil
	case "request-rate":
		rate, err := ParseRequestRate(values[0])
		if err != nil {
			return "null", true
		}
		return describe(rate, ""), true
	case "effective-rate":
		var want struct{ At int }
		if err := json.Unmarshal(r.Expect, &want); err != nil {
			t.Fatal(err)
		}
		var rates []Rate
		for _, v := range values {
			rate, err := ParseRequestRate(v)
			if err != nil {
				t.Fatal(err)
			}
			rates = append(rates, rate)
		}
		rate, _ := EffectiveRate(rates, at(want.At))
		return describe(rate, fmt.Sprintf(`"at":%d,`, want.At)), true
	}
	return "", false
}

// describe writes a rate as the records do.
func describe(r Rate, before string) string {
	s := fmt.Sprintf(`{%s"docs":%d,"seconds":%d`, before, r.Documents, int(r.Per.Seconds()))
	if r.Window != nil {
		s += fmt.Sprintf(`,"window":[%d,%d]`, r.Window.From, r.Window.To)
	}
	return s + "}"
}

// at is a minute of a day in UT.
func at(minute int) time.Time {
	return time.Date(2002, 11, 5, 0, minute, 30, 0, time.UTC)
}

// TestVisitTimeSpellings proves the resolutions of C7.
func TestVisitTimeSpellings(t *testing.T) {
	for _, test := range []struct {
		value, want string
	}{
		{"0600-0845", "0600-0845"},
		{" 06:00 08:45 ", "0600-0845"},
		{"600\t845", "0600-0845"},
		{"6:00 -8:45", "0600-0845"},
		{"2200-0500", "2200-0500"},
		{"0000-2400", "0000-2359"},
		{"0600", "want HHMM-HHMM"},
		{"", "want HHMM-HHMM"},
		{"2400-0100", "start of times"},
		{"0600-2401", "out of range"},
		{"0660-0700", "out of range"},
		{"06-07", "not a time"},
		{"06:0-07:00", "not a time"},
		{"0600-0700-0800", "not a time"},
		{"-600-700", "not a time"},
		{"0600-0845 UTC", "not a time"},
	} {
		w, err := ParseVisitTime(test.value)
		if got := outcome(w, err); !strings.Contains(got, test.want) {
			t.Errorf("ParseVisitTime(%q): %s, want %s", test.value, got, test.want)
		}
	}
}

// outcome is the error, or else the value.
func outcome(v fmt.Stringer, err error) string {
	if err != nil {
		return err.Error()
	}
	return v.String()
}

// TestWindowContains proves the ends of C7: inclusive, and wrapping midnight.
func TestWindowContains(t *testing.T) {
	for _, test := range []struct {
		w      Window
		minute int
		want   bool
	}{
		{Window{360, 525}, 359, false},
		{Window{360, 525}, 360, true},
		{Window{360, 525}, 525, true},
		{Window{360, 525}, 526, false},
		{Window{1020, 299}, 1019, false},
		{Window{1020, 299}, 1020, true},
		{Window{1020, 299}, 0, true},
		{Window{1020, 299}, 299, true},
		{Window{1020, 299}, 300, false},
		{Window{}, 0, true},
		{Window{}, 1, false},
	} {
		local := at(test.minute).In(time.FixedZone("east", 5*3600))
		if got := test.w.Contains(local); got != test.want {
			t.Errorf("%v contains minute %d: %v", test.w, test.minute, got)
		}
	}
}

// TestRequestRateSpellings proves the resolutions of C8.
func TestRequestRateSpellings(t *testing.T) {
	for _, test := range []struct {
		value, want string
	}{
		{"10/60", "10/1m"},
		{"10/61s", "10/61"},
		{"1/24h", "1/1d"},
		{"5/1m  0500-1259", "5/1m 0500-1259"},
		{"1/0", "out of range"},
		{"10", "no slash"},
		{"9/banana", "not a time"},
		{"0/10", "out of range"},
		{"1/", "not a time"},
		{"1/h", "not a time"},
		{"-1/5", "not a number"},
		{"x/5", "not a number"},
		{"1/366d", "out of range"},
		{"1/99999999999999999999", "out of range"},
		{"99999999999999999999/1", "out of range"},
		{"1/5 2500-2600", "out of range"},
	} {
		r, err := ParseRequestRate(test.value)
		if got := outcome(r, err); !strings.Contains(got, test.want) {
			t.Errorf("ParseRequestRate(%q): %s, want %s", test.value, got, test.want)
		}
	}
}

// TestEffectiveRate proves C8 with the example of the text, and that of two
// windows the slower binds.
func TestEffectiveRate(t *testing.T) {
	var rates []Rate
	for _, v := range []string{"1/10m 1300-1659", "1/20m 1700-0459", "5/1m 0500-1259",
		"1/15m 1600-1700"} {
		r, err := ParseRequestRate(v)
		if err != nil {
			t.Fatal(err)
		}
		rates = append(rates, r)
	}
	for minute, want := range map[int]time.Duration{
		12*60 + 59: 12 * time.Second,
		13 * 60:    10 * time.Minute,
		16 * 60:    15 * time.Minute,
		17 * 60:    20 * time.Minute,
		0:          20 * time.Minute,
	} {
		if r, ok := EffectiveRate(rates, at(minute)); !ok || r.Interval() != want {
			t.Errorf("minute %d: %v %v, want one every %v", minute, r, ok, want)
		}
	}
	if r, ok := EffectiveRate(rates[:1], at(0)); ok {
		t.Errorf("outside of the only window: %v, want none", r)
	}
}

func TestRateInterval(t *testing.T) {
	for _, test := range []struct {
		r    Rate
		want time.Duration
	}{
		{Rate{}, 0},
		{Rate{Documents: 100, Per: 24 * time.Hour}, 864 * time.Second},
		{Rate{Documents: 3, Per: time.Second}, 333333334},
		{Rate{Documents: 2e9, Per: time.Second}, 1},
	} {
		if got := test.r.Interval(); got != test.want {
			t.Errorf("%v: one every %v, want %v", test.r, got, test.want)
		}
	}
}

func TestParseCrawlDelay(t *testing.T) {
	for _, test := range []struct {
		value string
		want  time.Duration
		fails bool
	}{
		{"10", 10 * time.Second, false},
		{" 0.5 ", time.Second / 2, false},
		{".25", time.Second / 4, false},
		{"0", 0, false},
		{"31536000", MaxDelay, false},
		{"31536001", MaxDelay, true},
		{strings.Repeat("9", 400), MaxDelay, true},
		{"", 0, true},
		{".", 0, true},
		{"5.", 0, true},
		{"-1", 0, true},
		{"1e3", 0, true},
		{"10 s", 0, true},
		{"NaN", 0, true},
	} {
		got, err := ParseCrawlDelay(test.value)
		if got != test.want || (err != nil) != test.fails {
			t.Errorf("ParseCrawlDelay(%.20q) = %v, %v", test.value, got, err)
		}
		if test.fails && errors.Is(err, ErrRange) != (got == MaxDelay) {
			t.Errorf("ParseCrawlDelay(%.20q): error %v", test.value, err)
		}
	}
}

// FuzzTimes proves that what the parsers of C7 and C8 take, they write in a
// form that they read as the same value.
func FuzzTimes(f *testing.F) {
	for _, s := range []string{"0600-0845", "6:00 8:45", "10/60", "1/20m 1700-0459",
		"1/1d", "0.5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if w, err := ParseVisitTime(s); err == nil {
			if again, err := ParseVisitTime(w.String()); err != nil || again != w {
				t.Errorf("%q: %v, again %v, %v", s, w, again, err)
			}
		}
		if r, err := ParseRequestRate(s); err == nil {
			again, err := ParseRequestRate(r.String())
			if err != nil || again.String() != r.String() || again.Interval() != r.Interval() {
				t.Errorf("%q: %v, again %v, %v", s, r, again, err)
			}
			if i := r.Interval(); i <= 0 || i > MaxDelay {
				t.Errorf("%q: one every %v", s, i)
			}
		}
		if d, _ := ParseCrawlDelay(s); d < 0 || d > MaxDelay {
			t.Errorf("%q: %v", s, d)
		}
	})
}
