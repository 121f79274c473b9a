package getcmd

import (
	"net"
	"strings"
	"testing"
	"time"
)

func TestReplyIsLate(t *testing.T) {
	client, server := net.Pipe()
	defer func() { _, _ = client.Close(), server.Close() }()
	_ = client.SetReadDeadline(time.Now())
	in := &serverReply{conn: client, timeout: time.Minute, left: 1}
	for range 2 { // and so it stays
		if _, err := in.Read(make([]byte, 1)); err == nil || !strings.HasPrefix(err.Error(), "the reply was not complete after 1m0s: ") {
			t.Error(err)
		}
	}
}
