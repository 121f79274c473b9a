package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A sight is what the account of the service sees of the disk, in the service's namespaces.
type sight struct {
	Findings []Finding
	Users    int                // whose directories it serves
	Homes    map[string]Finding // why it does not serve others, by the directories
	Robots   []byte             // the robots.txt of the tree
	Pages    []page             // the top-level directories
	Texts    []text             // the newest texts that robots may fetch
}

// A page is a directory as browsers request it.
type page struct {
	Selector string
	NoIndex  bool // robots must not index it
}

// A text is a text, with what a client gets.
type text struct {
	Selector string
	Body     []byte
}

// lookAsService examines the disk in a process that has the account and the namespaces of
// the service: in a unit of systemd, or one that becomes the user of -user. Without such a
// process, it examines with the rights of this one.
func (x *examination) lookAsService(ctx context.Context) {
	self, err := os.Executable()
	words := []string{self, "doctor", "-as-service"}
	var out []byte
	switch root := os.Geteuid() == 0 && x.Machine == "" && err == nil; {
	case root && x.underSystemd():
		args, _ := x.started()
		out, err = x.lookInUnit(ctx, append(words, args...))
	case root && x.failed == nil && x.flags.User != "":
		args, env := x.Args, []string(nil)
		if x.Settings == nil {
			args, env = x.started()
		}
		cmd := exec.CommandContext(ctx, self, append(words[1:], args...)...) // #nosec G204: this program
		cmd.Env = append(os.Environ(), env...)
		out, err = cmd.Output()
	default: // this process is as good
		x.sight = x.look(ctx)
		return
	}
	if err == nil {
		err = json.Unmarshal(out, &x.sight)
	}
	if err != nil {
		x.sight = x.look(ctx)
		x.sight.Findings = slices.Insert(x.sight.Findings, 0, Finding{
			Check:   "directories",
			Unknown: true,
			Text: fmt.Sprintf(
				"examined with the rights of this process, not of the service: %v", err),
		})
	}
}

// lookInUnit runs a command in a unit like the service's, for a moment.
func (x *examination) lookInUnit(ctx context.Context, words []string) ([]byte, error) {
	unit, err := x.command(ctx, "systemctl", "cat", "--no-pager", unitNames[0])
	if err != nil {
		return nil, fmt.Errorf("reading the unit: %w", err)
	}
	dir, err := os.MkdirTemp("/run", "gophd-doctor-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()

	// Take the section of the service alone: the others name units to start. What follows
	// overrides its lines.
	var lines strings.Builder
	section := ""
	for line := range strings.Lines(string(unit)) {
		if strings.HasPrefix(line, "[") {
			section = strings.TrimSpace(line)
		}
		if section == "[Service]" {
			lines.WriteString(line)
		}
	}
	lines.WriteString("\n[Service]\nType=oneshot\nRestart=no\nWatchdogSec=0\nExecStartPre=\nExecStartPost=\nExecStart=\nExecStart=")
	escape := strings.NewReplacer("%", "%%", "$", "$$")
	for _, word := range words {
		lines.WriteString(" " + escape.Replace(strconv.Quote(word)))
	}
	if x.unit()["User"] == "" && x.unit().yes("DynamicUser") {
		lines.WriteString("\nUser=gophd") // systemd takes it from the name of the unit
	}
	fmt.Fprintf(&lines, "\nStandardOutput=truncate:%s/out\nStandardError=truncate:%[1]s/err\n", dir)

	name := filepath.Base(dir) + ".service"
	file := filepath.Join("/run/systemd/system", name)
	defer func() { _ = os.Remove(file) }()
	if err := os.WriteFile(file, []byte(lines.String()), 0o644); err != nil {
		return nil, err
	}
	if _, err = x.command(ctx, "systemctl", "start", name); err != nil {
		text, _ := os.ReadFile(filepath.Join(dir, "err"))
		return nil, fmt.Errorf("a unit like %s: %w: %s", unitNames[0], err, bytes.TrimSpace(text))
	}
	return os.ReadFile(filepath.Join(dir, "out"))
}

// credentials is where systemd shows a service what LoadCredential= has loaded.
const credentials = "/run/credentials/gophd.service/"

// ownCredentials replaces the service's directory of credentials by that of this process.
func (x *examination) ownCredentials() {
	dir := os.Getenv("CREDENTIALS_DIRECTORY")
	if dir == "" {
		return
	}
	for _, files := range [][]string{x.flags.TLSCert, x.flags.TLSKey} {
		for i, file := range files {
			if name, ok := strings.CutPrefix(file, credentials); ok {
				files[i] = dir + "/" + name
			}
		}
	}
}
