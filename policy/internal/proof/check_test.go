package proof

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/policy/internal/oracle"
	"github.com/gophd/gophd/robots/readers"
)

// notes makes annotations of pairs: a directory, and the text.
func notes(pairs ...string) (list []Note) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, Note{Dir: pairs[i], File: pairs[i][1:] + ".robots", Data: []byte(pairs[i+1])})
	}
	return list
}

// TestTakenOver: what is taken over from an earlier proof is what a fresh one finds, and
// the earlier one stays as it was.
func TestTakenOver(t *testing.T) {
	reused := 0
	for seed := range uint64(120) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		s := oracle.Draw(rnd)
		if len(s.Notes) == 0 {
			continue
		}
		file := right(s)
		prev := Check(input(s, []byte(file)), nil)
		before := fmt.Sprint(prev.Findings, prev.Rows)
		edited := s
		edited.Notes = slices.Clone(s.Notes)
		switch n := rnd.IntN(len(s.Notes)); rnd.IntN(5) {
		case 0:
			edited.Notes[n].Data = append(slices.Clone(s.Notes[n].Data), "\nDisallow: /x\n"...)
		case 1:
			edited.Notes[n].Err = errors.New("no")
		case 2:
			edited.Notes = slices.Delete(edited.Notes, n, n+1)
		case 3:
			file = strings.Replace(file, "Disallow: ", "Allow: ", 1+rnd.IntN(4))
		default:
			edited.Programs = append(slices.Clone(s.Programs), "/"+s.Names[0])
		}
		in := input(edited, []byte(file))
		got, want := Check(in, prev), Check(in, nil)
		if !reflect.DeepEqual(got.Findings, want.Findings) || !reflect.DeepEqual(got.Rows, want.Rows) {
			t.Fatalf("seed %d: %v\nwant %v\n%s\n%s", seed, got.Findings, want.Findings, edited, file)
		}
		if fmt.Sprint(prev.Findings, prev.Rows) != before {
			t.Fatalf("seed %d: the earlier result has changed", seed)
		}
		for key, v := range got.parts {
			if prev.parts[key] == v {
				reused++
			}
		}
	}
	if reused < 20 {
		t.Errorf("%d parts were taken over", reused)
	}
}

// only returns rows of the table.
func only(names ...string) (list []readers.Reader) {
	for _, name := range names {
		r, _ := readers.Named(name)
		list = append(list, r)
	}
	return list
}

// TestPairs: a name that two patterns match is asked for, where each alone makes none
// that shows the fault.
func TestPairs(t *testing.T) {
	for _, c := range []struct {
		notes []Note
		file  string
		want  string // what the reader is let into
	}{
		{notes("/", "Disallow: /*.zip$\nAllow: /pub/\n"), "Disallow: /*.zip$\nAllow: /pub/***\n", "/pub/zqj.zip"},
		{notes("/", "Disallow: /*.zip$\n", "/pub/", "Allow: /\n"), "Disallow: /*.zip$\nAllow: /pub/***\n", "/pub/zqj.zip"},
		{notes("/", "Allow: /*.zip\n", "/pub/", "Disallow: /long-name\n"), "Allow: /*.zip*******************\nDisallow: /pub/long-name\n", "/pub/long-name.zip"},
		{notes("/pub/", "Allow: /*a\nDisallow: /*b*c\n"), "Allow: /pub/*a****\nDisallow: /pub/*b*c\n", "/pub/abc"},
	} {
		in := Input{Notes: c.notes, File: []byte("User-agent: *\n" + c.file), Readers: only("rfc9309"), Closed: func(_, _ string) bool { return true }}
		var got []string
		for _, f := range Check(in, nil).Findings {
			if f.Leak {
				got = append(got, f.Examples...)
			}
		}
		if !slices.Contains(got, c.want) {
			t.Errorf("%s: found is %q", c.file, got)
		}
	}
	said := notes("/", "Content-Usage: /*.zip$ search=n\nContent-Usage: /pub/ search=y\n")
	in := Input{Notes: said, File: []byte("User-agent: *\nContent-Usage: /*.zip$ search=n\nContent-Usage: /pub/*** search=y\n")}
	if list := Check(in, nil).Findings; len(list) == 0 || !list[0].Leak || list[0].Examples[0] != "/pub/zqj.zip" {
		t.Errorf("of preferences found is %+v", list)
	}
}

