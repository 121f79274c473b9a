package answer

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
	"github.com/gophd/gophd/server"
)

// A menu that programs make is made twice. The first making finds the programs that its
// maps name. They run for this request alone, and hold no place of the Limiter while
// they do. The second making puts what they have printed where it belongs.

// maxPrograms is how many programs run for one menu.
const maxPrograms = 8

// printed is what a program has printed, or why it has not.
type printed struct {
	text string
	err  error
}

// menuProgram is a program that a menu needs.
type menuProgram struct {
	name string // its real name
	menu bool   // it makes all of the menu
}

// unprinted is the error of a menu whose programs have not run yet.
type unprinted struct{ programs []menuProgram }

func (u *unprinted) Error() string { return fmt.Sprintf("made by programs: %v", u.programs) }

var errManyPrograms = fmt.Errorf("more than %d programs", maxPrograms)

// run is the menu.Builder's Run. A map runs programs of its own tree alone: no author
// makes the files of others run.
func (q *Asked) run(name, by string) (string, bool, error) {
	real, ok := q.View.Owned(name, by)
	if !ok || !q.Host.Runner.Runs(real) {
		return "", false, nil
	}
	if q.printed == nil {
		q.wanted = append(q.wanted, menuProgram{real, name == by})
		return "", true, nil
	}
	p, ok := q.printed[real]
	if !ok {
		p.err = errManyPrograms
	}
	return p.text, true, p.err
}

// menu makes the menu of a directory, or of a file that is one.
func (v *visit) menu(name string, dir bool) (*Value, error) {
	a, err := v.make(name, dir, v.makeMenu)
	var waits *unprinted
	if !errors.As(err, &waits) {
		return a, err
	}
	v.printed = map[string]printed{}
	for _, prog := range waits.programs {
		if _, ran := v.printed[prog.name]; ran || len(v.printed) == maxPrograms {
			continue
		}
		called := prog.name
		if prog.menu {
			called = name
		}
		text, err := v.Host.Runner.Run(&v.Asked, prog.name, strings.TrimPrefix(selector.Canonical(called, false), "/"))
		if err != nil && (prog.menu || v.Context().Err() != nil) {
			return nil, err
		} else if err != nil {
			err = errors.New(server.ErrorMessage(err))
		}
		v.printed[prog.name] = printed{text, err}
	}
	v.client = v.address()
	return v.Limited(func(q *Asked) (*Value, error) {
		a := &Value{Class: Menu, Selector: selector.Canonical(name, dir), Type: menu.TypeMenu, name: name, dir: dir}
		q.name, q.dir = name, dir
		return a, v.makeMenu(q, a)
	})
}
