package fileserver

import (
	"fmt"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/site"
)

// menu answers with the menu of a directory.
func (v *visit) menu(f *site.File) error {
	b := menu.Builder{FS: v.view, Host: v.r.Host, Port: v.r.Port, InfoPrefix: v.InfoPrefix}
	m, err := b.Menu(f.Name)
	if failed := v.view.Err(); failed != nil {
		err = failed
	}
	if err != nil {
		return fmt.Errorf("making the menu of %s: %w", f.Name, err)
	}
	v.Site.Report(m.Problems)
	if v.r.Plus == "$" && f.Name == "." {
		_, err = v.w.Write(menu.AppendPlusInfo(nil, m.Items))
		return err
	}
	body := m.AppendTo(nil)
	v.keep(body, f, true)
	_, err = v.w.Write(body)
	return err
}
