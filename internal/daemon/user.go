package daemon

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/command/exit"
	"github.com/gophd/gophd/internal/disk"
	"github.com/gophd/gophd/internal/process/metrics"
	"github.com/gophd/gophd/internal/process/sandbox"
	"github.com/gophd/gophd/internal/watch"
)

// becomeUser switches to the account of -user, once the listeners are open. Everything else is
// opened as that account, so files that it cannot read are reported at once and not at the next
// reload.
func (d *daemon) becomeUser() error {
	u := d.conf.account
	if u == nil {
		return nil
	}
	if err := u.Become(); errors.Is(err, fs.ErrPermission) {
		return exit.Usagef("only root can become another user: start gophd as root, or leave "+
			d.conf.option("user")+" out", "%w", err)
	} else if err != nil {
		return err
	}
	d.log.Info("became user", "user", u.Name, "uid", u.UID, "gid", u.GID)
	for _, f := range d.certs.Files() {
		if err := cmp.Or(may(nil, f.Cert, sandbox.MayRead),
			may(nil, f.Key, sandbox.MayRead)); err != nil {
			d.log.Warn("a renewed certificate will need a restart", "file", f.Cert, "error", err,
				"hint", "let the user "+u.Name+" read certificate and key, or after each renewal: "+
					diag.Command("systemctl", "restart", "gophd"))
		}
	}
	return nil
}

// enterSandbox is the last step before serving: it drops all rights that serving does not need.
func (d *daemon) enterSandbox() error {
	mode := d.conf.Sandbox
	if mode == "off" {
		return nil
	}
	inForce, err := sandbox.Enter(d.needed())
	switch {
	case mode == "require" && err != nil:
		return exit.Hint(err, d.conf.option("sandbox", "auto")+" does what the kernel can")
	case mode == "require" && !inForce.Full():
		return exit.Usagef("Linux 5.13 and later can on amd64 and arm64; "+
			d.conf.option("sandbox", "auto")+" uses what the kernel offers",
			"%s: this kernel cannot forbid all that gophd asks for (Landlock ABI %d, filter of system calls: %t)", d.conf.option("sandbox", "require"), inForce.ABI, inForce.Calls)
	case err != nil:
		d.log.Warn("no sandbox", "error", err)
		return nil
	}
	d.log.Info(diag.EventSandboxed, "forbidden", inForce)
	return nil
}

// needed lists the files that serving reads and writes.
func (d *daemon) needed() sandbox.Paths {
	var read []string
	for _, dir := range d.conf.dirs() {
		read = append(read, sandbox.Tree(dir.path)...)
		if d.conf.SandboxParent {
			read = append(read, sandbox.Around(dir.path)...)
		}
	}
	if d.conf.Users != "" {
		homes, links := d.userLinks()
		read = append(append(read, homes), links...)
		d.log.Info("the sandbox shows all homes, so that new users appear", "directory", homes,
			"links", len(links))
	}
	read = append(read, watch.Files()...)
	for _, f := range d.certs.Files() {
		read = append(read, sandbox.Around(f.Cert)...)
		read = append(read, sandbox.Around(f.Key)...)
	}
	if d.metrics != nil {
		read = append(read, metrics.Files()...)
	}
	var connect []string
	for _, rule := range d.conf.programs { // a restart of the program makes the socket again, and its directory
		connect = append(connect, existing(filepath.Dir(rule.Client.Socket)))
	}
	var keep []string
	if s := d.conf.search; s != nil && s.SearchDir != "" {
		keep = []string{s.SearchDir}
	}
	return sandbox.Paths{
		Read:    read,
		Append:  logPaths(d.conf.AccessLog),
		Keep:    keep,
		Connect: connect,
	}
}

// userLinks returns the directory of homes, and directories elsewhere that users have linked from
// there.
func (d *daemon) userLinks() (homes string, links []string) {
	homes, dirs := d.conf.userDirs()
	for _, dir := range dirs {
		real, err := files.RealPath(dir)
		if err != nil || strings.HasPrefix(real, strings.TrimSuffix(homes, "/")+"/") ||
			slices.Contains(links, real) {
			continue
		}
		if info, err := files.Stat(real); err == nil && info.IsDir() &&
			disk.OwnerOf(info) >= d.conf.UsersMinUID {
			links = append(links, real)
		}
	}
	return homes, links
}
