package e2e_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gophd/gophd/test/e2e/harness"
)

// wantUnit fails if a unit file lacks a line.
func wantUnit(t *testing.T, name string, lines ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../examples/systemd", name))
	must(t, err)
	for _, line := range lines {
		if !strings.Contains(string(text), "\n"+line+"\n") {
			t.Errorf("%s has no line %s", name, line)
		}
	}
}

// TestUnits: what the units must have, and what they shut off.
func TestUnits(t *testing.T) {
	wantUnit(t, "gophd.service",
		"Requires=gophd.socket",
		"After=gophd.socket",
		"Type=notify",
		"WatchdogSec=30",
		"Restart=on-failure",
		"RestartPreventExitStatus=2",
		"StartLimitBurst=5",
		"StartLimitIntervalSec=60",
		"ExecReload=/bin/sh -c 'kill -HUP $MAINPID'",

		// What it must not have.
		"DynamicUser=yes",
		"LogsDirectory=gophd",
		"StateDirectory=gophd",
		"CapabilityBoundingSet=",
		"NoNewPrivileges=yes",
		"PrivateUsers=yes",
		"PrivateNetwork=yes",
		"RestrictAddressFamilies=AF_UNIX",
		"SocketBindDeny=any",
		"ProtectSystem=strict",
		"ProtectHome=yes",
		"PrivateTmp=yes",
		"PrivateDevices=yes",
		"ProtectProc=invisible",
		"ProtectKernelTunables=yes",
		"ProtectKernelModules=yes",
		"ProtectKernelLogs=yes",
		"ProtectControlGroups=yes",
		"ProtectClock=yes",
		"ProtectHostname=yes",
		"RestrictNamespaces=yes",
		"RestrictRealtime=yes",
		"RestrictSUIDSGID=yes",
		"LockPersonality=yes",
		"MemoryDenyWriteExecute=yes",
		"RemoveIPC=yes",
		"SystemCallArchitectures=native",
		"SystemCallFilter=~@privileged @resources",

		// gophd must be able to put itself into its sandbox.
		"SystemCallFilter=@system-service seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self",

		// The key is handed over by systemd, so that nobody else can read it.
		"LoadCredential=gophd.crt", "LoadCredential=gophd.key")
	wantUnit(t, "gophd-users.conf", "ProtectHome=read-only", "PrivateUsers=no")
	wantUnit(t, "gophd-port.conf", "ListenStream=7070")
	wantUnit(t, "gophd.socket", "ListenStream=70", "Accept=no", "WantedBy=sockets.target")
}

// TestFrontSockets: gophd knows a socket's protocol by its name, and a package that goes
// leaves none behind, but those of the administrator.
func TestFrontSockets(t *testing.T) {
	stops, err := os.ReadFile("../../packaging/scripts/preremove.sh")
	must(t, err)
	purges, err := os.ReadFile("../../packaging/scripts/postremove.sh")
	must(t, err)
	for name, port := range map[string]string{"gemini": "1965", "spartan": "300", "nex": "1900",
		"finger": "79"} {
		wantUnit(t, "gophd-"+name+".socket", "ListenStream="+port, "FileDescriptorName="+name,
			"Service=gophd.service")
		if socket := " gophd-" + name + ".socket"; !bytes.Contains(stops, []byte(socket)) ||
			!bytes.Contains(purges, []byte(socket)) {
			t.Errorf("the packages' scripts leave%s behind", socket)
		}
	}
}

// TestUnitsAnalyzed lets systemd judge, where it is installed: also the units for programs,
// those of the site and those of one user.
func TestUnitsAnalyzed(t *testing.T) {
	analyze := harness.Tool(t, "systemd-analyze")
	dir := t.TempDir()
	start := regexp.MustCompile(`(?m)^(ExecStart=)\S+`)
	judge := func(args ...string) {
		t.Helper()
		cmd := exec.Command(analyze, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil || args[0] == "verify" && len(out) > 0 {
			t.Errorf("systemd-analyze %s: %v\n%s", args, err, out)
		}
	}
	for from, to := range map[string]string{"systemd/gophd": "gophd",
		"fastcgi/gophd-programs": "gophd-programs", "fastcgi/gophd-programs@": "gophd-programs@games"} {
		for _, kind := range []string{".service", ".socket"} {
			text, err := os.ReadFile(filepath.Join("../../examples", from+kind))
			must(t, err)
			write(t, filepath.Join(dir, to+kind), start.ReplaceAllString(string(text), "${1}/bin/true"))
		}
		judge("verify", "--man=no", "./"+to+".service", "./"+to+".socket")
	}
	judge("security", "--offline=true", "--threshold=10", "./gophd.service") // an exposure of at most 1.0
}
