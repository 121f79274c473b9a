package robots

import "strings"

// fromToken writes what the CRAWLER token says of the whole network.
func (c *converter) fromToken() {
	crawler, _ := c.file.Crawler()
	if crawler.Cooldown != DefaultCooldown {
		c.lose(0, "field", "the cooldown of %s", crawler.Cooldown)
	}
	if crawler.Index == IndexUnspecified {
		return
	}
	if c.to != GopherStrict {
		c.line("User-agent", "*")
	}
	if crawler.Index == IndexAllow {
		c.open()
		return
	}
	c.line("Disallow", "/")
	if c.to.style(version1).glob && c.to != RFC9309 {
		c.line("Disallow", "*") // the empty selector, too
	}
}

// token writes the CRAWLER token: allow if everything is allowed, deny if
// everything is denied. Of anything between it says nothing.
func (c *converter) token() {
	f := c.file
	rules := c.rules(f.Agent("*"))
	crawler := Crawler{Cooldown: DefaultCooldown}
	if len(rules) == 0 {
		crawler.Index = IndexAllow
	}
	for _, r := range rules {
		if r.rule.Allow {
			c.lose(r.rule.Line, "allow", "Allow: %q cannot be said", r.rule.Pattern)
		} else if r.shape.all() {
			crawler.Index = IndexDeny
		} else {
			c.lose(r.rule.Line, "pattern", "Disallow: %q: a network is indexed or not", r.rule.Pattern)
		}
	}
	for _, name := range f.names()[1:] {
		c.lose(name.Line, "agent", "what is said to %q", name.Token)
	}
	for l := range f.Lines() {
		if name := strings.ToLower(l.Field); l.Kind == KindField && name != "robot-version" {
			c.lose(l.Number, "field", "the field %q", name)
		}
	}
	if token := crawler.String(); token != "" {
		c.out = append(c.out, token+"\n"...)
	}
}