// TestShutIsNew: a site that is denied as a whole is not proven as it was before.
func TestShutIsNew(t *testing.T) {
	in := Input{File: []byte("User-agent: *\nDisallow: /x\n")}
	prev := Check(in, nil)
	in.Shut = []string{"/"}
	if got, want := Check(in, prev), Check(in, nil); !reflect.DeepEqual(got.Findings, want.Findings) || !want.Findings[0].Leak {
		t.Errorf("%+v, not %+v", got.Findings, want.Findings)
	}
}

// TestFindings: what a finding says.
func TestFindings(t *testing.T) {
	broken := notes("/", "Allow: /d/x\n", "/d/", "")
	broken[1].Err = errors.New("no permission")
	never := func(_, _ string) bool { return true }
	for _, c := range []struct {
		in   Input
		want string // one of the findings: leak, reader, robot, file:line, directory, example
	}{
		{Input{Notes: notes("/", "Disallow: /a\nDisallow: /b\n"), File: []byte("User-agent: *\nDisallow: /a\n")}, "true rfc9309 * .robots:2 / /b"},
		{Input{Notes: notes("/d/", "Disallow: /\nAllow: /b\n"), File: []byte("User-agent: *\nDisallow: /d/\n")}, "false rfc9309 * d/.robots:2 /d/ /d/b"},
		{Input{Notes: notes("/", "Disallow: /*x\n", "/a/", "", "/b/", "", "/c/", ""), File: []byte("User-agent: *\nDisallow: /y\n")}, "true google * .robots:1 / /b/x"},
		{Input{Notes: notes("/a/", "Allow: /*é\nDisallow: /ab/a/\n"), File: []byte("User-agent: *\nAllow: /a/*%C3%A9\nDisallow: /a/ab/a/\n")}, "true google-raw * a/.robots:2 /a/ /a/ab/a/%C3%A9"},
		{Input{File: []byte("User-agent: *\nDisallow: /100%")}, "false rfc9309 * :0  /100%"},
		{Input{File: []byte("User-agent: *\nDisallow: /d/\n")}, "false rfc9309 * :0  /d/"},
		{Input{Notes: broken, File: []byte("User-agent: *\nDisallow: /d/\nAllow: /d/x\n")}, "true rfc9309 * d/.robots:0 /d/ /d/x"},
		{Input{Notes: notes("/d/e/", "Allow: /\n"), Shut: []string{"/d/"}, File: []byte("User-agent: *\nAllow: /d/e/\n")}, "true rfc9309 * d/e/.robots:0 /d/ /d/e/"},
		{Input{Notes: notes("/", "Final: /*x\n", "/d/", "Disallow: /\nAllow: /e/\n", "/d/e/", "Disallow: /*x\n"), File: []byte("User-agent: *\nAllow: /d/e/\nDisallow: /d/\n")}, "true rfc9309 * d/e/.robots:1 /d/e/ /d/e/x"},
		{Input{Shut: []string{"/d/"}, File: []byte("User-agent: *\nDisallow: /x\n")}, "true rfc9309 * :0 /d/ /d/"},
		{Input{Programs: []string{"/*.x"}, File: []byte("User-agent: *\nDisallow: /*.x$\nDisallow: /*.x/\n")}, "true rfc9309 * :0  /zqj.x?"},
		{Input{Notes: notes("/", "Disallow: /a/\n"), File: []byte("User-agent: *\nDisallow: /a/\n")}, "true rfc9309 * .robots:1 / /a"},
		{Input{Notes: notes("/", "Disallow: /a/\n"), File: []byte("User-agent: *\nDisallow: /a/\n")}, "true gopher-strict * .robots:1 / a/"},
		{Input{Notes: notes("/", "Disallow: /*9\n"), File: []byte("User-agent: *\nDisallow: /*9\n")}, "true google-raw * .robots:1 / é"},
		{Input{Notes: notes("/", "Disallow: /\nUser-agent: bot\nAllow: /a\n"), File: []byte("User-agent: *\nDisallow: /\n\nUser-agent: bot\nAllow: /a\n"), Closed: never}, "true 1994 xbotx .robots:1 / /a"},
		{Input{Notes: notes("/", "User-agent: archiver\nDisallow: /b\nUser-agent: indexer\nAllow: /b\n"), File: []byte("User-agent: archiver\nDisallow: /b\n\nUser-agent: indexer\nAllow: /b\n"), Closed: never}, "true rfc9309 archiver+indexer .robots:2 / /b"},
		{Input{Notes: notes("/", "Disallow: */*/\n"), File: []byte("User-agent: *\nAllow: /b\nDisallow: /\n"), Closed: never}, "true first-match * .robots:1 / /bzqj/zqj/zqj"},
		{Input{Notes: notes("/", "Content-Usage: search=n\n", "/d/", "Content-Usage: train-ai=y\n"), File: []byte("User-agent: *\nContent-Usage: search=n\nContent-Usage: /d/ train-ai=y\n")}, "true preferences * .robots:1 / /d/"},
		{Input{Notes: notes("/", "Content-Usage: search=y\n"), File: []byte("User-agent: *\nContent-Usage: search=n\n")}, "false preferences * .robots:1 / /"},
		{Input{Notes: notes("/", "Disallow: /x\n"), File: []byte("User-agent: *\nDisallow: /x\nContent-Usage: /d/ search=y\n")}, "true preferences * :0  /d/"},
		{Input{Notes: notes("/", "User-agent: foo\nContent-Usage: search=n\n"), File: []byte("User-agent: *\nDisallow: /.robots\n")}, "true preferences foo .robots:2 / /"},
		{Input{Notes: notes("/", "Disallow: /\n"), File: []byte("User-agent: *\nDisallow: /\n"), Readers: []readers.Reader{{Name: "own", Groups: true, Forms: []readers.Form{readers.Raw}, Bare: true}}}, "true own * .robots:1 / "},
	} {
		r := Check(c.in, nil)
		var all []string
		for i, f := range r.Findings {
			if i > 0 && fmt.Sprint(f.Leak, f.Reader, f.Robot, f.File, f.Line, f.Dir) == fmt.Sprint(r.Findings[i-1].Leak, r.Findings[i-1].Reader, r.Findings[i-1].Robot, r.Findings[i-1].File, r.Findings[i-1].Line, r.Findings[i-1].Dir) {
				t.Errorf("twice: %+v", f)
			}
			for _, example := range f.Examples {
				all = append(all, fmt.Sprintf("%v %s %s %s:%d %s %s", f.Leak, f.Reader, f.Robot, f.File, f.Line, f.Dir, example))
			}
		}
		if !slices.Contains(all, c.want) {
			t.Errorf("no %q among\n%s", c.want, strings.Join(all, "\n"))
		}
	}
}

