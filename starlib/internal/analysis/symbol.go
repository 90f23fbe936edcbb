package analysis

import "strings"

// signature is the callee as a call.
func (c *callee) signature() string {
	var parts []string
	keyword := false
	for i := range c.params {
		p := &c.params[i]
		if !p.place && p.keyword && !keyword {
			parts = append(parts, "*")
		}
		keyword = keyword || !p.place && p.spread != "**"
		parts = append(parts, p.String())
	}
	return c.name + "(" + strings.Join(parts, ", ") + ")"
}

// String is the parameter as it stands in a signature.
func (p *param) String() string {
	if p.fallback != "" {
		return p.spread + p.name + " = " + p.fallback
	}
	return p.spread + p.name
}
