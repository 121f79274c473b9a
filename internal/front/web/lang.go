package web

import (
	"strings"
	"unicode"
)

// stopWords are frequent words of languages that are written with Latin letters, most of
// them in one language only.
var stopWords = map[string]string{
	"en": "the and of to is that for with this was you are not have it be from they his her would there their which been were",
	"de": "der die und das ist nicht ein eine ich mit den auf sich dem des auch von wird sind zu für aber oder wie noch nur",
	"fr": "le les des est et une dans que pour pas qui sur du au vous nous avec sont mais ce il elle plus cette aux leur",
	"es": "el los las que una por con para del es se lo como más pero sus esta son muy hay está también cuando donde y",
	"it": "il di che è una per non sono del della con gli nel alla questo anche più dei si ma come delle ho ed nella",
	"nl": "het een van en niet dat zijn voor met aan ook naar maar deze wordt bij uit nog over dit wel hebben er ze",
	"pt": "não uma para os com por mais dos como mas foi ao ele das seu sua são também pelo isso muito até já você às",
	"sv": "och att det som en är av för inte med på till jag har den ett om så men från hade hon skulle också eller",
	"pl": "nie się jest że na do to jak ale po co tak przez tylko czy już być dla od ich będzie które został bardzo może",
}

var languages = func() map[string][]string {
	words := map[string][]string{}
	for lang, list := range stopWords {
		for word := range strings.FieldsSeq(list) {
			words[word] = append(words[word], lang)
		}
	}
	return words
}()

// maxGuess is how much of a text a guess looks at, in bytes.
const maxGuess = 16 << 10

// guess sets the language of a page: the one that its host states, or that of its text.
func (p *page) guess(stated, text string) {
	if p.Lang = stated; stated == "" {
		p.Lang = language(text)
	}
}

// language guesses the language of a text, by scripts that one language has, or by frequent
// words. It returns "" unless the guess is sure.
func language(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), maxGuess)], "")
	if lang := byScript(text); lang != "" {
		return lang
	}
	count := map[string]int{}
	words := 0
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		words++
		for _, lang := range languages[word] {
			count[lang]++
		}
	}
	best, second := "", ""
	for lang, n := range count {
		switch {
		case best == "" || n > count[best]:
			best, second = lang, best
		case second == "" || n > count[second]:
			second = lang
		}
	}
	if n := count[best]; n >= 5 && 8*n >= words && n >= 2*count[second] {
		return best
	}
	return ""
}

// scripts belong to one language each, but for the last, whose letters decide.
var scripts = []struct {
	lang  string
	table *unicode.RangeTable
}{
	{"ja", unicode.Hiragana}, {"ja", unicode.Katakana}, {"ko", unicode.Hangul}, {"zh", unicode.Han},
	{"el", unicode.Greek}, {"he", unicode.Hebrew}, {"th", unicode.Thai}, {cyrillic, unicode.Cyrillic},
}

const cyrillic = "Cyrl"

// byScript returns the language of a text most of which is in a script that one language
// has. Letters that only one language of a script has decide among those that share one.
func byScript(text string) string {
	letters, count := 0, map[string]int{}
	for _, r := range text {
		if !unicode.IsLetter(r) {
			continue
		}
		if letters++; r < 0x250 {
			continue
		}
		for _, s := range scripts {
			if unicode.Is(s.table, r) {
				count[s.lang]++
				break
			}
		}
		if strings.ContainsRune("ыэёъЫЭЁЪ", r) {
			count["ru"]++
		} else if strings.ContainsRune("іїєґІЇЄҐ", r) {
			count["uk"]++
		}
	}
	most, kana := letters/2, count["ja"]
	switch russian, ukrainian := count["ru"], count["uk"]; {
	case letters < 20:
	case kana > 0 && kana+count["zh"] > most && 10*kana > count["zh"]:
		return "ja"
	case count[cyrillic] > most && russian > 0 && ukrainian == 0:
		return "ru"
	case count[cyrillic] > most && ukrainian > 0 && russian == 0:
		return "uk"
	default:
		for _, lang := range []string{"ko", "zh", "el", "he", "th"} {
			if count[lang] > most {
				return lang
			}
		}
	}
	return ""
}