// TestSilent: of what needs no finding there is none.
func TestSilent(t *testing.T) {
	for _, in := range []Input{
		{Notes: notes("/", "Disallow: /a\n"), File: []byte("User-agent: *\nDisallow: /a\n"), Closed: func(canonical, spelling string) bool {
			return strings.Trim(canonical, "/") == strings.Trim(spelling, "/")
		}},
		{Notes: notes("/", "Content-Usage: search=n\n", "/d/", "Content-Usage: train-ai=y\n"), File: []byte("User-agent: *\nContent-Usage: search=n\nContent-Usage: /d/ search=n, train-ai=y\n")},
		{Notes: notes("/", "Content-Usage: /a$ search=n\n", "/a/b/", ""), File: []byte("User-agent: *\nContent-Usage: /a$ search=n\n")},
		{Notes: notes("/", "Disallow: /b\nAllow: /be\n", "/b/", "", "/bet/", "", "/c/", ""), File: []byte("User-agent: *\nDisallow: /b\nAllow: /be\n"), Readers: only("rfc9309"), Closed: func(_, _ string) bool { return true }},
		{Notes: notes("/", "Disallow: /a%0Ab\nDisallow: /b%00\n"), File: []byte("User-agent: *\nDisallow: /.robots\n")},
		{Notes: notes("/", "User-agent: *\nDisallow: gopher://h/0/a/x\nDisallow: http://h/b\n"), File: []byte("User-agent: *\nDisallow: /a/x\nDisallow: /b\n"), Closed: func(_, _ string) bool { return true }},
		{Notes: notes("/", "Content-Usage: search=n\n"), File: []byte("User-agent: *\nContent-Usage: search=n\n\nUser-agent: gopher-strict\nDisallow: /.robots\n")},
		{Notes: notes("/", "Disallow: /a\nUser-agent: abc, veronica\nDisallow: /b\n"), File: []byte("User-agent: *\nDisallow: /a\n\nUser-agent: abc\nUser-agent: veronica\nDisallow: /b\n"),
			Readers: only("veronica2"), Closed: func(_, _ string) bool { return true }},
	} {
		if r := Check(in, nil); len(r.Findings) > 0 {
			t.Errorf("%+v\n%s", r.Findings[0], in.File)
		}
	}
}

