package server

import (
	"bufio"
	"errors"
	"io"
)

// strictText writes a text as RFC 1436 section 3.7 wants it: each line ends in
// CRLF, a dot that begins a line is doubled, and a line with a dot ends all.
func strictText(w io.Writer, r io.Reader) error {
	in := bufio.NewReaderSize(r, 32<<10)
	out := bufio.NewWriterSize(w, bufferSize)
	bol := true // at the begin of a line
	for {
		part, err := in.ReadSlice('\n')
		ended := len(part) > 0 && part[len(part)-1] == '\n'
		if ended {
			part = trimLineEnd(part)
		}
		if bol && len(part) > 0 && part[0] == '.' {
			_ = out.WriteByte('.')
		}
		_, _ = out.Write(part)
		if ended || errors.Is(err, io.EOF) && (!bol || len(part) > 0) {
			_, _ = out.WriteString("\r\n")
		}
		bol = ended
		switch {
		case errors.Is(err, io.EOF):
			_, _ = out.WriteString(".\r\n")
			return out.Flush()
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return errors.Join(err, out.Flush())
		}
	}
}

func trimLineEnd(line []byte) []byte {
	line = line[:len(line)-1]
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}
