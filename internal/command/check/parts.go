package check

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os/user"
	"slices"
	"strconv"
	"strings"

	"github.com/gophd/gophd/diag"
	"github.com/gophd/gophd/internal/daemon"
	"github.com/gophd/gophd/internal/disk"
)

// examineSite checks a directory with the other trees of its site, and the directories of
// virtual hosts by their names, whose findings begin with the host.
func examineSite(ctx context.Context, dir string, hosts map[string]string,
	o Options) (*Outcome, error) {
	all, err := Examine(ctx, dir, o, nil)
	if err != nil {
		return nil, err
	}
	o.Serve = daemon.Flags{
		FastCGI: o.Serve.FastCGI,
		Charset: o.Serve.Charset,
		Sitemap: o.Serve.Sitemap,
	}
	for _, name := range slices.Sorted(maps.Keys(hosts)) {
		o.Host = name
		r, err := Examine(ctx, hosts[name], o, nil)
		if err != nil {
			return nil, fmt.Errorf("host %s: %w", name, err)
		}
		for _, d := range r.Findings {
			d.File = name + ":/" + d.File
			all.Findings = append(all.Findings, d)
		}
		for _, p := range r.Parts {
			p.Tree = name
			all.Parts = append(all.Parts, p)
		}
		all.add(r.Amounts)
		all.Annotations += r.Annotations
		all.RobotsBytes += r.RobotsBytes
	}
	slices.SortStableFunc(all.Findings, diag.Compare)
	return all, nil
}

// part returns the counts for the tree and the owner of what has a label. What cannot be
// looked at counts for the tree's owner.
func (c *checking) part(label string) *Part {
	f, name := c.labelled(label)
	top := f.top(name)
	tree, owner, at := f.label(top), "", f.view().Path(name)
	if user, is := strings.CutPrefix(name, "~"); is && top == "." && c.Serve.Users != "" { // of a tree that is not served
		tree, at = label, strings.Replace(c.Serve.Users, "*", user, 1)
	}
	info, err := files.Lstat(at)
	if err != nil {
		info, err = files.Lstat(f.tops[top])
	}
	if err == nil {
		owner = c.ownerOf(info)
	}
	key := [2]string{tree, owner}
	if c.parts[key] == nil {
		c.parts[key] = &Part{
			Tree:  tree,
			Owner: owner,
			codes: map[string]int{},
		}
	}
	return c.parts[key]
}

// ownerOf returns the name of a file's owner, or the number.
func (c *checking) ownerOf(info fs.FileInfo) string {
	uid := disk.OwnerOf(info)
	name := c.users[uid]
	if name == "" {
		name = strconv.Itoa(uid)
		if u, err := user.LookupId(name); err == nil {
			name = u.Username
		}
		c.users[uid] = name
	}
	return name
}

// owned checks whether a file of a user's tree is the user's, or root's.
func (f *front) owned(name string) {
	top := f.top(name)
	owner := f.part(f.label(name)).Owner
	if its := f.part(f.label(top)).Owner; strings.HasPrefix(top, "~") && owner != its &&
		owner != f.users[0] {
		f.find(diag.Error, codeOwner, name, 0,
			diag.Command("chown", "--", its, f.view().Path(name)),
			"not served: it belongs to %s, and the tree to %s", owner, its)
	}
}
