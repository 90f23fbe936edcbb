package dialect

import (
	"slices"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/sorting"
)

// usage counts what a schema uses of the budgets as it is written.
type usage struct {
	depth, properties, optionals, unions int
	enumValues, bigEnumChars, chars      int
	bytes, grammar                       int
	written                              int // an estimate of the bytes, slightly too low; stops the writing of what no target accepts
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

// lowerEnum lowers the lever so that the largest listed enums are no longer listed.
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

// spending is how many of the fields and unions that cost a budget keep their costly form; the others, later in the
// schema, get a cheaper one.
type spending struct{ optional, nullable, unions int }

func (l *spending) lowerOptional(have, excess int) bool {
	l.optional = max(0, min(l.optional, have)-excess)
	return have > 0 // a field that is converted is no longer counted
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

// settle gives the fields and unions that exceed the budgets a cheaper form.
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
			for i, p := range s.parts { // the list identifies the variant
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
	// Lists have no short form other than being left out, so they come first.
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

// hasList reports whether the natural form of a field can be a list. Such a value cannot be an item of the list that
// says whether a field is present.
func (m *member) hasList() bool {
	t := m.nat.Type.Deref()
	if t.Kind != generable.OneOfType {
		return t.Kind == generable.ListType || t.Kind == generable.AnyType
	}
	return slices.ContainsFunc(t.Variants, func(v *generable.Type) bool { return v.Deref().Kind == generable.ListType })
}

// isChoice reports whether the shape is written as an anyOf of its parts.
func (s *shape) isChoice() bool { return s.form == asIs && len(s.parts) > 1 }

// Request counts what the schemas of one request use of the budgets that its target applies to all of them together:
// how many tools are held to schemas, and how many optional properties and unions these schemas and that of the
// answer contain. Targets without such budgets accept any number.
type Request struct{ left, all budgets }

// NewRequest returns the unused budgets of a request to a target.
func NewRequest(target string) (*Request, error) {
	r, err := rulesOf(target)
	if err != nil {
		return nil, err
	}
	return &Request{left: r.budgets, all: r.budgets}, nil
}

// Answer counts the schema of the answer. Call it first: by itself the schema fits.
func (r *Request) Answer(w *Wire) { r.take(w) }

// Tool counts the schema of a tool, or reports false if the budgets do not allow it: the tool must then be sent
// without being held to its schema.
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
