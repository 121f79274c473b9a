package menu

import (
	"bytes"
	"errors"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/gophd/gophd/selector"
)

// itemType is a row of the table of item types.
type itemType struct {
	typ        byte
	name       string // for people, in a word or two; "" for information
	extensions string // of files that are of this type, in small letters
}

// itemTypes are the item types that a gophermap may name; a new one is a row here and
// a line of content/tables/item-types.txt. The extensions are gophd's own: the MIME
// files of hosts differ. PNG is 'I', not 'p', and PDF is 'd', not 'P': more clients
// know these.
var itemTypes = []itemType{
	{TypeText, "text", "txt text asc md markdown rst org log nfo diz me 1st faq tex bib csv tsv json jsonl yaml yml toml " +
		"ini cfg conf xml css c h cc cpp hpp go rs py pl pm rb sh bash js ts lua java sql patch diff asm s bas pas f90 el lisp scm " +
		"hs ml tcl awk sed vim gmi gemini atom rss vcf srt sha256 sha512 md5 pem sig mk ans"},
	{TypeMenu, "menu", "gph gophermap"},
	{TypeCSO, "phone book", ""},
	{TypeError, "error", ""},
	{TypeBinHex, "archive", "hqx"},
	{TypeArchive, "archive",
		"zip tar gz tgz bz2 tbz xz txz zst lz lz4 lzh lha arj arc zoo rar 7z z cab cpio jar sit"},
	{TypeUUEncode, "archive", "uu uue"},
	{TypeSearch, "search", ""},
	{TypeTelnet, "telnet", ""},
	{TypeBinary, "file", "bin exe com dll so o a iso img dmg deb rpm apk msi msu class pyc wasm dat db sqlite rom d64 t64 prg tap z80 nes gb " +
		"gba adf dsk torrent ttf otf woff woff2 pcap"},
	{TypeMirror, "mirror", ""},
	{TypeTN3270, "telnet", ""},
	{TypeGIF, "picture", "gif"},
	{TypeImage, "picture", "jpg jpeg jpe png bmp tif tiff webp svg ico pcx pnm pbm pgm ppm xbm xpm tga avif heic jxl psd"},
	{TypeInfo, "", ""},
	{TypeHTML, "link", "html htm xhtml shtml"},
	{TypeSound, "sound", "mp3 ogg oga opus flac wav aif aiff au snd mid midi mod xm s3m it sid m4a aac wma mka ra"},
	{TypeDocument, "document",
		"pdf ps eps doc docx odt ods odp rtf xls xlsx ppt pptx epub mobi djvu dvi"},
	{TypePNG, "picture", ""},
	{TypeVideo, "video", "mp4 m4v mkv webm avi mov mpg mpeg mpe ogv wmv flv qt 3gp"},
	{TypePDF, "PDF", ""},
	{TypeCalendar, "calendar", "ics ical"},
	{TypeEvent, "event", ""},
	{TypeMIME, "mail", "eml mbox mht"},
}

// knownTypes and typeByExtension are itemTypes by type and by extension.
var knownTypes, typeByExtension = index(itemTypes)

func index(rows []itemType) (types map[byte]itemType, extensions map[string]byte) {
	types, extensions = map[byte]itemType{}, map[string]byte{}
	for _, row := range rows {
		types[row.typ] = row
		for ext := range strings.FieldsSeq(row.extensions) {
			extensions["."+ext] = row.typ
		}
	}
	return types, extensions
}

// IsType reports whether a byte is an item type that is in use.
func IsType(t byte) bool { return knownTypes[t].typ == t && t != 0 }

// TypeName returns what an item of a type is, in a word or two for people; "" for
// [TypeInfo] and for a type that is not known.
func TypeName(t byte) string { return knownTypes[t].name }

// TypeOf returns the item type of a file by the extension of its name, in any
// case. If the extension is unknown, ok is false and the type is TypeBinary;
// [Sniff] may find another.
func TypeOf(name string) (t byte, ok bool) {
	t, ok = typeByExtension[extension(name)]
	if !ok {
		t = TypeBinary
	}
	return t, ok
}

// extension returns the extension of a name in lower case, with its dot; "" if there is none.
func extension(name string) string { return strings.ToLower(path.Ext(name)) }

// sniffLen is how much of a file reports whether it is text, in bytes.
const sniffLen = 512

// byteOrderMark begins texts in UTF-8 of some editors.
const byteOrderMark = "\ufeff"

// Sniff returns the type of text if the first 512 bytes of head are text, in any
// character set that has ASCII in it, and TypeBinary if they are not:
// control bytes but those that texts use (BS TAB LF VT FF CR SUB ESC) make the
// difference. An empty file is text.
func Sniff(head []byte) byte {
	head = head[:min(len(head), sniffLen)]
	notText := func(r rune) bool {
		return r < ' ' && strings.IndexByte("\b\t\n\v\f\r\x1a\x1b", byte(r)) < 0
	}
	if bytes.ContainsFunc(head, notText) {
		return TypeBinary
	}
	return TypeText
}

// ProgramHead is how many bytes of a file [IsProgram] looks at.
const ProgramHead = 16

// IsProgram reports whether a file that begins so is a program, which a server
// that runs maps would run: a script (#!) or an ELF file. A script is one behind a
// byte order mark and in UTF-16, too: no kernel runs it, but it is no less a source.
func IsProgram[T string | []byte](head T) bool {
	s := string(head[:min(len(head), ProgramHead)])
	if strings.HasPrefix(s, "\x7fELF") {
		return true
	}
	s = strings.ReplaceAll(s, "\x00", "")
	for _, mark := range []string{byteOrderMark, "\xff\xfe", "\xfe\xff"} {
		s = strings.TrimPrefix(s, mark)
	}
	return strings.HasPrefix(s, "#!")
}

// isProgramName reports whether a name names a program, or is below a
// directory of programs.
func isProgramName(name string) bool {
	for elem := range strings.SplitSeq(name, "/") {
		if selector.IsProgram(elem) {
			return true
		}
	}
	return false
}

// errProgram is why a map or an include is not shown.
var errProgram = errors.New("a program")

// DatedText returns the day of a file that a phlog has: a text whose name begins with a
// date.
func DatedText(name string) (day time.Time, ok bool) {
	if day, ok = Day(name); ok {
		typ, known := TypeOf(name)
		ok = !known || typ == TypeText
	}
	return day, ok
}

// Day returns the day that a name or a line begins with: 2026-11-22, 2026_11_22,
// 2026.11.22 or 20261122, and after it the end or something that is no digit. Ok is
// false if it begins with none.
func Day(s string) (day time.Time, ok bool) {
	day, _, ok = CutDay(s)
	return day, ok
}

// dateOf matches a year and a month, and maybe a day, from 1900 to 2099, with their separators.
var dateOf = regexp.MustCompile(`^((?:19|20)\d\d)([-_.]?)(0[1-9]|1[0-2])` +
	`(?:([-_.]?)(0[1-9]|[12]\d|3[01])(?:\D|$)|\D|$)`)

// CutDay is Day, and returns what follows the day.
func CutDay(s string) (day time.Time, rest string, ok bool) {
	found := dateOf.FindStringSubmatch(s)
	if found == nil || found[5] == "" || found[2] != found[4] {
		return day, s, false
	}
	day, err := time.Parse("20060102", found[1]+found[3]+found[5])
	rest = s[len("20060102")+2*len(found[2]):]
	return day, rest, err == nil && day.Year() >= 1970
}
