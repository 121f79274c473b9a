package e2e_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gophd/gophd/test/e2e/harness"
)

// parseUnit reads a unit file: the values of each Section.Directive.
func parseUnit(t *testing.T, name string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../examples/systemd", name))
	must(t, err)
	unit, section := map[string][]string{}, ""
	for n, line := range strings.Split(string(text), "\n") {
		key, value, ok := strings.Cut(line, "=")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[' && strings.HasSuffix(line, "]"):
			section = strings.Trim(line, "[]")
		case ok && section != "" && strings.TrimSpace(key) == key:
			unit[section+"."+key] = append(unit[section+"."+key], value)
		default:
			t.Errorf("%s:%d: %q is no directive", name, n+1, line)
		}
	}
	return unit
}

func wantUnit(t *testing.T, name string, directives map[string]string) {
	t.Helper()
	unit := parseUnit(t, name)
	for key, value := range directives {
		if !slices.Contains(unit[key], value) {
			t.Errorf("%s: %s is %q, want %q", name, key, unit[key], value)
		}
	}
}

// TestUnits: what the units must have, and what they shut off.
func TestUnits(t *testing.T) {
	wantUnit(t, "gophd.service", map[string]string{
		"Unit.Requires": "gophd.socket", "Unit.After": "gophd.socket",
		"Service.Type": "notify", "Service.WatchdogSec": "30", "Service.Restart": "on-failure",
		"Service.RestartPreventExitStatus": "2", "Unit.StartLimitBurst": "5",
		"Unit.StartLimitIntervalSec": "60",
		"Service.ExecReload":         "/bin/sh -c 'kill -HUP $MAINPID'",
		// What it must not have.
		"Service.DynamicUser": "yes", "Service.LogsDirectory": "gophd",
		"Service.StateDirectory": "gophd", "Service.CapabilityBoundingSet": "",
		"Service.NoNewPrivileges": "yes",
		"Service.PrivateUsers":    "yes", "Service.PrivateNetwork": "yes",
		"Service.RestrictAddressFamilies": "AF_UNIX",
		"Service.SocketBindDeny":          "any", "Service.ProtectSystem": "strict",
		"Service.ProtectHome": "yes",
		"Service.PrivateTmp":  "yes", "Service.PrivateDevices": "yes",
		"Service.ProtectProc":           "invisible",
		"Service.ProtectKernelTunables": "yes", "Service.ProtectKernelModules": "yes",
		"Service.ProtectKernelLogs":    "yes",
		"Service.ProtectControlGroups": "yes", "Service.ProtectClock": "yes",
		"Service.ProtectHostname":    "yes",
		"Service.RestrictNamespaces": "yes", "Service.RestrictRealtime": "yes",
		"Service.RestrictSUIDSGID": "yes",
		"Service.LockPersonality":  "yes", "Service.MemoryDenyWriteExecute": "yes",
		"Service.RemoveIPC":               "yes",
		"Service.SystemCallArchitectures": "native",
		"Service.SystemCallFilter":        "~@privileged @resources",
	})

	// gophd must be able to put itself into its sandbox.
	wantUnit(t, "gophd.service", map[string]string{"Service.SystemCallFilter": "@system-service seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self"})

	// The key is handed over by systemd, so that nobody else can read it.
	for _, name := range []string{"gophd.crt", "gophd.key"} {
		wantUnit(t, "gophd.service", map[string]string{"Service.LoadCredential": name})
	}
	wantUnit(t, "gophd-users.conf",
		map[string]string{"Service.ProtectHome": "read-only", "Service.PrivateUsers": "no"})
	wantUnit(t, "gophd-port.conf", map[string]string{"Socket.ListenStream": "7070"})
	wantUnit(t, "gophd.socket", map[string]string{"Socket.ListenStream": "70",
		"Socket.Accept": "no", "Install.WantedBy": "sockets.target"})
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
		wantUnit(t, "gophd-"+name+".socket",
			map[string]string{"Socket.ListenStream": port, "Socket.FileDescriptorName": name,
				"Socket.Service": "gophd.service"})
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
