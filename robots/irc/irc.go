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
	"github.com/gophd/gophd/robots/internal/ircline"
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
)

// A Visitor queries IRC networks for permission to index them. It registers, reads ISUPPORT, and
// quits; it joins no channel. The zero Visitor works.
type Visitor struct {
	Nick    string                                                               // tried first; if empty or in use, one is generated
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

// visit returns all ISUPPORT tokens of a server in the order they came.
func (c *Visitor) visit(ctx context.Context, o dial.Origin) ([]string, error) {
	if strings.ContainsAny(c.Nick, " :\r\n\x00") {
		return nil, fmt.Errorf("nick %q has bytes that no nick may have", c.Nick)
	}
	conn, err := ask.Dialer{Dial: c.Dial, TLS: c.TLS}.Connect(ctx, o.Address(), o.Scheme == "ircs")
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	s := session{conn: conn, input: &io.LimitedReader{R: conn, N: cmp.Or(c.Limit, limit)}}
	if err := s.register(cmp.Or(c.Nick, madeUpNick())); err != nil {
		return nil, err
	}
	if err := s.read(); err != nil {
		return nil, err
	}
	s.quit()
	return s.tokens, nil
}

// session is one connection to a server.
type session struct {
	conn   net.Conn
	input  *io.LimitedReader
	nicks  int
	tokens []string
}

func (s *session) send(line string) error {
	_, err := io.WriteString(s.conn, line+"\r\n")
	return err
}

func (s *session) register(nick string) error {
	return s.send("NICK " + nick + "\r\nUSER crawler 0 * :crawler")
}

// read answers the server until all ISUPPORT lines have come: they come before
// the message of the day.
func (s *session) read() error {
	lines := bufio.NewScanner(s.input)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		if done, err := s.answer(lines.Text()); done || err != nil {
			return err
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("the server sends a line of more than %d bytes", maxLine-1)
	} else if err != nil {
		return err
	}
	if s.input.N <= 0 {
		return errors.New("the server sends too much")
	}
	return io.ErrUnexpectedEOF
}

// answer handles one line; done reports whether the server has sent all ISUPPORT lines.
func (s *session) answer(line string) (done bool, err error) {
	command, rest := ircline.Command(line)
	switch strings.ToUpper(command) {
	case "005":
		s.tokens = append(s.tokens, ircline.Tokens(line)...)
	case "PING":
		return false, s.send("PONG " + rest)
	case "376", "422": // end of the message of the day, or there is none
		return true, nil
	case "432", "433", "436", "437": // this nick will not do
		if s.nicks++; s.nicks > maxNicks {
			return false, errors.New("the server accepts no nick")
		}
		return false, s.send("NICK " + madeUpNick())
	case "ERROR":
		return false, fmt.Errorf("the server refuses: %q", strings.TrimPrefix(rest, ":"))
	}
	return false, nil
}

// madeUpNick returns a nick of nine bytes, the longest that every server takes.
func madeUpNick() string { return fmt.Sprintf("crawl%04d", rand.IntN(10000)) }

// quit sends QUIT and waits until the server closes: unread text from it would reset
// the connection before it has read the QUIT. Whether it works does not matter.
func (s *session) quit() {
	_ = s.conn.SetDeadline(time.Now().Add(goodbye))
	if s.send("QUIT") == nil {
		_, _ = io.Copy(io.Discard, s.input)
	}
}
