package readers

// The vocabulary of preferences about use: one table, from which everything that
// reads, writes, checks or converts preferences takes its keys.

import (
	"errors"
	"slices"
	"strings"

	"github.com/dunglas/httpsfv"
)

// VocabularyChecked is the day on which the table of [Categories] was last compared
// with its sources.
const VocabularyChecked = "2026-11-23"

// Category is a kind of use about which a site states a preference. Content-Usage
// lines name it by Key (draft-ietf-aipref-vocab), Content-Signal lines by Signal
// (Cloudflare, 2025-09; draft-romm-aipref-vocab-contentsignals maps the two).
type Category struct {
	Key     string   // in Content-Usage; empty if it has no such key
	Signal  string   // in Content-Signal; empty if it has no such key
	Since   string   // day of the edition that brought the key (back), YYYY-MM-DD
	Until   string   // day of the edition that dropped it; empty while the key is current
	Instead string   // the current key that replaces it; empty if none does
	Values  []string // that the signal may have
	Meaning string
}

var yesNo = []string{"yes", "no"}

// A test compares categories with the editions in testdata/vocabulary.jsonl.
var categories = []Category{
	{
		Key:     "search",
		Signal:  "search",
		Since:   "2025-06-18",
		Values:  yesNo,
		Meaning: "to build a search index, and to show links and short excerpts",
	},
	{
		Key:     "train-ai",
		Signal:  "ai-train",
		Since:   "2025-07-20",
		Values:  yesNo,
		Meaning: "to train or fine-tune AI models",
	},
	{
		Key:     "ai-use",
		Signal:  "ai-input",
		Since:   "2026-09-14",
		Values:  yesNo,
		Meaning: "as input to AI models, such as for generated answers",
	},
	{
		Signal:  "use",
		Since:   "2026-07-01",
		Values:  []string{"immediate", "reference", "full"},
		Meaning: "how much of the content may be shown",
	},
	{
		Key:     "ai",
		Since:   "2025-06-18",
		Until:   "2025-07-20",
		Instead: "train-ai",
		Meaning: "to train AI models",
	},
	{
		Key:     "genai",
		Since:   "2025-06-18",
		Until:   "2025-07-20",
		Instead: "train-ai",
		Meaning: "to train generative AI models",
	},
	{
		Key:     "inference",
		Since:   "2025-06-18",
		Until:   "2025-07-20",
		Instead: "ai-use",
		Meaning: "as input to AI models",
	},
	{
		Key:     "tdm",
		Since:   "2025-06-18",
		Until:   "2025-07-20",
		Meaning: "text and data mining",
	},
	{
		Key:     "all",
		Since:   "2025-07-20",
		Until:   "2025-09-05",
		Meaning: "any automated processing",
	},
	{
		Key:     "train-genai",
		Since:   "2025-07-20",
		Until:   "2025-10-23",
		Instead: "train-ai",
		Meaning: "to train generative AI models",
	},
	{
		Key:     "bots",
		Since:   "2025-09-05",
		Until:   "2025-11-28",
		Meaning: "any automated processing",
	},
	{
		Key:     "ai-output",
		Since:   "2025-10-23",
		Until:   "2025-11-28",
		Instead: "ai-use",
		Meaning: "to generate the output of AI systems",
	},
}

// Categories lists the known categories, current ones first.
func Categories() []Category { return slices.Clone(categories) }

// CategoryOf returns the category with a key of Content-Usage.
func CategoryOf(key string) (c Category, known bool) {
	for _, c := range categories {
		if c.Key == key && key != "" {
			return c, true
		}
	}
	return Category{}, false
}

// Signal is a pair of a Content-Signal line, such as ai-train=no.
type Signal struct {
	Text       string   // as written
	Key, Value string   // in lower case
	Category   Category // of the key; the zero Category if there is none
}

// ParseSignals reads the value of a Content-Signal line.
func ParseSignals(value string) []Signal {
	var signals []Signal
	for pair := range strings.SplitSeq(value, ",") {
		s := Signal{Text: strings.TrimSpace(pair)}
		key, value, _ := strings.Cut(strings.ToLower(s.Text), "=")
		s.Key, s.Value = strings.TrimSpace(key), strings.TrimSpace(value)
		for _, c := range categories {
			if c.Signal == s.Key && s.Key != "" {
				s.Category = c
			}
		}
		signals = append(signals, s)
	}
	return signals
}

