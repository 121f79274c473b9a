package e2e_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gophd/gophd/robots/irc"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/test/e2e/harness"
)

// TestNgircd asks an IRC server in use, which has no CRAWLER token.
func TestNgircd(t *testing.T) {
	address := harness.FreeAddrs(t, 1)[0]
	config := filepath.Join(t.TempDir(), "ngircd.conf")
	write(t, config, "[Global]\nName = irc.example.net\nInfo = test\nAdminEMail = a@example.net\n"+
		"Listen = 127.0.0.1\nPorts = "+harness.Port(address)+
		"\n[Options]\nDNS = no\nIdent = no\nPAM = no\n")
	harness.Listens(t, exec.Command(harness.Tool(t, "ngircd"), "-n", "-f", config), "tcp", address)
	got, problems, err := new(irc.Visitor).Crawler(t.Context(), "irc://"+address)
	if want := (readers.Crawler{Cooldown: readers.DefaultCooldown}); err != nil || got != want ||
		problems != nil {
		t.Errorf("%v %v %v, want unspecified", got, problems, err)
	}
}
