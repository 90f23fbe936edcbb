package dialect

import (
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/generable"
)

// Wire is the form of one type for one target. It is immutable.
type Wire struct {
	Target   string          // as the table of rules names it
	Natural  *generable.Type // the type that was compiled
	Type     *generable.Type // what the decoder reads; Natural itself when nothing is rewritten
	Name     string          // for requests that name their schema
	Schema   string          // JSON Schema, compact, the same bytes each time
	Rewrites []Rewrite       // how the wire differs from the type, in the order of the schema
	Budget   []Use           // what the schema uses of the target's budgets
	Prompt   string          // what the schema cannot say; "" when it says all
	Form     string          // of Prompt, what differs from the type's PromptFragment

	root *shape
}

// Rewrite is one difference between a type and its wire form, in words.
type Rewrite struct {
	Kind   string // one of [RewriteKinds]
	Path   string // of the natural value: ".findings[].severity"; "" for the root
	Before string
	After  string
}

// Use is how much of one budget a schema needs.
type Use struct {
	What  string // "properties"
	Used  int
	Limit int // 0 is none
}

// Over reports whether the budget is exceeded.
func (u Use) Over() bool { return u.Limit > 0 && u.Used > u.Limit }

// String gives "properties 12 of 5000".
func (u Use) String() string {
	if u.Limit == 0 {
		return fmt.Sprintf("%s %d", u.What, u.Used)
	}
	return fmt.Sprintf("%s %d of %d", u.What, u.Used, u.Limit)
}

// TooLarge says which budgets of the target a type exceeds in every form.
type TooLarge struct {
	Target string
	Type   string
	Over   []Use
}

func (e *TooLarge) Error() string {
	over := make([]string, len(e.Over))
	for i, u := range e.Over {
		over[i] = u.String()
	}
	return fmt.Sprintf("%s is too large for the schemas that %s takes: %s; split it into smaller types, or let the prompt alone say it", e.Type, e.Target, strings.Join(over, ", "))
}

// Rewritten reports whether values have another form on the wire than by themselves.
func (w *Wire) Rewritten() bool { return w.root.changed }

// Compile gives the wire form of a type for a target, one of [Targets] or their aliases. It
// fails with [*TooLarge] when no form keeps the target's budgets, for targets that nobody
// knows, and for types that refer to undeclared ones.
func Compile(t *generable.Type, target string) (*Wire, error) {
	r, err := RulesOf(target)
	if err != nil {
		return nil, err
	}
	return compileUnder(t, r)
}

// compileUnder is [Compile] by rules of the caller's: those of a target with smaller budgets,
// say, since several schemas of a request share some.
func compileUnder(t *generable.Type, r Rules) (*Wire, error) {
	c := &compilation{rules: &r, t: resolved(t), cyclic: cyclicTypes(resolved(t))}
	return c.run()
}

func onlyOver(uses []Use) []Use {
	var out []Use
	for _, u := range uses {
		if u.Over() {
			out = append(out, u)
		}
	}
	return out
}

// wire completes what was compiled.
func (e *emitter) wire(t *generable.Type, root *shape, schema string, uses []Use) (*Wire, error) {
	w := &Wire{
		Target: e.Target, Natural: t, Type: t, Name: schemaName(t, e.Limits.Name), Schema: schema,
		Rewrites: e.rewrites, Budget: uses, root: root,
	}
	w.Form, w.Prompt = e.prompt()
	root.markChanged()
	if !root.changed {
		return w, nil
	}
	d := typer{refs: make(map[*shape]*generable.Type)}
	w.Type = d.root(root)
	if d.errs != nil {
		return nil, fmt.Errorf("%s has no form for %s: %w", t, e.Target, d.errs)
	}
	return w, nil
}
