package generable

// maxInlined is how many schemas may be written in place before types that are used more than
// once move to $defs. Without it a ladder of schemas that each use the next one twice would
// double with every rung.
const maxInlined = 2000

// survey decides which types are written once under $defs: those that contain themselves,
// and, where writing all in place would get out of hand, all that are used more than once.
func (w *schemaWriter) survey(root *Type) {
	s := schemaSurvey{state: make(map[schemaNode]surveyState), uses: make(map[schemaNode]int), loops: w.referred}
	s.visit(schemaNode{t: root.resolved()})
	if s.size(schemaNode{t: root.resolved()}, make(map[schemaNode]int)) <= maxInlined {
		return
	}
	for n, uses := range s.uses {
		if uses > 1 && n.t.IsNominal() {
			w.referred[n] = true
		}
	}
}

type surveyState uint8

const (
	unseen surveyState = iota
	open               // on the way down: meeting it again closes a loop
	done
)

type schemaSurvey struct {
	state map[schemaNode]surveyState
	uses  map[schemaNode]int
	loops map[schemaNode]bool
}

// parts lists what a node is written with.
func (n schemaNode) parts() []schemaNode {
	var out []schemaNode
	t := n.t
	if t.Elem != nil {
		out = append(out, schemaNode{t: t.Elem.resolved()})
	}
	tag := ""
	if t.Kind == UnionType {
		tag = t.Tag
	}
	for _, v := range t.Variants {
		if isMember(t, v) {
			out = append(out, schemaNode{v.resolved(), tag})
		}
	}
	for i := range t.Fields {
		out = append(out, schemaNode{t: t.Fields[i].shown().resolved()})
	}
	return out
}

func (s *schemaSurvey) visit(n schemaNode) {
	s.uses[n]++
	switch s.state[n] {
	case open:
		s.loops[n] = true
		return
	case done:
		return
	}
	s.state[n] = open
	for _, p := range n.parts() {
		s.visit(p)
	}
	s.state[n] = done
}

// size counts the schemas written in place for a node, up to a little over maxInlined.
func (s *schemaSurvey) size(n schemaNode, known map[schemaNode]int) int {
	if total, ok := known[n]; ok {
		return total
	}
	known[n] = 1 // a reference, should the node meet itself
	total := 1
	for _, p := range n.parts() {
		if total > maxInlined {
			break
		}
		if s.loops[p] {
			total++
			continue
		}
		total += s.size(p, known)
	}
	known[n] = total
	return total
}
