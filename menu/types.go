package menu

import (
	"bytes"
	"errors"
	"strings"

	"github.com/gophd/gophd/selector"
)

// extensions are the file name extensions by type. The table is gophd's own: the
// MIME files of hosts differ. PNG is 'I', not 'p', and PDF is 'd', not 'P': more
// clients know these.
var extensions = map[byte]string{
	TypeText: "txt text asc md markdown rst org log nfo diz me 1st faq tex bib csv tsv json jsonl yaml yml toml " +
		"ini cfg conf xml css c h cc cpp hpp go rs py pl pm rb sh bash js ts lua java sql patch diff asm s bas pas f90 el lisp scm " +
		"hs ml tcl awk sed vim gmi gemini atom rss vcf srt sha256 sha512 md5 pem sig mk ans",
	TypeMenu:     "gph gophermap",
	TypeBinHex:   "hqx",
	TypeArchive:  "zip tar gz tgz bz2 tbz xz txz zst lz lz4 lzh lha arj arc zoo rar 7z z cab cpio jar sit",
	TypeUUEncode: "uu uue",
	TypeBinary: "bin exe com dll so o a iso img dmg deb rpm apk msi msu class pyc wasm dat db sqlite rom d64 t64 prg tap z80 nes gb " +
		"gba adf dsk torrent ttf otf woff woff2 pcap",
	TypeGIF:      "gif",
	TypeImage:    "jpg jpeg jpe png bmp tif tiff webp svg ico pcx pnm pbm pgm ppm xbm xpm tga avif heic jxl psd",
	TypeHTML:     "html htm xhtml shtml",
	TypeSound:    "mp3 ogg oga opus flac wav aif aiff au snd mid midi mod xm s3m it sid m4a aac wma mka ra",
	TypeVideo:    "mp4 m4v mkv webm avi mov mpg mpeg mpe ogv wmv flv qt 3gp",
	TypeDocument: "pdf ps eps doc docx odt ods odp rtf xls xlsx ppt pptx epub mobi djvu dvi",
	TypeCalendar: "ics ical",
	TypeMIME:     "eml mbox mht",
}

// maxExtension is the longest extension that is looked up, in bytes.
const maxExtension = 16

var typeByExtension = func() map[string]byte {
	m := map[string]byte{}
	for t, list := range extensions {
		for ext := range strings.FieldsSeq(list) {
			m[ext] = t
		}
	}
	return m
}()

// TypeOf returns the item type of a file by the extension of its name, in any
// case. If the name does not tell, ok is false and the type that of binary files;
// [Sniff] may know better.
func TypeOf(name string) (t byte, ok bool) {
	var ext [maxExtension]byte
	t, ok = typeByExtension[string(appendExtension(ext[:0], name))]
	if !ok {
		t = TypeBinary
	}
	return t, ok
}

// appendExtension appends the extension of name in lower case, nothing if there is
// none or if it is too long to be one.
func appendExtension(b []byte, name string) []byte {
	i := strings.LastIndexByte(name, '.')
	if i < 0 || len(name)-i-1 > maxExtension || strings.IndexByte(name[i:], '/') >= 0 {
		return b
	}
	for i++; i < len(name); i++ {
		b = append(b, lower(name[i]))
	}
	return b
}

// sniffLen is how much of a file reports whether it is text, in bytes.
const sniffLen = 512

// byteOrderMark is what some editors put before a text in UTF-8.
const byteOrderMark = "\ufeff"

// lower makes a capital of ASCII small.
func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// Sniff returns the type of text if the first 512 bytes of head are text, in any
// character set that has ASCII in it, and that of binary files if they are not:
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

// isProgramName reports whether a name is that of a program, or is below a
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
