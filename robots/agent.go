package robots

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gophd/gophd/robots/readers"
)

// agentTable finds the groups that bind a robot. It is made at the second question;
// its size depends on the file, never on who asks.
type agentTable struct {
	tokens  []uint32                // records of User-agent lines with a name, sorted by product token
	loose   []uint32                // groups that bind everyone
	rules   []atomic.Pointer[Rules] // a hash table of those that were asked for
	records []namedGroup            // 1994: in file order
	others  *Rules                  // for robots that are not named
}

// namedGroup is a robot's name in a record of the 1994 standard.
type namedGroup struct {
	name  []byte // lower case, without version
	rules *Rules
}

// Agent returns the rules that bind one robot, ready for many questions. Only the
// product token of the name counts; 1994 and Extended look for their names anywhere
// in it.
func (f *File) Agent(name string) *Rules {
	if f == nil {
		return nil
	}
	if !f.asked.Swap(true) && f.byToken() {
		return f.lookFor(readers.ProductToken(name))
	}
	f.once.Do(f.bind)
	if f.agents.records != nil {
		return f.agents.substring(name)
	}
	token := readers.ProductToken(name)
	at, found := slices.BinarySearchFunc(f.agents.tokens, token, func(rec uint32, token string) int {
		return compareFold(f.token(rec), token)
	})
	if !found {
		return f.agents.others
	}
	var buf [16]uint32
	own := buf[:0]
	for ; at < len(f.agents.tokens) && equalFold(f.token(f.agents.tokens[at]), token); at++ {
		own = appendOnce(own, f.groupAt(f.agents.tokens[at]))
	}
	return f.namedRules(own)
}

// token returns the product token of a User-agent record.
func (f *File) token(record uint32) string { return readers.ProductToken(f.value(f.records[record])) }

// groupAt returns the group that a record belongs to.
func (f *File) groupAt(record uint32) uint32 {
	g, found := slices.BinarySearchFunc(f.groups, record, func(g groupText, rec uint32) int { return cmp.Compare(g.record, rec) })
	if !found {
		g--
	}
	for f.groups[g].record == record && g+1 < len(f.groups) && f.groups[g+1].record == record {
		g++ // groups without records
	}
	return uint32(g)
}

// namedRules returns the rules of groups that name a robot. Robots that the same
// groups name share them: an index for each would grow with the square of the file.
// A file with thousands of groups keeps only some of them.
func (f *File) namedRules(own []uint32) *Rules {
	t := &f.agents
	hash := uint64(len(own))
	for _, g := range own {
		hash = mix(hash ^ uint64(g) ^ hashSeed)
	}
	var fresh *Rules
	for i := range min(8, len(t.rules)) {
		slot := &t.rules[(scale(hash, len(t.rules))+i)%len(t.rules)]
		r := slot.Load()
		if r == nil {
			if fresh == nil {
				fresh = f.rulesOf(OwnGroup, t.loose, own)
			}
			if slot.CompareAndSwap(nil, fresh) {
				return fresh
			}
			r = slot.Load()
		}
		if slices.Equal(r.groups[len(t.loose):], own) {
			return r
		}
	}
	return f.rulesOf(OwnGroup, t.loose, own)
}

// byToken reports whether robots are looked for by their product tokens.
func (f *File) byToken() bool {
	return f.dialect == Gopher || f.dialect == readers.Veronica2 || f.dialect == RFC9309
}

// lookFor returns the rules for a product token without a table, which takes longer
// to make than to do without for the first robot.
func (f *File) lookFor(token string) *Rules {
	var own, star []uint32
	f.eachAgent(func(g uint32, value string) {
		switch t := readers.ProductToken(value); {
		case t == "*":
			star = appendOnce(star, g)
		case t != "" && equalFold(t, token):
			own = appendOnce(own, g)
		}
	})
	if len(own) > 0 {
		return f.rulesOf(OwnGroup, f.looseGroups(), own)
	}
	return f.rulesOfOthers(f.looseGroups(), star)
}

// appendOnce appends a group, unless it has just been appended.
func appendOnce(groups []uint32, g uint32) []uint32 {
	if n := len(groups); n > 0 && groups[n-1] == g {
		return groups
	}
	return append(groups, g)
}

// equalFold compares without the case of ASCII letters.
func equalFold(a, b string) bool { return len(a) == len(b) && compareFold(a, b) == 0 }

// rulesOfOthers are the rules for robots that no group names.
func (f *File) rulesOfOthers(loose, star []uint32) *Rules {
	switch {
	case len(star) > 0:
		return f.rulesOf(DefaultGroup, loose, star)
	case len(loose) > 0:
		return f.rulesOf(Ungrouped, loose)
	case f.cut && f.text == "":
		r := f.rulesOf(TooLarge)
		r.closed = true
		return r
	}
	return f.rulesOf(NoGroup)
}

