package readers

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gophd/gophd/diag"
)

// TestCrawlerCases proves I1, I2, I3, I4, I5, I6, I7, I8 and I9 by the records
// of the token's text.
func TestCrawlerCases(t *testing.T) {
	count := 0
	readRecords(t, "../kit/irc.jsonl", func(n int, data []byte) {
		count++
		var r struct {
			ISupport []string
			Expect   struct {
				Index    string
				Cooldown any
				Error    string
			}
			Why string
		}
		if err := json.Unmarshal(data, &r); err != nil {
			t.Fatalf("line %d: %v", n, err)
		}
		c, problems := ParseCrawler(r.ISupport...)
		if c.Index.String() != r.Expect.Index {
			t.Errorf("line %d: %q: index %v, want %s (%s)", n, r.ISupport, c.Index,
				r.Expect.Index, r.Why)
		}
		want := fmt.Sprint(r.Expect.Cooldown)
		if got := cooldown(c); want != "<nil>" && got != want {
			t.Errorf("line %d: %q: cooldown %s, want %s (%s)", n, r.ISupport, got, want, r.Why)
		}
		if got := codes(problems); got != r.Expect.Error {
			t.Errorf("line %d: %q: diagnosed %q, want %q (%s)", n, r.ISupport, got,
				r.Expect.Error, r.Why)
		}
	})
	if count != 15 {
		t.Errorf("%d records, want 15", count)
	}
}

// cooldown writes a cooldown as the records do.
func cooldown(c Crawler) string {
	if c.Cooldown == MaxCooldown {
		return "max"
	}
	return fmt.Sprint(c.Cooldown.Seconds())
}

// codes joins the codes of diagnostics that are more than a note.
func codes(problems []diag.Diagnostic) string {
	var all []string
	for _, p := range problems {
		if p.Severity != diag.Notice {
			_, class, _ := strings.Cut(p.Code, "-")
			all = append(all, strings.ToLower(class))
		}
	}
	return strings.Join(all, " ")
}

// TestCrawlerValues proves what the records leave open: odd indexes (I3), several
// values (I5), odd cooldowns (I6), unknown keys (I7), odd escapes (I9).
func TestCrawlerValues(t *testing.T) {
	for _, test := range []struct {
		value, want, codes string
	}{
		{"index:allow,colour:red", "allow 3600", ""},
		{"index:allow,flag", "allow 3600", ""},
		{"INDEX:deny,Cooldown:5", "deny 5", ""},
		{"index:DENY", "deny 3600", "index-value"},
		{"index:ALLOW", "unspecified 3600", "index-value"},
		{"index", "unspecified 3600", "index-value"},
		{"index:allow,index:x", "unspecified 3600", "duplicate index-value"},
		{"index:x,index:deny", "deny 3600", "index-value duplicate"},
		{"index:allow,cooldown:60,cooldown:5", "allow 60", "duplicate"},
		{"index:allow,cooldown:60,cooldown:x", "allow 3600", "duplicate cooldown-value"},
		{"index:allow,cooldown:0", "allow 0", ""},
		{"index:allow,cooldown:", "allow 3600", "cooldown-value"},
		{`index:allow\x2ccooldown:7`, "allow 7", ""},
		{`index:deny\x2`, "unspecified 3600", "index-value"},
		{`index:deny\xzz`, "unspecified 3600", "index-value"},
		{`inde\x78:deny`, "deny 3600", ""},
		{`index\x5cx3adeny`, "unspecified 3600", "index-missing"},
	} {
		c, problems := ParseCrawler("CRAWLER=" + test.value)
		got := fmt.Sprint(c.Index, " ", c.Cooldown.Seconds())
		if got != test.want || codes(problems) != test.codes {
			t.Errorf("%s: %s %q, want %s %q", test.value, got, codes(problems),
				test.want, test.codes)
		}
	}
}

// TestCrawlerReplaced proves how tokens replace each other and are taken back
// (I8), and that one without a value does nothing (I2).
func TestCrawlerReplaced(t *testing.T) {
	for _, test := range []struct {
		tokens string
		want   Indexing
	}{
		{"", IndexUnspecified},
		{"CRAWLER", IndexUnspecified},
		{"CRAWLER=index:allow -CRAWLER", IndexUnspecified},
		{"CRAWLER=index:allow -crawler CRAWLER=index:deny", IndexDeny},
		{"CRAWLER=index:deny CRAWLER=index:allow", IndexAllow},
		{"CRAWLER=index:deny CRAWLER=", IndexDeny},
		{"CRAWLER=index:allow CRAWLER=index:maybe", IndexUnspecified},
		{"XCRAWLER=index:allow CRAWLERS=index:allow", IndexUnspecified},
	} {
		if c, _ := ParseCrawler(strings.Fields(test.tokens)...); c.Index != test.want {
			t.Errorf("%s: %v, want %v", test.tokens, c.Index, test.want)
		}
	}
}

// TestCrawlerDiagnostics proves I7: a name in lower case is read, and noted.
func TestCrawlerDiagnostics(t *testing.T) {
	c, problems := ParseCrawler("CRAWLER=index:allow", "Crawler=index:deny,cooldown:x")
	if c.Index != IndexDeny || len(problems) != 2 {
		t.Fatalf("%v %v, want deny and two diagnostics", c, problems)
	}
	for i, want := range []diag.Diagnostic{
		{Code: "I7-TOKEN-CASE", Severity: diag.Notice},
		{Code: "I6-COOLDOWN-VALUE", Severity: diag.Warning},
	} {
		got := problems[i]
		got.Message = ""
		if got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

func TestCrawlerString(t *testing.T) {
	for want, c := range map[string]Crawler{
		"":                                 {},
		"CRAWLER=index:allow,cooldown:0":   {Index: IndexAllow},
		"CRAWLER=index:deny,cooldown:3600": {IndexDeny, DefaultCooldown},
	} {
		if got := c.String(); got != want {
			t.Errorf("%v: %q, want %q", c.Index, got, want)
		}
	}
}

// FuzzCrawler proves that nothing is read as a permission that does not say so,
// and that what is written is read as the same.
func FuzzCrawler(f *testing.F) {
	for _, s := range []string{"index:allow,cooldown:3600", `index\x3Adeny`,
		"index:allow,index:deny", "cooldown:1h,,x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		c, problems := ParseCrawler("CRAWLER=" + value)
		if c.Index == IndexAllow && !strings.Contains(decodeHex(value), "allow") {
			t.Errorf("%q is read as a permission", value)
		}
		if c.Cooldown < 0 || c.Cooldown > MaxCooldown {
			t.Errorf("%q: cooldown %v", value, c.Cooldown)
		}
		if c.Index == IndexUnspecified && value != "" && len(problems) == 0 {
			t.Errorf("%q: unspecified and nothing diagnosed", value)
		}
		again, problems := ParseCrawler(c.String())
		if c.Index != IndexUnspecified && (again != c || problems != nil) {
			t.Errorf("%q: %v, again %v %v", value, c, again, problems)
		}
	})
}
