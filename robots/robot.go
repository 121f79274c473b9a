package robots

import "time"

// Robot is who asks: a program that goes by more than one name.
type Robot struct {
	// Names are its product tokens, the most special one first: mybot-news, mybot.
	// The first that a group names decides which rules bind it; if none is named,
	// those of the * group do.
	Names []string

	// Categories are what it does, by the names of the virtual agents of Gemini's
	// companion specification: archiver, indexer, researcher, webproxy. The rules of
	// all that a group names bind it, too.
	Categories []string
}

// RuleSets are several sets of rules, all of which bind a robot: what one of them
// denies is denied. Without any all is allowed.
type RuleSets []*Rules

// For returns the rules that bind a robot.
func (f *File) For(robot Robot) RuleSets {
	own := f.Agent("")
	for _, name := range robot.Names {
		if r := f.Agent(name); r.named() {
			own = r
			break
		}
	}
	all := RuleSets{own}
	for _, category := range robot.Categories {
		if r := f.Agent(category); r.named() {
			all = append(all, r)
		}
	}
	return all
}

// named reports whether a group names the robot.
func (r *Rules) named() bool { return r != nil && r.reason == OwnGroup }

// Allowed reports whether the selector may be fetched.
func (s RuleSets) Allowed(selector string) bool {
	for _, r := range s {
		if !r.Allowed(selector) {
			return false
		}
	}
	return true
}

// Decide says whether the selector may be fetched, and why: by the first set that
// denies it, or else by the first of all.
func (s RuleSets) Decide(selector string) Decision {
	first := Decision{Allowed: true}
	for i, r := range s {
		d := r.Decide(selector)
		if !d.Allowed {
			return d
		}
		if i == 0 {
			first = d
		}
	}
	return first
}

// Usage is as [File.Usage]: of what several sets state the most restrictive holds.
func (s RuleSets) Usage(path string) Statement {
	if !s.Allowed(path) {
		return nil
	}
	var stated Statement
	for _, r := range s {
		stated = stated.Combine(r.Usage(path))
	}
	return stated
}

// Fields gives the extra fields that bind the robot, in file order: those of its
// groups, and those outside of any group.
func (s RuleSets) Fields() []Field {
	if len(s) == 0 || s[0] == nil {
		return nil
	}
	f := s[0].file
	chosen := make([]bool, len(f.groups))
	for _, r := range s {
		for _, g := range r.groups {
			chosen[g] = true
		}
	}
	var fields []Field
	for i, g := range f.groups {
		if !g.agents || chosen[i] {
			fields = append(fields, f.groupFields(i)...)
		}
	}
	return fields
}

// CrawlDelay returns the time that Crawl-delay lines ask for between two requests,
// the longest of them; ok is false if there is none that parses. It is at most
// [MaxDelay].
func (s RuleSets) CrawlDelay() (delay time.Duration, ok bool) {
	for _, f := range s.Fields() {
		if f.Name != "crawl-delay" {
			continue
		}
		if d, err := ParseCrawlDelay(f.Value); err == nil || d > 0 {
			delay, ok = max(delay, d), true
		}
	}
	return delay, ok
}

// Fields gives the extra fields that bind the named robot; see [RuleSets.Fields].
func (f *File) Fields(agent string) []Field { return f.For(Robot{Names: []string{agent}}).Fields() }

// CrawlDelay returns the time that the file asks the named robot to leave between
// two requests; see [RuleSets.CrawlDelay].
func (f *File) CrawlDelay(agent string) (delay time.Duration, ok bool) {
	return f.For(Robot{Names: []string{agent}}).CrawlDelay()
}
