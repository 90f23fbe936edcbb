package tree

import "strings"

// comment is a comment that no value has yet.
type comment struct {
	text string
	line int // line where it begins
}

// comment keeps a comment as written, by lines and without its comment characters.
func (p *parser) comment(written string, line int) {
	body, block := strings.CutPrefix(written, "/*")
	if block {
		body = strings.TrimSuffix(body, "*/")
	} else {
		body = strings.TrimPrefix(strings.TrimPrefix(body, "#"), "//")
	}
	var lines []string
	for text := range strings.SplitSeq(body, "\n") {
		text = strings.TrimSpace(text)
		if block {
			text = strings.TrimSpace(strings.TrimPrefix(text, "*"))
		}
		lines = append(lines, text)
	}
	if text := strings.Trim(strings.Join(lines, "\n"), "\n"); text != "" {
		p.comments = append(p.comments, comment{text, line})
	}
}

// above takes the comments before the next value.
func (p *parser) above() []string {
	var out []string
	for _, c := range p.comments {
		out = append(out, c.text)
	}
	p.comments = nil
	return out
}

// beside attaches to the last value of an object or a list the comments that begin on the line where it ends. Before
// the first value they belong to the container.
func (p *parser) beside(v *Value, line int) {
	last := v
	switch {
	case len(v.Members) > 0:
		last = v.Members[len(v.Members)-1].Value
	case len(v.Items) > 0:
		last = v.Items[len(v.Items)-1]
	}
	n := 0
	for n < len(p.comments) && p.comments[n].line == line {
		last.Comments = append(last.Comments, p.comments[n].text)
		n++
	}
	p.comments = p.comments[n:]
}
