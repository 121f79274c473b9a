package daemon

import "testing"

func TestPrefixes(t *testing.T) {
	got, err := prefixes("x", []string{"10.0.0.0/8", "::1", "192.0.2.7"})
	if err != nil || len(got) != 3 || got[0].Bits() != 8 || got[1].Bits() != 128 || got[2].Bits() != 32 {
		t.Errorf("%v, %v", got, err)
	}
}
