package programs

import (
	"errors"
	"testing"

	"github.com/gophd/gophd/server"
)

func TestStatus(t *testing.T) {
	for status, want := range map[int]server.Kind{404: server.NotFound, 403: server.NotFound,
		400: server.BadRequest, 418: server.BadRequest, 429: server.Busy, 500: server.Internal,
		502: server.Internal, 503: server.Busy} {
		if got := server.KindOf(refused(status)); got != want {
			t.Errorf("%d: %v, want %v", status, got, want)
		}
	}
	if err := failed(server.ErrNotFound); !errors.Is(err, server.ErrNotFound) {
		t.Error(err)
	}
}
