package e2e_test

import (
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gophd/gophd/internal/treetest"
	"github.com/gophd/gophd/test/e2e/harness"
)

// TestClientCertificate: programs get the certificate of a Gemini client. Browsers on the
// port of Gopher are not asked for one, nor is anybody where there is no program.
func TestClientCertificate(t *testing.T) {
	socket := treetest.FastCGI(t, func(env map[string]string, out io.Writer) byte {
		if env["TLS_CLIENT_HASH"] == "" {
			_, _ = io.WriteString(out, "60 A certificate, please\r\n")
			return 0
		}
		_, _ = io.WriteString(out,
			"20 text/plain\r\n"+env["TLS_CLIENT_HASH"]+" "+env["TLS_CLIENT_SUBJECT"]+" "+
				env["REMOTE_USER"]+" "+env["AUTH_TYPE"]+" "+env["TLS_CLIENT_SERIAL_NUMBER"])
		return 0
	})
	cert := harness.Certificate(t, "ann", time.Now().Add(time.Hour))
	asked := false
	bearer := harness.AnyCert("127.0.0.1")
	bearer.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		asked = true
		return &cert, nil
	}
	root := t.TempDir()
	write(t, filepath.Join(root, "a.txt"), "A\n")
	with, _ := serveFronts(t, root, "-fastcgi", "/app="+socket)
	without, _ := serveFronts(t, root)
	for _, c := range []struct {
		addr, request string
		conf          *tls.Config
		asked         bool
		want          string
	}{
		{with["gemini"], "gemini://127.0.0.1/app", harness.AnyCert("127.0.0.1"), false,
			"60 A certificate, please\r\n"},
		{with["gemini"], "gemini://127.0.0.1/app", bearer, true,
			fmt.Sprintf("20 text/plain\r\nSHA256:%x CN=ann ann Certificate 1",
				sha256.Sum256(cert.Certificate[0]))},
		{with["gemini"], "gemini://127.0.0.1/a.txt", bearer, true,
			"20 text/plain; charset=utf-8\r\nA\n"},
		{with["gopher"], "a.txt", bearer, false, "A\n"},
		{without["gemini"], "gemini://127.0.0.1/a.txt", bearer, false,
			"20 text/plain; charset=utf-8\r\nA\n"},
	} {
		asked = false
		reply, err := harness.Exchange("", c.addr, c.request, c.conf)
		if err != nil || string(reply) != c.want || asked != c.asked {
			t.Errorf("%s: %q, %v; asked for a certificate: %v", c.request, reply, err, asked)
		}
	}
}

// TestSmallnetClients shows the hole to clients in use.
func TestSmallnetClients(t *testing.T) {
	at, _ := serveFronts(t, tree(t,
		map[string]string{"gophermap": "!The hole\nHello there\n0A text\ta.txt\n1Below\tsub/\n",
			"a.txt": "The text\n", "sub/b.txt": "B\n"}))
	t.Run("netcat", func(t *testing.T) {
		for name, request := range map[string]string{"spartan": "127.0.0.1 /a.txt 0\r\n",
			"nex": "/a.txt\n"} {
			host, port, _ := net.SplitHostPort(at[name])
			if got := output(t, request, harness.Tool(t, "nc"), "-N", host,
				port); !strings.HasSuffix(got, "The text\n") {
				t.Errorf("%s: %q", name, got)
			}
		}
	})
	t.Run("amfora", func(t *testing.T) {
		harness.Tool(t, "amfora")
		screen := onTerminal(t, "stty rows 40 cols 100; exec amfora gemini://"+at["gemini"]+"/",
			[]reaction{{"Below", "\x03"}})
		for _, text := range []string{"The hole", "Hello there", "A text", "Below"} {
			if !strings.Contains(screen, text) {
				t.Errorf("%q is not on the screen:\n%s", text, screen)
			}
		}
	})
	t.Run("elpher", func(t *testing.T) {
		// Without a display fonts have no size, which elpher 2.10 divides by; and Emacs 28
		// misses the end of a TLS handshake now and then, with any server.
		got := output(t, "", harness.Tool(t, "emacs"), "--batch", "-l", "elpher", "--eval", `
			(progn (setq elpher-connection-timeout 2) (advice-add 'font-get :override (lambda (&rest _) 1))
			(elpher-go "gemini://`+at["gemini"]+`/")
			(dolist (seen '("Below" "The text"))
				(with-current-buffer "*elpher*"
					(while (not (search-forward seen nil t))
						(when (search-forward "ERROR" nil t) (elpher-reload))
						(accept-process-output nil 0.1)
						(goto-char (point-min)))
					(princ (buffer-string))
					(goto-char (point-min))
					(when (search-forward "A text" nil t) (push-button (1- (point)))))))`)
		for _, text := range []string{"# The hole\n\nHello there\n", "A text\n", "Below\n",
			"The text\n"} {
			if !strings.Contains(got, text) {
				t.Errorf("%q is not shown:\n%s", text, got)
			}
		}
	})
	t.Run("npm", func(t *testing.T) {
		got, err := npm(t, "gemini.js",
			"gemini://"+strings.Replace(at["gemini"], "127.0.0.1", "localhost", 1)+
				"/a.txt").Output()
		if string(got) != "20 text/plain; charset=utf-8\nThe text\n" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// TestFinger asks with Debian's finger, which knows the usual port alone.
func TestFinger(t *testing.T) {
	finger := harness.Tool(t, "finger")
	const host = "127.0.0.79"
	l, err := net.Listen("tcp", host+":79")
	if err != nil {
		t.Skip(err)
	}
	must(t, l.Close())
	serve(t, tree(t, map[string]string{"gophermap": "!The hole\n",
		"~ann/gophermap": "!Ann's place\n", "~ann/plan.txt": "To sleep.\n",
		"~ann/2026-01-02.txt": "Snow\n"}), "-finger", host+":79")
	for who, want := range map[string][]string{"@" + host: {"The hole"},
		"ann@" + host:  {"Ann's place", "To sleep.", "2026-01-02 Snow"},
		"root@" + host: {"no such user"}} {
		got := output(t, "", finger, who)
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("%s: %q", who, got)
			}
		}
	}
}
