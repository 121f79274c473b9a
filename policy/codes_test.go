package policy

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// codeTrees make what an example speaks of, if that is more than lines of an
// annotation.
var codeTrees = map[string]func(root *Dir){
	CodeCoarsened: func(root *Dir) {
		for i := range 10 {
			var b strings.Builder
			for j := range 1000 {
				_, _ = fmt.Fprintf(&b, "Disallow: /%d/%d%s\n", i, j, strings.Repeat("x", 20))
			}
			putNote(root, fmt.Sprintf("~mallory/%d/.robots", i), b.String())
		}
	},
	CodeHandWritten: func(root *Dir) { putNote(root, "robots.txt", "Disallow: /private/\n") },
	CodeTooLarge: func(root *Dir) {
		putNote(root, "~mallory/.robots", strings.Repeat("Disallow: /x\n", 1001))
	},
	CodeUnreadable: func(root *Dir) {
		putNote(root, "phlog/.robots", "").Err = errors.New("permission denied")
	},
	CodeSyntax: func(root *Dir) { putNote(root, ".robots", "Disallow\n") },
	CodeEscaped: func(root *Dir) {
		putNote(root, "phlog/.robots", "Disallow: /\nAllow: /My%20Documents/\n")
		root.Dirs[0].Dirs = append(root.Dirs[0].Dirs, &Dir{Name: "My%20Documents"})
	},
	CodeNoMatch: func(root *Dir) {
		putNote(root, ".robots", "Disallow: /draft/\n")
		root.Dirs = append(root.Dirs, &Dir{Name: "drafts"})
	},
	CodeOverruled: func(root *Dir) {
		putNote(root, ".robots", "Disallow: /~bob/\n")
		putNote(root, "~bob/.robots", "Allow: /\n")
	},
	// Told by a server's robots.txt (robotscmd), by tens of thousands of users
	// (TestNoBare), to a program that calls the library (TestCheckProgram), and by none
	// that is known.
	CodeDiffers: nil, CodeNoBare: nil, CodeProgram: nil, CodeUnnamedLeak: nil,
}

// putNote puts an annotation into a tree.
func putNote(root *Dir, file, text string) *Annotation {
	elems := strings.Split(file, "/")
	for _, name := range elems[:len(elems)-1] {
		sub := root.sub(name)
		if sub == nil {
			sub = &Dir{Name: name}
			root.Dirs = append(root.Dirs, sub)
		}
		root = sub
	}
	a := &Annotation{File: file, Data: []byte(text)}
	root.Notes = append(root.Notes, a)
	return a
}

// TestCodeExamples: what is given as an example of a report is reported so. If there
// is no tree for it here, the example is the lines of an annotation.
func TestCodeExamples(t *testing.T) {
	rule := regexp.MustCompile(`^(User-agent|Disallow|Disalow|Allow|Crawl-delay|Content-Usage): \S+`)
	where := regexp.MustCompile(` (?:in (\S*/)\.robots|in the root's \.robots|for the name \S+)$`)
	for _, c := range Codes() {
		root := &Dir{}
		tree, known := codeTrees[c.Code]
		switch {
		case known && tree == nil:
			continue
		case known:
			tree(root)
		default:
			example, dir := c.Example, ""
			if m := where.FindStringSubmatch(example); m != nil {
				example, dir = strings.TrimSuffix(example, m[0]), m[1]
			}
			text := ""
			for part := range strings.SplitSeq(strings.ReplaceAll(example, " before ", " and "), " and ") {
				if !rule.MatchString(part) {
					t.Errorf("%s: no test knows what %q is", c.Code, part)
				}
				text += part + "\n"
			}
			putNote(root, dir+".robots", text)
		}
		reports := Compile(Input{Root: root}, nil).Reports()
		if !slices.ContainsFunc(reports, func(r Report) bool { return r.Code == c.Code }) {
			t.Errorf("%q is no example of %s: %v", c.Example, c.Code, reports)
		}
	}
}
