package robots

// Which Content-Usage lines hold for a path (draft-ietf-aipref-attach). The lines of
// a file are parsed once, at the first question about any of them; those that bind a
// robot stand in an index of the same kind as its rules.

import (
	"slices"
	"strings"
	"sync"

	"github.com/gophd/gophd/robots/readers"
)

// usageTable holds the Content-Usage lines of a file that parse.
type usageTable struct {
	once    sync.Once
	records []uint32 // ascending
	stated  []preferences
}

// usageIndex finds the Content-Usage lines of a robot by path.
type usageIndex struct {
	index
	more    map[uint32][]uint32 // further lines with the same path that state more
	general []uint32            // the lines without a path
}

func (f *File) usageLines() *usageTable {
	t := &f.usages
	t.once.Do(func() {
		for i, rec := range f.records {
			if rec.kind() != readers.KindUsage {
				continue
			}
			if dict, err := parseDictionary(f.usage(rec).Value); err == nil {
				t.records = append(t.records, uint32(i))
				t.stated = append(t.stated, preferencesIn(dict))
			}
		}
	})
	return t
}

// of returns the lines among records from up to, but without, to.
func (t *usageTable) of(from, to uint32) (records []uint32, stated []preferences) {
	i, _ := slices.BinarySearch(t.records, from)
	j, _ := slices.BinarySearch(t.records, to)
	return t.records[i:j], t.stated[i:j]
}

func (t *usageTable) at(record uint32) preferences {
	i, _ := slices.BinarySearch(t.records, record)
	return t.stated[i]
}

// compileUsage makes the index of the robot's Content-Usage lines. Of lines with the
// same path it keeps those that add something to the ones before.
func (r *Rules) compileUsage() *usageIndex {
	f := r.file
	x := &usageIndex{index: index{file: f}, more: map[uint32][]uint32{}}
	syn, table := syntax(f.dialect.Syntax(readers.Version1)), f.usageLines()
	type line struct {
		first uint32
		all   preferences
	}
	seen := map[string]*line{}
	for _, g := range r.groups {
		from := f.groups[g].record
		records, stated := table.of(from, from+uint32(len(f.members(int(g)))))
		for i, rec := range records {
			p := f.pattern(f.records[rec])
			if syn.Escapes {
				p = readers.NormalPattern(p)
			}
			known := seen[p]
			switch {
			case known == nil:
				known = &line{first: rec}
				if seen[p] = known; p == "" {
					x.general = append(x.general, rec)
				} else {
					x.add(syn, rec)
				}
			case known.all.restrict(stated[i]) == known.all:
			case p == "":
				x.general = append(x.general, rec)
			default:
				x.more[known.first] = append(x.more[known.first], rec)
			}
			known.all = known.all.restrict(stated[i])
		}
	}
	x.finish()
	return x
}

// Usage is as [File.Usage], for the robot of these rules.
func (r *Rules) Usage(path string) Statement {
	if r == nil || r.file == nil || !r.Allowed(path) {
		return nil
	}
	f := r.file
	if f.dialect.Web() {
		path = readers.PathOf(path)
	}
	x := r.usageIndex()
	found := top{all: true}
	x.find(path, &found)
	lines := x.general
	if found.best.found() {
		lines = nil
		for _, first := range found.ties {
			lines = append(append(lines, first), x.more[first]...)
		}
	}
	var stated Statement
	for _, rec := range lines {
		stated = stated.Combine(f.usages.at(rec).statement(int(f.records[rec].line)))
	}
	return stated
}

// usageIndex returns the index, which is kept unless the file has too much of it.
func (r *Rules) usageIndex() *usageIndex {
	if x := r.usage.Load(); x != nil {
		return x
	}
	x := r.compileUsage()
	if r.file.reserve(int64(len(x.literal.slots) + len(x.globs))) {
		r.usage.Store(x)
	}
	return x
}

// usage takes a Content-Usage line apart: a path begins with "/" and ends at a blank.
func (f *File) usage(r record) Usage {
	u := Usage{Value: f.value(r), Line: int(r.line)}
	if strings.HasPrefix(u.Value, "/") {
		end := len(u.Value)
		if i := strings.IndexAny(u.Value, " \t"); i >= 0 {
			end = i
		}
		u.Pattern, u.Value = u.Value[:end], strings.Trim(u.Value[end:], blanks)
	}
	return u
}

// pattern returns what a record compares with selectors, as written.
func (f *File) pattern(r record) string {
	if r.kind() == readers.KindUsage {
		return f.usage(r).Pattern
	}
	return f.value(r)
}
