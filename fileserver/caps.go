package fileserver

import (
	"strconv"

	"github.com/gophd/gophd/menu"
	"github.com/gophd/gophd/server"
	"github.com/gophd/gophd/site"
)

// caps answers with the generated caps.txt. What it tells of the annotation in
// the root stands there from the first scan on.
func (h *Files) caps(w server.ResponseWriter) error {
	_, err := w.Write(menu.Caps(h.Version, robotsCaps(h.Site.Now())))
	return err
}

// robotsCaps returns what caps.txt tells of the root's annotation: may the site be
// indexed, how many seconds to stay away between visits, and how many between
// requests.
func robotsCaps(snap *site.Snapshot) [][2]string {
	if snap == nil {
		return nil
	}
	fields := snap.Compiled.Fields()
	var list [][2]string

	if fields.Index != "" {
		list = append(list, [2]string{"RobotsIndex", fields.Index})
	}
	if fields.Cooldown > 0 {
		list = append(list, [2]string{"RobotsCooldown", strconv.Itoa(fields.Cooldown)})
	}
	if fields.CrawlDelay != "" {
		list = append(list, [2]string{"RobotsCrawlDelay", fields.CrawlDelay})
	}
	return append(list, [2]string{"RobotsPolicySHA256", snap.Compiled.Hash()})
}
