package dialect

import (
	"slices"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/sorting"
)

// usage counts what a schema uses of the budgets while it is written.
type usage struct {
	depth, properties, optionals, unions int
	enumValues, bigEnumChars, chars      int
	bytes, grammar                       int
	written                              int // bytes, a little less than there are; ends the writing of what no target takes
}

// The names of the budgets.
const (
	useDepth      = "depth"
	useProperties = "properties"
	useOptionals  = "optional properties"
	useUnions     = "unions"
	useEnumValues = "enum values"
	useEnumChars  = "characters in one enum"
	useChars      = "characters of names and values"
	useName       = "characters of the schema's name"
	useBytes      = "bytes"
	useGrammar    = "bytes of grammar, estimated"
)

// uses lists the budgets in a fixed order.
func (e *emitter) uses() []Use {
	l, u := &e.budgets, &e.usage
	list := []Use{
		{useDepth, u.depth, l.depth},
		{useProperties, u.properties, l.properties},
		{useOptionals, u.optionals, l.optionals},
		{useUnions, u.unions, l.unions},
		{useEnumValues, u.enumValues, l.enumValues},
		{useEnumChars, u.bigEnumChars, l.enumChars},
		{useChars, u.chars, l.chars},
		{useBytes, u.bytes, l.bytes},
	}
	if l.grammar {
		list = append(list, Use{useGrammar, u.grammar, max(grammarFloor, min(maxGrammar, grammarPerSchema*u.bytes))})
	}
	return list
}

// lowerEnum stops listing the values of the largest enums that are listed.
func (l *levers) lowerEnum(root *shape) bool {
	largest := 0
	root.walk(func(s *shape) {
		if s.isEnum() && !s.wide {
			largest = max(largest, len(s.nat.Values))
		}
	})
	l.enum = largest - 1
	return largest > 0
}

func (s *shape) isEnum() bool { return s.form == asIs && s.nat.Kind == generable.EnumType }

// spending is how many of the fields and unions that cost a budget keep the form that does;
// the others, later in the schema, get one that costs less.
type spending struct{ optional, nullable, unions int }

func (l *spending) lowerOptional(have, excess int) bool {
	l.optional = max(0, min(l.optional, have)-excess)
	return have > 0 // a field that is converted is counted no more
}

func (l *spending) lowerUnions(nullables, choices, excess int) bool {
	if nullables > 0 && l.nullable > 0 {
		l.nullable = max(0, min(l.nullable, nullables)-excess)
		return true
	}
	if choices > 0 && l.unions > 0 {
		l.unions = max(0, min(l.unions, choices)-excess)
		return true
	}
	return false
}

// settle puts fields and unions that exceed the budgets into a cheaper form.
func (b *builder) settle(root *shape) {
	b.markCyclic(root)
	var fields []*member
	var choices []*shape
	root.walk(func(s *shape) {
		if s.isChoice() {
			choices = append(choices, s)
		}
		for i := range s.fields {
			if f := &s.fields[i]; f.presence == optional || f.presence == omitted {
				fields = append(fields, f)
			}
		}
	})
	if len(choices) > b.unions {
		for _, s := range choices[b.unions:] {
			s.form = slotted
			for i, p := range s.parts { // the list shows the variant
				if p.tag != "" {
					untagged := *p
					untagged.tag = ""
					s.parts[i] = &untagged
				}
			}
		}
	}
	if len(fields) <= b.optional {
		return
	}
	// Lists have no short form but being left out, so that they come first.
	sorting.By(fields, func(x, y *member) int { return costlier(x) - costlier(y) })
	left := b.nullable
	for _, f := range fields[b.optional:] {
		switch {
		case f.presence == optional && f.acceptsNull():
			f.presence = markedAbsent
		case left > 0:
			left--
			if f.presence == omitted && !f.nat.Omit {
				f.presence = required
			} else {
				f.presence = nullable
			}
		case f.hasList():
			f.presence = blank
		default:
			f.presence = listed
		}
	}
}

func costlier(m *member) int {
	if m.hasList() {
		return 0
	}
	return 1
}

// hasList reports whether the natural form of a field can be a list, and so cannot be an
// item of one where a list says that it is there.
func (m *member) hasList() bool {
	t := m.nat.Type.Deref()
	if t.Kind != generable.OneOfType {
		return t.Kind == generable.ListType || t.Kind == generable.AnyType
	}
	return slices.ContainsFunc(t.Variants, func(v *generable.Type) bool { return v.Deref().Kind == generable.ListType })
}

// isChoice reports whether the shape is written as an anyOf of its parts.
func (s *shape) isChoice() bool { return s.form == asIs && len(s.parts) > 1 }

// Request counts what the schemas of one request use of the budgets that its target keeps for all
// of them together: how many tools are held to schemas, and how many optional properties and
// unions there are in them and in the schema of the answer. Targets without such budgets take
// any number.
type Request struct{ left, all budgets }

// NewRequest returns the budgets of a request to a target, all unused.
func NewRequest(target string) (*Request, error) {
	r, err := rulesOf(target)
	if err != nil {
		return nil, err
	}
	return &Request{left: r.budgets, all: r.budgets}, nil
}

// Answer takes the schema of the answer into the request. It is the first: by itself it fits.
func (r *Request) Answer(w *Wire) { r.take(w) }

// Tool takes the schema of a tool into the request, or reports that the budgets do not allow it:
// the tool is then to be sent without being held to its schema.
func (r *Request) Tool(w *Wire) bool {
	if r.all.strictTools == 0 {
		return true
	}
	if r.left.strictTools == 0 || w.used(useOptionals) > r.left.optionals || w.used(useUnions) > r.left.unions {
		return false
	}
	r.left.strictTools--
	r.take(w)
	return true
}

func (r *Request) take(w *Wire) {
	r.left.optionals = max(0, r.left.optionals-w.used(useOptionals))
	r.left.unions = max(0, r.left.unions-w.used(useUnions))
}

func (w *Wire) used(what string) int {
	for _, u := range w.Budget {
		if u.What == what {
			return u.Used
		}
	}
	return 0
}
