package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/gophd/gophd/internal/process/sandbox"
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
// the service: a unit of systemd, or one that became the user of -user. Without such a
// process, it examines with the rights of this one.
func (x *examination) lookAsService(ctx context.Context) {
	var out []byte
	err := errNoNeed
	switch root := os.Geteuid() == 0 && x.Machine == ""; {
	case root && x.underSystemd():
		out, err = x.lookInUnit(ctx)
	case root && x.failed == nil && x.flags.User != "":
		out, err = x.lookAsUser(ctx)
	}
	if err == nil {
		err = json.Unmarshal(out, &x.sight)
	}
	if err == nil {
		for i, f := range x.sight.Findings {
			x.sight.Findings[i].Type = strings.ReplaceAll(f.Type, restartLater, x.restart())
		}
		return
	}
	x.sight = x.look(ctx)
	if !errors.Is(err, errNoNeed) {
		why := unknownf("examined with the rights of this process, not of the service: %v", err)
		why[0].Check = "directories"
		x.sight.Findings = append(why, x.sight.Findings...)
	}
}

// restartLater is a placeholder in hints: the first process, which knows the unit, replaces
// it by the command that restarts the service.
const restartLater = "RESTART-THE-SERVICE"

var errNoNeed = errors.New("this process is as good")

// lookInUnit runs this program in a unit like the service's, for a moment.
func (x *examination) lookInUnit(ctx context.Context) ([]byte, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
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
	args, _ := x.started()
	var start strings.Builder
	for _, word := range append([]string{self, "doctor", "-as-service"}, args...) {
		start.WriteString(" " + strings.NewReplacer("%", "%%", "$",
			"$$").Replace(strconv.Quote(word)))
	}
	user := ""
	if x.unit()["User"] == "" && x.unit().yes("DynamicUser") {
		user = "User=gophd\n" // systemd takes it from the name of the unit
	}
	fmt.Fprintf(&lines, "\n[Service]\nType=oneshot\nRestart=no\nWatchdogSec=0\nExecStartPre=\nExecStartPost=\nExecStart=\nExecStart=%s\n%sStandardOutput=truncate:%s/out\nStandardError=truncate:%[3]s/err\n", start.String(), user, dir)
	name := filepath.Base(dir) + ".service"
	file := filepath.Join("/run/systemd/system", name)
	defer func() { _ = os.Remove(file) }()
	if err := os.WriteFile(file, []byte(lines.String()), 0o644); err != nil {
		return nil, err
	}
	_, err = x.command(ctx, "systemctl", "start", name)
	if err != nil {
		text, _ := os.ReadFile(filepath.Join(dir, "err"))
		return nil, fmt.Errorf("a unit like %s: %w: %s", unitNames[0], err, bytes.TrimSpace(text))
	}
	return os.ReadFile(filepath.Join(dir, "out"))
}

// lookAsUser runs this program as the account of -user.
func (x *examination) lookAsUser(ctx context.Context) ([]byte, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	u, err := sandbox.LookUpUser(x.flags.User)
	if err != nil {
		return nil, err
	}
	args, env := x.Args, []string(nil)
	if x.Settings == nil {
		args, env = x.started()
	}
	cmd := exec.CommandContext(ctx, self, append([]string{"doctor", "-as-service"}, args...)...) // #nosec G204: this program
	cmd.Env = append(os.Environ(), env...)
	var groups []uint32
	for _, g := range u.Groups {
		groups = append(groups, uint32(g)) // #nosec G115: LookUpUser parses 32 bits
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(u.UID), Gid: uint32(u.GID), Groups: groups}} // #nosec G115
	return cmd.Output()
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

// account is the name that a command gives files to.
func (x *examination) account() string {
	if x.flags.User != "" {
		name, _, _ := strings.Cut(x.flags.User, ":")
		return name
	}
	return "gophd"
}

// private is a directory beside the root, for what must not be served.
func (x *examination) private() string {
	root := x.flags.Root
	if abs, err := filepath.Abs(root); err == nil {
		root = abs
	}
	return root + "-private"
}
