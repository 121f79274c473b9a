package robots

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gophd/gophd/robots/readers"
)

// Bounds of the robots whose rules a file keeps ready.
const (
	maxRobots    = 64
	bytesOfRobot = 512 // one more for so many bytes of the file
	maxName      = 256
)

// Agent returns the rules that bind one robot, ready for many questions. Only the
// product token of the name counts; 1994 and Extended look for their names anywhere
// in it. A file keeps the rules of 64 robots, and more if it is large. The first question
// about any other robot looks at all User-agent lines.
func (f *File) Agent(name string) *Rules {
	if f == nil || f.lines == nil {
		return nil
	}
	f.mu.RLock()
	r := f.byName[name]
	f.mu.RUnlock()
	if r != nil {
		return r
	}

	groups, named := f.reader.Choose(f.lines, name)
	r = &Rules{file: f, groups: groups, reason: f.reasonFor(groups, named)}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !named {
		if f.others == nil {
			f.others = r
		}
		r = f.others
	}

	// Robots that the same groups name share their rules.
	for _, known := range f.byName {
		if known.isFor(r) {
			r = known
			break
		}
	}
	if len(f.byName) < maxRobots+len(f.text)/bytesOfRobot && len(name) <= maxName {
		if f.byName == nil {
			f.byName = map[string]*Rules{}
		}
		f.byName[strings.Clone(name)] = r
	}
	return r
}

// isFor reports whether other rules are of the same groups, for the same reason.
func (r *Rules) isFor(o *Rules) bool {
	return r.reason == o.reason && slices.Equal(r.groups, o.groups)
}

// reasonFor returns why groups bind a robot.
func (f *File) reasonFor(groups []int, named bool) Reason {
	isLoose := func(g int) bool { return f.lines.Groups[g].Loose }
	switch {
	case f.cut && f.text == "":
		return TooLarge
	case !f.reader.Groups:
		return EveryRule
	case named:
		return OwnGroup
	case len(groups) == 0:
		return NoGroup
	case slices.ContainsFunc(groups, func(g int) bool { return !isLoose(g) }):
		return DefaultGroup
	}
	return Ungrouped
}

func (f *File) agentLines(groups []int) []Agent {
	var agents []Agent
	for _, g := range groups {
		for _, r := range f.lines.Members(g) {
			if r.Kind == readers.KindAgent {
				agents = append(agents, f.agent(r))
			}
		}
	}
	return agents
}

// Allowed reports whether the named robot may fetch the selector.
func (f *File) Allowed(agent, selector string) bool {
	return f.Agent(agent).Allowed(selector)
}

// Decide reports whether the named robot may fetch the selector, and why. After the
// second question for a robot it allocates nothing, if the selector and the pattern that
// decides are in normal form (R6).
//
// For [RFC9309], [readers.Standard1994] and [readers.Extended] the selector may be an absolute
// URL: only its path and query count, and an empty path is "/". For the Gopher
// dialects a selector is bytes and never decoded.
func (f *File) Decide(agent, selector string) Decision {
	return f.Agent(agent).Decide(selector)
}

// Usage returns the preferences that the file states for the use of a path by the
// named robot, with their lines. Only the longest matching path counts: shorter ones
// do not add other categories. If several lines have that length, the most
// restrictive preference applies. Lines that do not parse are ignored (R10). If the
// robot must not fetch the path, the Statement is empty.
//
// Only [RFC9309] and [Gopher] have such lines.
func (f *File) Usage(agent, path string) Statement {
	return f.Agent(agent).Usage(path)
}

// Robot is a program that has more than one name.
type Robot struct {
	// Names are its product tokens, the most special one first: mybot-news, mybot.
	// The first that a group names decides which rules bind it; if none is named,
	// the * group does.
	Names []string

	// Categories name its purposes: virtual agents of Gemini's companion specification
	// ([VirtualAgents]), or purpose tokens of the web
	// (draft-kelley-aipref-training-preference-signal). If a group names one of them,
	// its rules bind the robot besides those of its name, or of *: a category never
	// opens what these deny.
	Categories []string
}

// VirtualAgents returns the categories of Gemini's companion specification.
func VirtualAgents() []string {
	return []string{"archiver", "indexer", "researcher", "webproxy"}
}

// Validate returns an error if a name of the robot is not a product token, such as a whole
// User-Agent header, which no group can match. The error suggests the token.
func (r Robot) Validate() error {
	for _, name := range slices.Concat(r.Names, r.Categories) {
		if name == "" || readers.ProductToken(name) == name {
			continue
		}
		problem := fmt.Sprintf("the robot's name %.256q is no product token", name)
		if meant := tokenIn(name); meant != "" {
			return fmt.Errorf("%s: did you mean %q?", problem, meant)
		}
		return fmt.Errorf("%s: it has letters, digits, and . - _ alone", problem)
	}
	return nil
}

// tokenIn returns the product token in a User-Agent: the first word that sounds like a
// robot, or else the first word that no browser has.
func tokenIn(agent string) (first string) {
	words := strings.FieldsFunc(agent, func(r rune) bool {
		return strings.ContainsRune(" ;(),+\t", r)
	})
	for _, word := range words {
		token := readers.ProductToken(word)
		lower := strings.ToLower(token)
		switch {
		case token == "" || strings.Contains(word, "://"):
		case strings.Contains(lower, "bot") || strings.Contains(lower, "crawl") ||
			strings.Contains(lower, "spider"):
			return token
		case first == "" && lower != "mozilla" && lower != "compatible":
			first = token
		}
	}
	return first
}

// RuleSets are sets of rules that all bind a robot. If one of them denies a
// selector, it is denied. Without any set everything is allowed.
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

// Decide reports whether the selector may be fetched, and why. The decision is
// from the first set that denies it, or else from the first set.
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

// Usage is like [File.Usage]. If sets differ, the most restrictive preference applies.
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

// Fields returns the extra fields that bind the robot, in file order: from its
// groups, and from outside any group.
func (s RuleSets) Fields() []Field {
	var lines *readers.Grouped
	var binds []bool // by group
	for _, r := range s {
		switch {
		case r == nil || r.file == nil:
			continue
		case lines == nil:
			lines = r.file.lines
			binds = make([]bool, len(lines.Groups))
		case lines != r.file.lines:
			continue // of another file
		}
		for _, g := range r.groups {
			binds[g] = true
		}
	}
	var fields []Field
	for g, isBinding := range binds {
		if !isBinding && !lines.Groups[g].Loose {
			continue
		}
		for _, r := range lines.Members(g) {
			if r.Kind == readers.KindField {
				fields = append(fields, fieldOf(r))
			}
		}
	}
	return fields
}

// CrawlDelay returns the longest time that Crawl-delay lines set between two requests;
// ok is false if no line parses. It is at most
// [readers.MaxDelay].
func (s RuleSets) CrawlDelay() (delay time.Duration, ok bool) {
	for _, f := range s.Fields() {
		if f.Name != "crawl-delay" {
			continue
		}
		if d, err := readers.ParseCrawlDelay(f.Value); err == nil || d > 0 {
			delay, ok = max(delay, d), true
		}
	}
	return delay, ok
}

// Fields returns the extra fields that bind the named robot; see [RuleSets.Fields].
func (f *File) Fields(agent string) []Field {
	return f.For(Robot{Names: []string{agent}}).Fields()
}

// CrawlDelay returns the time that the file sets for the named robot between two
// requests; see [RuleSets.CrawlDelay].
func (f *File) CrawlDelay(agent string) (delay time.Duration, ok bool) {
	return f.For(Robot{Names: []string{agent}}).CrawlDelay()
}
