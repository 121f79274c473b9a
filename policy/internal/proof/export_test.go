package proof

import "github.com/gophd/gophd/robots/readers"

// Counts returns for each robot that somebody names, and for "*", what every reader
// takes otherwise: leaks and over-blocks, of names that exist alone if invent is
// false.
func Counts[D comparable](in Input[D], invent bool) map[string]map[string][2]int {
	p := &prover[D]{in: in, known: !invent}
	all := map[string]map[string][2]int{}
	p.each(nil, func(c *class, t *tally) {
		for _, name := range c.names {
			rows := map[string][2]int{}
			for i, m := range models {
				if c.readers>>i&1 == 1 {
					rows[m.Name] = [2]int{}
				}
			}
			for cause, e := range t.found {
				name := Preferences
				if cause.reader < len(models) {
					name = models[cause.reader].Name
				}
				r := rows[name]
				if cause.leak {
					r[0] += e.count
				} else {
					r[1] += e.count
				}
				rows[name] = r
			}
			all[name] = rows
		}
	})
	return all
}

// Models are the readers.
var Models = func() []readers.Reader { return models }

// SetMinNode makes the proof remember smaller directories.
func SetMinNode(n int) (restore func()) {
	old := minNode
	minNode = n
	return func() { minNode = old }
}
