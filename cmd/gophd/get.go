package main

import (
	"bufio"
	"bytes"
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

	"github.com/urfave/cli/v2"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/selector"
)

func getCommand() *cli.Command {
	return &cli.Command{
		Name: "get", Usage: "fetch a Gopher URL to standard output", ArgsUsage: "URL",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "raw", Usage: "as the server sent it", EnvVars: env("raw")},
			&cli.DurationFlag{Name: "timeout", Value: 30 * time.Second, Usage: "`DURATION` for connecting, and without progress", EnvVars: env("timeout")},
			&cli.Int64Flag{Name: "max-size", Value: 1 << 30, Usage: "`OCTETS` after which to give up", EnvVars: env("max-size")},
			&cli.BoolFlag{Name: "insecure", Usage: "take any certificate (gophers)", EnvVars: env("insecure")},
		},
		Action:             get,
		OnUsageError:       badUsage,
		CustomHelpTemplate: commandHelp,
	}
}

// get fetches. Exit status 1 says that the server answered with an error item.
func get(c *cli.Context) error {
	if c.NArg() != 1 {
		return usageError("gophd get gopher://host/", "get wants one URL, got %d arguments", c.NArg())
	}
	u, err := selector.ParseURL(c.Args().First())
	if err != nil {
		return usageError("gophd get gopher://host/0/file.txt", "%w", err)
	}
	if err := noNegative(c, "timeout"); err != nil {
		return err
	}
	conn, err := dial(c.Context, u, c.Duration("timeout"), c.Bool("insecure"))
	if err != nil {
		return dialError(u, err)
	}
	defer func() { _ = conn.Close() }()
	request := u.Selector
	if u.Query != "" {
		request += "\t" + u.Query
	}
	in := &steadyReader{conn, c.Duration("timeout"), c.Int64("max-size")}
	if _, err := io.WriteString(conn, request+"\r\n"); err != nil {
		return fmt.Errorf("asking %s: %w", u.Host, err)
	}
	return show(c, u, in)
}

func show(c *cli.Context, u selector.URL, in io.Reader) error {
	r := bufio.NewReaderSize(in, 64<<10)
	head, _ := r.Peek(1024)
	var err error
	switch {
	case c.Bool("raw"):
		_, err = io.Copy(c.App.Writer, r)
	case u.Type == menu.TypeMenu || u.Type == menu.TypeSearch:
		err = readableMenu(c.App.Writer, r)
	default:
		_, err = io.Copy(c.App.Writer, r)
	}
	if err != nil {
		return fmt.Errorf("reading from %s: %w", u.Host, err)
	}
	if msg, isError := errorItem(head); isError {
		return &failure{status: exitNo, err: fmt.Errorf("%s answers: %s", u.Host, quote(msg))}
	}
	return nil
}

// errorItem says whether a reply is an error: one item of type 3.
func errorItem(reply []byte) (string, bool) {
	line, rest, _ := bytes.Cut(reply, []byte("\n"))
	it, err := menu.ParseItem(string(bytes.TrimRight(line, "\r")))
	rest = bytes.TrimSpace(rest)
	if err != nil || it.Type != menu.TypeError || len(rest) > 1 {
		return "", false
	}
	return it.Label, true
}

// quote makes words from outside fit for a terminal.
func quote(s string) string { return strconv.Quote(s) }

// readableMenu prints a menu for people: what an item is, its label, its URL.
func readableMenu(w io.Writer, r io.Reader) error {
	out := bufio.NewWriter(w)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := strings.TrimRight(lines.Text(), "\r")
		if line == "." {
			break
		}
		it, err := menu.ParseItem(line)
		switch {
		case err != nil:
			_, _ = fmt.Fprintf(out, "?       %s\n", printable(line))
		case it.Type == menu.TypeInfo:
			_, _ = fmt.Fprintf(out, "        %s\n", printable(it.Label))
		default:
			_, _ = fmt.Fprintf(out, "%-7s %s\n        -> %s\n", kind(it.Type), printable(it.Label), itemURL(it))
		}
	}
	return errors.Join(lines.Err(), out.Flush())
}

// printable shows control characters as what they are.
func printable(s string) string {
	q := strconv.Quote(s)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(q[1 : len(q)-1])
}

func itemURL(it menu.Item) string {
	if target, ok := strings.CutPrefix(it.Selector, "URL:"); ok {
		return printable(target)
	}
	return selector.URL{Host: it.Host, Port: it.Port, Type: it.Type, Selector: it.Selector}.String()
}

var kinds = map[byte]string{
	'0': "text", '1': "menu", '2': "cso", '3': "error", '4': "binhex", '5': "archive", '6': "uue", '7': "search",
	'8': "telnet", '9': "binary", '+': "mirror", 'T': "tn3270", 'g': "gif", 'I': "image", 'h': "html", 's': "sound",
	'd': "doc", 'P': "pdf", 'p': "png", ';': "video",
}

func kind(t byte) string {
	if k := kinds[t]; k != "" {
		return k
	}
	return printable(string(rune(t)))
}

func dial(ctx context.Context, u selector.URL, timeout time.Duration, insecure bool) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	addr := net.JoinHostPort(u.Host, strconv.Itoa(u.Port))
	if u.TLS {
		d := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: insecure}}
		return d.DialContext(ctx, "tcp", addr)
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", addr)
}

func dialError(u selector.URL, err error) error {
	hint := "is the host name right, and a server there? -timeout sets how long to wait"
	var bad *tls.CertificateVerificationError
	if errors.As(err, &bad) {
		hint = "-insecure takes any certificate"
	}
	return withHint(fmt.Errorf("connecting to %s: %w", net.JoinHostPort(u.Host, strconv.Itoa(u.Port)), err), hint)
}

// steadyReader fails when nothing comes for a while, and when too much comes.
type steadyReader struct {
	net.Conn
	timeout time.Duration
	left    int64
}

var errTooLarge = errors.New("more than -max-size octets")

func (r *steadyReader) Read(p []byte) (int, error) {
	if err := r.SetReadDeadline(time.Now().Add(r.timeout)); err != nil {
		return 0, err
	}
	n, err := r.Conn.Read(p)
	if r.left -= int64(n); r.left < 0 {
		return 0, errTooLarge
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = fmt.Errorf("nothing came for %s: %w", r.timeout, err)
	}
	return n, err
}