// IsValid reports whether a category has the key, with this value.
func (s Signal) IsValid() bool {
	return slices.Contains(s.Category.Values, s.Value)
}

// Preference is a site's preference for one category of use.
type Preference uint8

// The preferences. Unstated neither permits nor prohibits: a robot's author decides
// what it does then.
const (
	Unstated Preference = iota
	Yes                 // y: the use is allowed
	No                  // n: it is not
)

// String returns unstated, y or n.
func (p Preference) String() string {
	switch p {
	case Yes:
		return "y"
	case No:
		return "n"
	}
	return "unstated"
}

// Stated is the preference for one category of use.
type Stated struct {
	Key        string // of a [Category]
	Preference Preference
	Line       int // of the Content-Usage line; 0 outside of a file
}

// Statement lists the preferences stated for one path, sorted by key. Its keys
// come from [Categories].
type Statement []Stated

// Of returns the preference for a category of use.
func (s Statement) Of(key string) Preference {
	for _, p := range s {
		if p.Key == key {
			return p.Preference
		}
	}
	return Unstated
}

// String returns the statement as a dictionary, "search=y, train-ai=n": the value of
// a Content-Usage line, and of the HTTP field of that name.
func (s Statement) String() string {
	var all []string
	for _, p := range s {
		if p.Preference != Unstated {
			all = append(all, p.Key+"="+p.Preference.String())
		}
	}
	return strings.Join(all, ", ")
}

// Combine returns both statements as one. If they differ in a category, the more
// restrictive preference applies (draft-ietf-aipref-vocab, section 5.1).
func (s Statement) Combine(other Statement) Statement {
	all := slices.Clone(s)
	for _, o := range other {
		i := slices.IndexFunc(all, func(p Stated) bool { return p.Key == o.Key })
		switch {
		case i < 0:
			all = append(all, o)
		case o.Preference > all[i].Preference:
			all[i] = o
		}
	}
	slices.SortFunc(all, func(a, b Stated) int { return strings.Compare(a.Key, b.Key) })
	return all
}

// errUsage is the error for a dictionary without a member.
var errUsage = errors.New("no preference is stated")

// ParseUsage reads the dictionary of a Content-Usage line (RFC 9651). It keeps the
// keys of [Categories] and ignores others; see [UnknownKeys]. The token y is Yes and
// n is No; any other value is Unstated, which is no error. Parameters are ignored.
func ParseUsage(value string) (Statement, error) {
	dict, err := parseDictionary(value)
	if err != nil {
		return nil, err
	}
	return statementOf(dict), nil
}

func parseDictionary(value string) (*httpsfv.Dictionary, error) {
	dict, err := httpsfv.UnmarshalDictionary([]string{value})
	if err == nil && len(dict.Names()) == 0 {
		err = errUsage
	}
	return dict, err
}

// UnknownKeys returns the keys of a dictionary that no [Category] has, in their
// order, each once; none if it does not parse.
func UnknownKeys(value string) []string {
	dict, err := parseDictionary(value)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(dict.Names()), func(key string) bool {
		_, known := CategoryOf(key)
		return known
	})
}

// byKey lists the keys of the table, in their order.
var byKey = func() (keys []string) {
	for _, c := range categories {
		if c.Key != "" {
			keys = append(keys, c.Key)
		}
	}
	slices.Sort(keys)
	return keys
}()

// statementOf returns what a dictionary states of the keys of the table. It is never nil.
func statementOf(dict *httpsfv.Dictionary) Statement {
	s := Statement{}
	for _, key := range byKey {
		member, there := dict.Get(key)
		if !there {
			continue
		}
		stated := Unstated
		if item, ok := member.(httpsfv.Item); ok {
			switch item.Value {
			case httpsfv.Token("y"):
				stated = Yes
			case httpsfv.Token("n"):
				stated = No
			}
		}
		s = append(s, Stated{Key: key, Preference: stated})
	}
	return s
}
