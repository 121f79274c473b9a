// Package getcmd is the command "gophd get": it fetches a URL of Gopher, Gemini, Spartan,
// Nex or Finger, for scripts and for people.
package getcmd

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/ask"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/command/terminal"
	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
)

// Get is gophd get with its flags.
type Get struct {
	Raw      bool          // print what comes, menus too
	Insecure bool          // take any certificate, a changed one of Gemini, too
	Timeout  time.Duration // for the whole
	MaxSize  int64         // bytes after which to give up
	Out      io.Writer
}

// Get fetches the only argument. A menu of Gopher is printed for people, unless Raw, and
// without anything that a terminal obeys; so is everything else if Out is a
// terminal. The error is [exit.No] if the server answered with an error, which
// is printed only if Raw, and
// [exit.Failure] if the reply is not complete: after an error of the network, in
// the middle of a line, a menu without its last line (RFC 1436, section 3.3), or a reply
// inside TLS without close_notify. The end of other files cannot be distinguished from a
// connection that was closed early.
func (c *Get) Get(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return exit.Usagef("gophd get gopher://host/",
			"get takes one URL, got %d arguments", len(args))
	}
	if c.Timeout <= 0 {
		return exit.Usagef("the time for the whole reply, such as -timeout 30s",
			"-timeout %v", c.Timeout)
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	scheme, _, hasScheme := strings.Cut(strings.ToLower(args[0]), "://")
	if protocols[scheme].request != nil {
		return c.follow(ctx, args[0])
	} else if hasScheme && !strings.HasPrefix(scheme, "gopher") {
		return exit.Usagef("get knows the schemes gopher, gophers, gemini, spartan, nex and finger",
			"%s: unknown scheme %q", args[0], scheme)
	}
	u, err := selector.ParseURL(args[0])
	if err != nil {
		return exit.Usagef("gophd get gopher://host/0/file.txt", "%w", err)
	}
	request := u.Selector
	if u.Query != "" {
		request += "\t" + u.Query
	}
	var conf *tls.Config
	if u.TLS {
		conf = &tls.Config{InsecureSkipVerify: c.Insecure} // #nosec G402: only if the user says so
	}
	in, err := c.send(ctx, net.JoinHostPort(u.Host, strconv.Itoa(u.Port)), conf, request+"\r\n")
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	r := bufio.NewReaderSize(in, 64<<10)
	first, ended := r.Peek(4096)
	msg, isError := ask.IsError(first)
	switch {
	case isError && errors.Is(ended, io.EOF): // longer ones are files
		if c.Raw {
			err = c.copyFile(r)
		}
		if err == nil {
			err = &exit.CommandError{
				Status: exit.No,
				Err:    fmt.Errorf("%s answers: %q", u.Host, msg),
				Hint:   urlHint(u),
			}
		}
		return err
	case !c.Raw && (u.Type == menu.TypeMenu || u.Type == menu.TypeSearch):
		err = printMenu(c.Out, r)
	default:
		err = c.copyFile(r)
	}
	return c.readError(u.Host, err)
}

// send connects to a server, inside TLS if there is a configuration, and sends a request.
func (c *Get) send(ctx context.Context, addr string, conf *tls.Config,
	request string) (*ask.Reply, error) {
	in, err := ask.Dialer{TLS: conf}.Send(ctx, addr, conf != nil, request, c.MaxSize)
	if err == nil {
		return in, nil
	}
	hint := "is the host name right, and does a server listen there? gophd doctor on that machine checks it; -timeout sets how long to wait"
	var op *net.OpError
	var untrusted *exit.CommandError
	switch {
	case errors.As(err, &untrusted):
		hint = untrusted.Hint
	case errors.As(err, new(*tls.CertificateVerificationError)):
		hint = "-insecure accepts any certificate"
	case conf != nil && (!errors.As(err, &op) || op.Op != "dial"):
		hint = "does the server use TLS on that port? gopher:// does not"
	}
	return nil, exit.Hint(err, hint)
}

// copyFile prints a file.
func (c *Get) copyFile(r io.Reader) error {
	if c.Raw {
		_, err := io.Copy(c.Out, r)
		return err
	}
	out := terminal.WholeFile(c.Out)
	_, err := io.Copy(out, r)
	return errors.Join(err, out.Close())
}

// readError explains why a reply is not complete; nil if it is.
func (c *Get) readError(host string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ask.ErrTooLarge):
		return exit.Hint(fmt.Errorf("reading from %s: more than -max-size bytes", host),
			"-max-size 64MiB reads more")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return exit.Hint(fmt.Errorf("reading from %s: the reply was not complete after %s", host,
			c.Timeout), "-timeout sets how long to wait")
	}
	return fmt.Errorf("reading from %s: %w", host, err)
}

// urlHint is for a user who left the item type out of a URL, so that the first
// letter of the name was taken for it, or who wrote a search as in a URL of the Web.
func urlHint(u selector.URL) string {
	if sel, query, found := strings.Cut(u.Selector, "?"); found && u.Type == menu.TypeSearch &&
		u.Query == "" {
		u.Selector, u.Query = sel, query
		return fmt.Sprintf("%%09 separates the words to search for from the selector; did you mean %s?", u)
	}
	if u.Type >= '0' && u.Type <= '9' || u.Selector == "" || u.Selector[0] == '/' {
		return ""
	}
	u.Selector = "/" + string(u.Type) + u.Selector
	if u.Type = menu.TypeMenu; !strings.HasSuffix(u.Selector, "/") {
		u.Type, _ = menu.TypeOf(u.Selector)
	}
	return fmt.Sprintf("the first character of the path is the type of the item; did you mean %s?", u)
}

var errNoEnd = errors.New("the menu is not complete: its last line is not a dot")

// printMenu prints a menu for people: what an item is, its label, its URL.
func printMenu(w io.Writer, r io.Reader) error {
	out := bufio.NewWriter(w)
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := lines.Text()
		if line == "." {
			return out.Flush()
		}
		it, err := menu.ParseItem(line)
		label := diag.Printable(it.Label)
		switch {
		case err != nil:
			_, _ = fmt.Fprintf(out, "?       %s\n", diag.Printable(line))
		case it.Type == menu.TypeInfo:
			_, _ = fmt.Fprintf(out, "        %s\n", label)
		case it.Type == menu.TypeError: // which leads nowhere
			_, _ = fmt.Fprintf(out, "error   %s\n", label)
		default:
			to, isURL := strings.CutPrefix(it.Selector, "URL:")
			if !isURL {
				to = selector.URL{
					Host:     it.Host,
					Port:     it.Port,
					Type:     it.Type,
					Selector: it.Selector,
				}.String()
			}
			kind := cmp.Or(menu.TypeName(it.Type), diag.Printable(string([]byte{it.Type})))
			_, _ = fmt.Fprintf(out, "%-7s %s\n        -> %s\n", kind, label, diag.Printable(to))
		}
	}
	return errors.Join(out.Flush(), cmp.Or(lines.Err(), errNoEnd))
}