// compareFold orders names without the case of ASCII letters.
func compareFold(a, b string) int {
	for i := range min(len(a), len(b)) {
		if c := cmp.Compare(lower(a[i]), lower(b[i])); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func appendLower(b []byte, s string) []byte {
	for i := range len(s) {
		b = append(b, lower(s[i]))
	}
	return b
}

// substring finds the first record whose name is a part of the robot's, as
// the 1994 standard recommends.
func (t *agentTable) substring(name string) *Rules {
	var buf [64]byte
	name, _, _ = strings.Cut(name, "/")
	lower := appendLower(buf[:0], name)
	for _, n := range t.records {
		if bytes.Contains(lower, n.name) {
			return n.rules
		}
	}
	return t.others
}

// bind makes the table.
func (f *File) bind() {
	loose, star := f.looseGroups(), f.groupsOf("*")
	switch f.agents.others = f.rulesOfOthers(loose, star); f.dialect {
	case readers.IRCv3:
		f.agents.others = f.networkRules()
	case readers.GopherStrict:
		if r := f.agents.others; r.reason != TooLarge {
			r.reason = EveryRule
		}
	case readers.Standard1994, readers.Extended:
		f.bindRecords()
	default:
		f.bindTokens(loose)
	}
}

// looseGroups are lines outside of any group. They bind everyone on Gopher;
// elsewhere they are ignored (R8).
func (f *File) looseGroups() []uint32 {
	var loose []uint32
	for i, g := range f.groups {
		if !g.agents && !f.dialect.Web() && len(f.members(i)) > 0 {
			loose = append(loose, uint32(i))
		}
	}
	return loose
}

// eachAgent calls fn for each User-agent line of a group that is not ignored.
func (f *File) eachAgent(fn func(group uint32, value string)) {
	for i, g := range f.groups {
		if g.version == readers.Experimental {
			continue
		}
		for _, r := range f.members(i) {
			if r.kind() != readers.KindAgent {
				break
			}
			fn(uint32(i), f.value(r))
		}
	}
}

func (f *File) groupsOf(name string) []uint32 {
	var groups []uint32
	f.eachAgent(func(g uint32, value string) {
		if readers.ProductToken(value) == name {
			groups = appendOnce(groups, g)
		}
	})
	return groups
}

// bindTokens sorts the names. All groups that name the same token are combined (R3).
func (f *File) bindTokens(loose []uint32) {
	f.agents.loose = loose
	for i, r := range f.records {
		if r.kind() != readers.KindAgent {
			continue
		}
		if t := f.token(uint32(i)); t != "" && t != "*" {
			f.agents.tokens = append(f.agents.tokens, uint32(i))
		}
	}
	f.agents.tokens = slices.Clone(f.agents.tokens)
	slices.SortStableFunc(f.agents.tokens, func(a, b uint32) int { return compareFold(f.token(a), f.token(b)) })
	f.agents.rules = make([]atomic.Pointer[Rules], min(2*len(f.agents.tokens), 64+len(f.text)/512))
}

// bindRecords keeps the names in order: the first record that fits is taken.
func (f *File) bindRecords() {
	f.agents.records = []namedGroup{}
	rules := map[uint32]*Rules{}
	f.eachAgent(func(g uint32, value string) {
		name := strings.ToLower(recordName(value))
		if name == "" || name == "*" {
			return
		}
		if rules[g] == nil {
			rules[g] = f.rulesOf(OwnGroup, []uint32{g})
		}
		f.agents.records = append(f.agents.records, namedGroup{[]byte(name), rules[g]})
	})
}

// Allowed reports whether the named robot may fetch the selector.
func (f *File) Allowed(agent, selector string) bool {
	return f.Agent(agent).Allowed(selector)
}

// Decide reports whether the named robot may fetch the selector, and why. It
// allocates nothing after the first question for a group, unless a selector
// that is not in normal form (R6) has more than 2 KiB.
//
// For [RFC9309], [Standard1994] and [Extended] the selector may be an absolute
// URL: only its path and query count, and an empty path is "/". For the Gopher
// dialects a selector is bytes and never decoded.
func (f *File) Decide(agent, selector string) Decision {
	return f.Agent(agent).Decide(selector)
}

// Usage returns the preferences that the file states for the use of a path by the
// named robot, with their lines. Only the longest matching path counts: shorter ones
// do not add other categories. If several lines have that length, the most
// restrictive preference holds. Lines that do not parse are ignored (R10). If the
// robot must not fetch the path, the Statement is empty.
//
// Only [RFC9309] and [Gopher] know such lines.
func (f *File) Usage(agent, path string) Statement { return f.Agent(agent).Usage(path) }

// Robot is a program that has more than one name.
type Robot struct {
	// Names are its product tokens, the most special one first: mybot-news, mybot.
	// The first that a group names decides which rules bind it; if none is named,
	// the * group does.
	Names []string

	// Categories name its uses, as Gemini's companion specification names its virtual
	// agents: archiver, indexer, researcher, webproxy. If a group names one of them,
	// its rules bind the robot, too.
	Categories []string
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

// Usage is like [File.Usage]. If sets differ, the most restrictive preference holds.
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
		if d, err := readers.ParseCrawlDelay(f.Value); err == nil || d > 0 {
			delay, ok = max(delay, d), true
		}
	}
	return delay, ok
}

// Fields returns the extra fields that bind the named robot; see [RuleSets.Fields].
func (f *File) Fields(agent string) []Field { return f.For(Robot{Names: []string{agent}}).Fields() }

// CrawlDelay returns the time that the file asks the named robot to leave between
// two requests; see [RuleSets.CrawlDelay].
func (f *File) CrawlDelay(agent string) (delay time.Duration, ok bool) {
	return f.For(Robot{Names: []string{agent}}).CrawlDelay()
}

// recordName returns the name in a record of the 1994 standard, without version.
func recordName(value string) string {
	name, _, _ := strings.Cut(value, "/")
	return strings.Trim(name, blanks)
}

const blanks = " \t\n\v\f\r"
