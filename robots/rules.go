package robots

import "sync"

// Rules are the rules of a file that bind one robot. They may be used by many
// goroutines at once. A nil or zero Rules allows everything.
type Rules struct {
	file   *File
	groups []uint32
	reason Reason
	closed bool // everything is denied: the CRAWLER token says so

	once   sync.Once
	agents []Agent
	index  *index
}

func (f *File) rulesOf(why Reason, groups ...[]uint32) *Rules {
	r := &Rules{file: f, reason: why}
	for _, g := range groups {
		r.groups = append(r.groups, g...)
	}
	return r
}

// compile makes the index, at the first question.
func (r *Rules) compile() {
	f := r.file
	r.index = &index{file: f}
	for _, g := range r.groups {
		style := f.dialect.style(f.groups[g].version)
		first := f.groups[g].record
		for i, rec := range f.members(int(g)) {
			if rec.kind() == KindAgent {
				r.agents = append(r.agents, Agent{token(f.value(rec)), int(rec.line)})
				continue
			}
			r.index.add(style, first+uint32(i))
		}
	}
	r.index.finish()
}

// Allowed reports whether the selector may be fetched.
func (r *Rules) Allowed(selector string) bool {
	if r == nil || r.file == nil {
		return true
	}
	best, _, always := r.find(selector)
	return always || !r.closed && best.allowed()
}

// Decide says whether the selector may be fetched, and why; see [File.Decide].
func (r *Rules) Decide(selector string) Decision {
	if r == nil || r.file == nil {
		return Decision{Allowed: true}
	}
	best, second, always := r.find(selector)
	d := Decision{Allowed: always || !r.closed && best.allowed(), Agents: r.agents, Reason: r.reason}
	if always {
		d.Reason = RobotsFile
		return d
	}
	if best.found() {
		d.Rule, d.Pattern = r.file.rule(r.file.records[best.record]), r.index.pattern(best.record)
	}
	if second.found() {
		d.RunnerUp = r.file.rule(r.file.records[second.record])
	}
	return d
}

// find gives the rule that decides and the next best one.
func (r *Rules) find(selector string) (best, second match, always bool) {
	r.once.Do(r.compile)
	if r.file.dialect.web() {
		selector = pathOf(selector)
	}
	if r.file.dialect == RFC9309 && selector == "/robots.txt" {
		return best, second, true // R5
	}
	best, second = r.index.find(selector)
	return best, second, false
}
