package e2e_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gophd/gophd/robots/irc"
	"github.com/gophd/gophd/robots/readers"
	"github.com/gophd/gophd/test/e2e/harness"
)

// TestNgircd asks an IRC server in use, which has no CRAWLER token.
func TestNgircd(t *testing.T) {
	address := startNgircd(t, harness.Tool(t, "ngircd"))
	got, problems, err := new(irc.Visitor).Crawler(t.Context(), "irc://"+address)
	if want := (readers.Crawler{Cooldown: readers.DefaultCooldown}); err != nil || got != want ||
		problems != nil {
		t.Errorf("%v %v %v, want unspecified", got, problems, err)
	}
}

// startNgircd starts a server and returns when it listens.
func startNgircd(t *testing.T, path string) (address string) {
	address = harness.FreeAddrs(t, 1)[0]
	_, port, _ := net.SplitHostPort(address)
	config := t.TempDir() + "/ngircd.conf"
	text := fmt.Sprintf("[Global]\nName = irc.example.net\nInfo = test\nAdminEMail = a@example.net\n"+
		"Listen = 127.0.0.1\nPorts = %s\n[Options]\nDNS = no\nIdent = no\nPAM = no\n", port)
	must(t, os.WriteFile(config, []byte(text), 0o644))
	ctx, cancel := context.WithTimeout(t.Context(), harness.Timeout)
	cmd := exec.CommandContext(ctx, path, "-n", "-f", config)
	log, err := cmd.StdoutPipe()
	if err == nil {
		cmd.Stderr = cmd.Stdout
		err = cmd.Start()
	}
	must(t, err)
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		t.Log(lines.Text())
		if strings.Contains(lines.Text(), " ready.") {
			go func() { _, _ = io.Copy(io.Discard, log) }()
			return address
		}
	}
	t.Fatal("ngircd does not start")
	return ""
}
