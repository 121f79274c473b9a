// Package irc queries IRC networks for permission to index them: the CRAWLER token of ISUPPORT
// (IRCv3 Crawler Preference), which package readers parses.
package irc

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/ask"
	"github.com/gophd/gophd/robots/internal/dial"
	"github.com/gophd/gophd/robots/readers"
)

// Limits of a visit to an IRC server. A line of 512 bytes may carry 8191 more
// of tags.
const (
	timeout  = time.Minute
	goodbye  = 2 * time.Second
	limit    = 256 << 10
	maxLine  = 512 + 8191 + 1
	maxNicks = 5

	// The most tokens of a 005 line: a message has 15 parameters, the first of them a nick
	// and the last words to people.
	maxTokens = 13
)

// A Visitor queries IRC networks for permission to index them. It registers, reads ISUPPORT, and
// quits; it joins no channel. The zero Visitor works.
type Visitor struct {
	Timeout time.Duration                                                        // for the whole visit; if zero, 1 min
	Limit   int64                                                                // bytes read; if zero, 256 KiB
	Dial    func(ctx context.Context, network, address string) (net.Conn, error) // if nil, net.Dialer's
	TLS     *tls.Config                                                          // for ircs; if nil, certificates must be valid
}

// Crawler fetches the preference of the network of an irc or ircs URL. After an error the
// preference is unknown, and a crawler must stay away.
func (c *Visitor) Crawler(ctx context.Context, rawURL string) (readers.Crawler,
	[]diag.Diagnostic, error) {
	_, o, err := dial.ParseURL(rawURL, dial.IRCPorts)
	if err != nil {
		return readers.Crawler{}, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Timeout, timeout))
	defer cancel()
	tokens, err := c.visit(ctx, o)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return readers.Crawler{}, nil, fmt.Errorf("asking %s: %w", o.Address(), err)
	}
	preference, problems := readers.ParseCrawler(tokens...)
	return preference, problems, nil
}

// visit registers, returns all ISUPPORT tokens of a server in the order they came, and quits.
// They come before the message of the day.
func (c *Visitor) visit(ctx context.Context, o dial.Origin) (tokens []string, err error) {
	conn, err := ask.Dialer{Dial: c.Dial, TLS: c.TLS}.Connect(ctx, o.Address(), o.Scheme == "ircs")
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	send := func(line string) error {
		_, err := io.WriteString(conn, line+"\r\n")
		return err
	}

	input := &io.LimitedReader{R: conn, N: cmp.Or(c.Limit, limit)}
	lines := bufio.NewScanner(input)
	lines.Buffer(nil, maxLine)
	nicks := 0
	err = send("NICK " + madeUpNick() + "\r\nUSER crawler 0 * :crawler")
	for err == nil && lines.Scan() {
		command, middle, rest := parse(lines.Text())
		switch strings.ToUpper(command) {
		case "005":
			tokens = append(tokens, isupport(middle)...)
		case "PING":
			err = send("PONG " + rest)
		case "376", "422": // end of the message of the day, or there is none
			// Wait until the server closes: unread text from it would reset the connection
			// before it has read the QUIT. Whether that works does not matter.
			_ = conn.SetDeadline(time.Now().Add(goodbye))
			if send("QUIT") == nil {
				_, _ = io.Copy(io.Discard, input)
			}
			return tokens, nil
		case "432", "433", "436", "437": // this nick will not do
			if nicks++; nicks > maxNicks {
				return nil, errors.New("the server accepts no nick")
			}
			err = send("NICK " + madeUpNick())
		case "ERROR":
			err = fmt.Errorf("the server refuses: %q", strings.TrimPrefix(rest, ":"))
		}
	}

	switch err = cmp.Or(err, lines.Err()); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("the server sends a line of more than %d bytes", maxLine-1)
	case err != nil:
		return nil, err
	case input.N <= 0:
		return nil, errors.New("the server sends too much")
	}
	return nil, io.ErrUnexpectedEOF
}

// madeUpNick returns a nick of nine bytes, the longest that every server takes.
func madeUpNick() string { return fmt.Sprintf("crawl%04d", rand.IntN(10000)) }

// parse takes a message apart, without its tags and its source: the command, the parameters
// but for a trailing one, which may have blanks, and all that follows the command.
func parse(line string) (command string, middle []string, rest string) {
	line = strings.TrimRight(line, "\r\n")
	for _, mark := range []string{"@", ":"} {
		if strings.HasPrefix(line, mark) {
			_, line, _ = strings.Cut(line, " ")
			line = strings.TrimLeft(line, " ")
		}
	}
	command, rest, _ = strings.Cut(line, " ")
	rest = strings.TrimLeft(rest, " ")
	text, _, _ := strings.Cut(" "+rest, " :")
	isBlank := func(r rune) bool { return r == ' ' } // the only separator of IRC
	return command, strings.FieldsFunc(text, isBlank), rest
}

// isupport returns the tokens of a 005 line, which begin behind a nick.
func isupport(middle []string) []string {
	return middle[min(1, len(middle)):min(1+maxTokens, len(middle))]
}