// TestTooMany: a directory of which too many pairs meet is named.
func TestTooMany(t *testing.T) {
	var b strings.Builder
	for i := range 330 {
		fmt.Fprintf(&b, "Allow: /*a%dx\nDisallow: /*b%dx\n", i, i)
	}
	literal := strings.ReplaceAll(b.String(), "*", "") + strings.ReplaceAll(b.String(), "*", "q")
	in := Input{Notes: notes("/u/", b.String(), "/v/", "Disallow: /*a\nAllow: /*b\n", "/w/", literal), Readers: []readers.Reader{}}
	if r := Check(in, nil); !slices.Equal(r.TooMany, []string{"/u"}) {
		t.Errorf("%q", r.TooMany)
	}
}

// TestPartsOfALargeSite: rules of the root, robots and directories are put together right
// where a site has many parts.
func TestPartsOfALargeSite(t *testing.T) {
	list := notes("/", "Disallow: /*.bak$\nDisallow: /u07/x\n")
	file := "Disallow: /*.bak$\nDisallow: /u07/x\n"
	for i := range 40 {
		dir := fmt.Sprintf("/u%02d/", i)
		list = append(list, notes(dir, "Disallow: /a\nUser-agent: foo\nDisallow: /b\n")...)
		file += "Disallow: " + dir + "a\n"
	}
	all := "User-agent: *\n" + file + "\nUser-agent: foo\n" + strings.ReplaceAll(file, "/a\n", "/b\n")
	rfc, _ := readers.Named("rfc9309")
	check := func(file string) (leaks, over int) {
		r := Check(Input{Notes: list, File: []byte(file), Readers: []readers.Reader{rfc}, Closed: func(_, _ string) bool { return true }}, nil)
		return r.Rows[0].Leaks, r.Rows[0].OverBlocks
	}
	if leaks, over := check(all); leaks+over > 0 {
		t.Errorf("%d leaks, %d over-blocks", leaks, over)
	}
	for _, line := range []string{"Disallow: /u33/a\n", "Disallow: /u07/x\n", "Disallow: /u21/b\n", "Disallow: /*.bak$\n"} {
		if leaks, _ := check(strings.Replace(all, line, "", 1)); leaks == 0 {
			t.Errorf("no leak without %q", line)
		}
		at := strings.LastIndex(all, line)
		if leaks, _ := check(all[:at] + all[at+len(line):]); leaks == 0 {
			t.Errorf("no leak without the last %q", line)
		}
	}
	if _, over := check(all + "Disallow: /other/\n"); over == 0 {
		t.Error("no over-block of what no annotation is about")
	}
}
