package robotscmd

import (
	"slices"
	"testing"

	"github.com/gophd/gophd/policy"
)

// A leak that no report names is an error, one report for each reader.
func TestUnnamedLeaks(t *testing.T) {
	k := &checked{Readers: policy.Matrix{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
	k.unnamed([]policy.Leak{{Reader: "b", Selector: "/x"}, {Reader: "a", Selector: "/x"},
		{Reader: "b", Selector: "/y"}})
	if len(k.Reports) != 2 || !k.bad() || !slices.Equal(k.Reports[1].Leaks, []string{"/x", "/y"}) {
		t.Errorf("got %+v", k.Reports)
	}
}
