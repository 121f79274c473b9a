package fastcgi

import (
	"encoding/binary"
	"errors"
	"slices"
)

// Records, as the FastCGI Specification 1.0, section 3.3, has them: eight bytes
// of head, content, padding. A connection of ours carries one request, which has
// the number 1.

const (
	version    = 1
	requestID  = 1
	responder  = 1
	maxContent = 65535
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
	for part := range slices.Chunk(content, maxContent) {
		b = appendRecord(b, t, part)
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

// A head precedes the content of a record.
type head struct {
	Version byte
	Type    recordType
	ID      uint16
	Length  uint16
	Padding byte
	_       byte
}

// An end is the content of the record that ends a request (section 5.5).
type end struct {
	Exit   uint32 // the program's
	Status byte   // the protocol's: 0 if the request was answered
	_      [3]byte
}

// errProtocol is an answer that is not FastCGI.
var errProtocol = errors.New("the program does not speak FastCGI")
