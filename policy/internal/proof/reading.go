package proof

import (
	"fmt"

	"github.com/gophd/gophd/robots"
	"github.com/gophd/gophd/robots/readers"
)

// reading is a robots file that any reader may read.
type reading struct {
	file *readers.Parsed
	rfc  *robots.File
}

func newReading(data []byte) *reading {
	return &reading{readers.Open(data), robots.Parse(robots.RFC9309, data)}
}

// Names returns the product tokens that the file names.
func (r *reading) Names() []string { return r.file.Names() }

// Usages returns the Content-Usage lines that bind the named robot.
func (r *reading) Usages(agent string) (list []robots.Usage) {
	for _, g := range r.rfc.Agent(agent).Groups() {
		list = append(list, g.Usages...)
	}
	return list
}

// Key returns the same for robots to which every reader without an Agent gives the
// same rules, but for their lines, and the same Usages.
func (r *reading) Key(agent string) string {
	said := ""
	for _, m := range models {
		if m.Agent == "" && m.Groups {
			for _, rule := range m.Rules(r.file, agent) {
				said += fmt.Sprint(rule.Allow, rule.Pattern, " ")
			}
			said += "\n"
		}
	}
	for _, u := range r.Usages(agent) {
		said += u.Pattern + u.Value + "\n"
	}
	return fmt.Sprint(hashOf(said))
}
