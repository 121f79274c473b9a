// Package wirecmd is the command "gophd wire": it sends a Gopher server some forty
// requests and grades each reply by the document that applies.
//
// The requests do no harm: they are sent one after the other, each has at most 64 KiB, and they
// name files that no server has, or what robots and browsers request.
package wirecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gophd/gophd/internal/ask"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/command/terminal"
)

// Wire is gophd wire with its flags.
type Wire struct {
	JSON    bool
	Timeout time.Duration // for one response
	Out     io.Writer
}

// finding is the grade of one response, with the reason.
type finding struct {
	Request  string `json:"request"`
	Grade    grade  `json:"grade"`
	Meaning  string `json:"meaning"`
	Document string `json:"document"`
}

// Run examines each server. For several it prints a table in Markdown. The error is
// [exit.ErrNo] if some response is wrong, and [exit.Failure] if a server cannot be reached.
func (w *Wire) Run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return exit.Usagef("gophd wire localhost:7070", "wire needs HOST:PORT")
	}
	if w.Timeout <= 0 {
		return exit.Usagef("how long to wait for a response, such as -timeout 5s",
			"-timeout %v", w.Timeout)
	}
	var all [][]finding
	failed := false
	for _, target := range args {
		if !strings.Contains(target, ":") {
			target += ":70"
		}
		if _, _, err := net.SplitHostPort(target); err != nil {
			return exit.Usagef("gophd wire localhost:7070", "%q is no HOST:PORT", target)
		}
		found, err := w.ask(ctx, target)
		if err != nil {
			return err
		}
		all = append(all, found)
		failed = failed || slices.ContainsFunc(found, func(f finding) bool { return f.Grade == wrong })
	}
	if err := w.print(args, all); err != nil || !failed {
		return err
	}
	return exit.ErrNo
}

// ask sends all requests to one server, one after the other.
func (w *Wire) ask(ctx context.Context, target string) (all []finding, err error) {
	var root *response
	for i, p := range probes {
		r, err := w.exchange(ctx, target, p)
		if err != nil && i == 0 || ctx.Err() != nil {
			return nil, err
		}
		if err != nil {
			all = append(all, finding{p.name, wrong, err.Error(), p.doc})
			continue
		}
		r.is = r.kinds(root)
		if i == 0 {
			root = r
		}
		g, text := p.judge(r)
		all = append(all, finding{p.name, g, text, p.doc})
	}
	return all, nil
}

// response is a server's response to one probe.
type response struct {
	data   []byte
	closed bool   // the server ended the connection
	err    string // why the response ended otherwise
	is     kinds
}

// The most that is read of a response.
const maxReply = 256 << 10

// exchange sends one request on a connection of its own.
func (w *Wire) exchange(ctx context.Context, target string, p probe) (*response, error) {
	ctx, cancel := context.WithTimeout(ctx, w.Timeout)
	defer cancel()
	conn, err := ask.Dialer{}.Connect(ctx, target, false)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	go func() { // a server may answer, and close, before it has read all
		send(conn, p)
	}()
	r := &response{}
	r.data, err = io.ReadAll(io.LimitReader(conn, maxReply))
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		r.err = fmt.Sprintf("no end within %v", w.Timeout)
	case err != nil:
		r.closed, r.err = true, "reset by the server"
	case len(r.data) == maxReply:
		r.err = "more than 256 KiB"
	default:
		r.closed = true
	}
	return r, nil
}

func send(conn net.Conn, p probe) {
	step := len(p.send)
	if p.how == slowly {
		step = 1
	}
	for rest := p.send; rest != ""; rest = rest[step:] {
		step = min(step, len(rest))
		if _, err := io.WriteString(conn, rest[:step]); err != nil {
			return
		}
	}
	if half, ok := conn.(interface{ CloseWrite() error }); ok && p.how == thenEnd {
		_ = half.CloseWrite()
	}
}

func (w *Wire) print(targets []string, all [][]finding) error {
	if w.JSON {
		byTarget := map[string][]finding{}
		for i, target := range targets {
			byTarget[target] = all[i]
		}
		return terminal.PrintJSON(w.Out, byTarget)
	}
	var b strings.Builder
	if len(targets) > 1 {
		fmt.Fprintf(&b, "| request | by | %s |\n| --- | --- |%s\n", strings.Join(targets, " | "),
			strings.Repeat(" --- |", len(targets)))
	}
	counts := map[grade]int{}
	for i, f := range all[0] {
		counts[f.Grade]++
		if len(targets) == 1 {
			fmt.Fprintf(&b, "%-5s  %-36s  %s (%s)\n", f.Grade, f.Request,
				f.Meaning, f.Document)
			continue
		}
		fmt.Fprintf(&b, "| %s | %s |", f.Request, f.Document)
		for _, found := range all {
			fmt.Fprintf(&b, " %s: %s |", found[i].Grade,
				strings.ReplaceAll(found[i].Meaning, "|", `\|`))
		}
		b.WriteString("\n")
	}
	if len(targets) == 1 {
		fmt.Fprintf(&b, "%d good, %d to note, %d wrong\n", counts[good], counts[note],
			counts[wrong])
	}
	return terminal.PrintText(w.Out, b.String())
}
