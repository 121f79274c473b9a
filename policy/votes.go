package policy

// Where there is no room for a group for every robot, those go first that matter
// least: each directory has a vote, which the robots share that are named in it
// and below it. So whoever names thirty robots, or names them in a hundred
// directories of their own, gives little to each, and the robot that somebody
// else names keeps its group. What the root's annotation names comes last.

// voters is how many levels of directories vote; what lies deeper is one.
const voters = 6

// votes gives what each robot has.
func (x *index) votes(root *Dir) map[string]float64 {
	all := x.share(root, voters)
	if n := x.notes[root]; n != nil && all != nil {
		for _, token := range n.order {
			all[token]++
		}
	}
	return all
}

// share divides the vote of a directory.
func (x *index) share(d *Dir, levels int) map[string]float64 {
	if !x.noted[d] {
		return nil
	}
	if levels == 0 {
		names := map[string]bool{}
		x.names(d, names)
		return evenly(names)
	}
	sum, n := map[string]float64{}, 0.0
	add := func(share map[string]float64) {
		if len(share) > 0 {
			n++
		}
		for token, vote := range share {
			sum[token] += vote
		}
	}
	own := map[string]bool{}
	x.notes[d].name(own)
	add(evenly(own))
	for _, sub := range d.Dirs {
		add(x.share(sub, levels-1))
	}
	for token := range sum {
		sum[token] /= n
	}
	return sum
}

func evenly(names map[string]bool) map[string]float64 {
	share := make(map[string]float64, len(names))
	for token := range names {
		share[token] = 1 / float64(len(names))
	}
	return share
}

// names collects the robots that are named in a directory and below it.
func (x *index) names(d *Dir, names map[string]bool) {
	if !x.noted[d] {
		return
	}
	x.notes[d].name(names)
	for _, sub := range d.Dirs {
		x.names(sub, names)
	}
}

// name adds the robots that an annotation names; a nil one names none.
func (n *note) name(names map[string]bool) {
	if n == nil {
		return
	}
	for _, token := range n.order {
		if token != "*" {
			names[token] = true
		}
	}
}
