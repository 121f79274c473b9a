package fastcgi

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Records, as the FastCGI Specification 1.0, section 3.3, has them: eight bytes
// of head, content, padding. A connection of ours carries one request, which has
// the number 1.

const (
	version    = 1
	requestID  = 1
	responder  = 1
	maxContent = 65535
	headSize   = 8
)

type recordType byte

const (
	typeBegin  recordType = 1
	typeEnd    recordType = 3
	typeParams recordType = 4
	typeStdin  recordType = 5
	typeStdout recordType = 6
	typeStderr recordType = 7
)

// appendRecord appends one record; content is at most maxContent bytes.
func appendRecord(b []byte, t recordType, content []byte) []byte {
	b = append(b, version, byte(t), 0, requestID, byte(len(content)>>8), byte(len(content)), 0, 0)
	return append(b, content...)
}

// appendStream appends a stream: its content in records, and an empty one, which
// ends it.
func appendStream(b []byte, t recordType, content []byte) []byte {
	for len(content) > maxContent {
		b = appendRecord(b, t, content[:maxContent])
		content = content[maxContent:]
	}
	if len(content) > 0 {
		b = appendRecord(b, t, content)
	}
	return appendRecord(b, t, nil)
}

// appendParam appends a name and a value, each with its length before it: one
// byte below 128, else four with the highest bit set (section 3.4).
func appendParam(b []byte, name, value string) []byte {
	for _, s := range []string{name, value} {
		if len(s) < 128 {
			b = append(b, byte(len(s)))
		} else {
			b = binary.BigEndian.AppendUint32(b, uint32(len(s))|1<<31)
		}
	}
	return append(append(b, name...), value...)
}

// head is the head of a record.
type head struct {
	typ     recordType
	content int
	padding int
}

// errProtocol is an answer that is not FastCGI.
var errProtocol = errors.New("the program does not speak FastCGI")

// readHead reads the head of the next record.
func readHead(r *bufio.Reader) (head, error) {
	var b [headSize]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return head{}, broken(err)
	}
	h := head{
		typ:     recordType(b[1]),
		content: int(b[4])<<8 | int(b[5]),
		padding: int(b[6]),
	}
	id := int(b[2])<<8 | int(b[3])
	switch {
	case b[0] != version:
		return h, fmt.Errorf("%w: version %d", errProtocol, b[0])
	case id != requestID:
		return h, fmt.Errorf("%w: a record of request %d", errProtocol, id)
	case h.typ != typeStdout && h.typ != typeStderr && h.typ != typeEnd:
		return h, fmt.Errorf("%w: a record of type %d", errProtocol, h.typ)
	}
	return h, nil
}

// broken is the error of a connection that ended before the request did.
func broken(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// end is the content of the record that ends a request (section 5.5).
type end struct {
	exit   uint32 // the program's
	status byte   // the protocol's: 0 if the request was answered
}

func readEnd(r *bufio.Reader, h head) (end, error) {
	var b [8]byte
	if h.content != len(b) {
		return end{}, fmt.Errorf("%w: an end of %d bytes", errProtocol, h.content)
	}
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return end{}, broken(err)
	}
	return end{exit: binary.BigEndian.Uint32(b[:4]), status: b[4]}, nil
}
