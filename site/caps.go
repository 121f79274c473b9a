package site

import "strconv"

// Caps gives what caps.txt tells of the root's annotation: may the site be
// indexed, how many seconds to stay away between visits, and how many between
// requests. A nil Snapshot has nothing to tell.
func (s *Snapshot) Caps() [][2]string {
	if s == nil {
		return nil
	}
	fields := s.Compiled.Fields()
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
	return list
}
