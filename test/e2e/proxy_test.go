package e2e_test

import (
	"crypto/tls"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gophd/gophd/test/e2e/harness"
)

const haproxyConfig = `
defaults
	mode tcp
	timeout connect 2m
	timeout client 2m
	timeout server 2m
listen v1
	bind fd@3
	server gophd %[1]s send-proxy
listen v2
	bind fd@4
	server gophd %[1]s send-proxy-v2
listen tls
	bind fd@5 ssl crt %[2]s
	server gophd %[1]s send-proxy-v2-ssl check fall 1000
`

// askFrom asks from an address of this machine, over TLS if conf is not nil.
func askFrom(t *testing.T, from, addr, selector string, conf *tls.Config) string {
	t.Helper()
	got, err := harness.Exchange(from, addr, selector, conf)
	if err != nil {
		t.Errorf("%s from %s: %v", selector, from, err)
	}
	return string(got)
}

// A real proxy before gophd: the log names the client, whether the proxy or gophd ends TLS.
func TestBehindHaproxy(t *testing.T) {
	d := harness.Start(t, "-root", twoFiles(t), "-trust-proxy", "127.0.0.1/32",
		"-log-format", "text",
		"-tls-self-signed", filepath.Join(t.TempDir(), "tls"))
	f, pem := pair(t, "proxy.example"), filepath.Join(t.TempDir(), "both.pem")
	run(t, "", "sh", "-c", `cat "$1" "$2" >"$3"`, "sh", f.Cert, f.Key, pem)
	addrs := harness.HAProxy(t, 3, fmt.Appendf(nil, haproxyConfig, d.Addr, pem))
	v1, v2, ssl := addrs[0], addrs[1], addrs[2]
	for i, tt := range []struct {
		addr string
		conf *tls.Config
	}{{v1, nil}, {v2, nil}, {v1, harness.AnyCert("")}, {v2, harness.AnyCert("")},
		{ssl, harness.AnyCert("")}} {
		client := fmt.Sprintf("127.0.0.%d", 20+i)
		for sel, want := range map[string]string{"/a.txt": "alpha\n", "/large.bin": large} {
			if got := askFrom(t, client, tt.addr, sel, tt.conf); got != want {
				t.Errorf("%s from %s: %d bytes, %.60q", sel, client, len(got), got)
			}
			d.WaitLog("remote=" + client + " selector=" + sel)
		}
	}
	if strings.Contains(d.Log(), "remote=127.0.0.1 selector=/") {
		t.Errorf("a request was taken as the proxy's own:\n%s", d.Log())
	}
}
