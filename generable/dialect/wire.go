package dialect

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Wire is the form of one type for one target. It is immutable.
type Wire struct {
	Target   string          // as named in the table of rules
	Natural  *generable.Type // the type that was compiled
	Type     *generable.Type // the type that the decoder reads; Natural itself when nothing is rewritten
	Name     string          // for requests that name their schema
	Schema   string          // compact JSON Schema, the same bytes each time
	Rewrites []Rewrite       // how the wire differs from the type, in the order of the schema
	Budget   []Use           // what the schema uses of the target's budgets
	Prompt   string          // constraints that the schema cannot express; "" if it expresses all
	Form     string          // the part of Prompt that differs from the type's PromptFragment

	root *shape
}

// Rewrite is one difference between a type and its wire form, in words.
type Rewrite struct {
	Kind   string `json:"kind"` // such as dict-as-pairs
	Path   string `json:"path"` // of the natural value: ".findings[].severity"; "" for the root
	Before string `json:"before"`
	After  string `json:"after"`
}

// Use is how much of one budget a schema needs.
type Use struct {
	What  string `json:"what"` // "properties"
	Used  int    `json:"used"`
	Limit int    `json:"limit,omitempty"` // 0 means unlimited
}

// Over reports whether the budget is exceeded.
func (u Use) Over() bool { return u.Limit > 0 && u.Used > u.Limit }

// String returns, for example, "properties 12 of 5000".
func (u Use) String() string {
	if u.Limit == 0 {
		return fmt.Sprintf("%s %d", u.What, u.Used)
	}
	return fmt.Sprintf("%s %d of %d", u.What, u.Used, u.Limit)
}

// TooLarge reports which budgets of the target a type exceeds in every form.
type TooLarge struct {
	Target string
	Type   string
	Over   []Use
}

func (e *TooLarge) Error() string {
	over := text.Each(e.Over, Use.String)
	return fmt.Sprintf("%s is too large for the schemas that %s takes: %s; split it into smaller types, or let the prompt alone say it", e.Type, e.Target, strings.Join(over, ", "))
}

// Rewritten reports whether values have a different form on the wire.
func (w *Wire) Rewritten() bool { return w.root.changed }

// Compile returns the wire form of a type for a target, one of [Targets] or their aliases.
// It fails with [*TooLarge] when no form keeps the target's budgets, for unknown targets,
// and for types that refer to undeclared ones.
func Compile(t *generable.Type, target string) (*Wire, error) {
	r, err := rulesOf(target)
	if err != nil {
		return nil, err
	}
	return compileUnder(t, r)
}

// compileUnder is [Compile] with rules from the caller, such as those of a target with smaller budgets because
// several schemas of a request share some.
func compileUnder(t *generable.Type, r ruleset) (*Wire, error) {
	c := &compilation{rules: &r, t: in.Resolved(t), cyclic: cyclicTypes(in.Resolved(t))}
	return c.run()
}

// wire completes the compiled form.
func (e *emitter) wire(t *generable.Type, root *shape, schema string, uses []Use) (*Wire, error) {
	w := &Wire{
		Target: e.target, Natural: t, Type: t, Name: schemaName(t, e.budgets.name), Schema: schema,
		Rewrites: e.rewrites, Budget: uses, root: root,
	}
	w.Form, w.Prompt = e.prompt()
	root.markChanged()
	if !root.changed {
		return w, nil
	}
	d := typer{}
	w.Type = d.root(root)
	if d.errs != nil {
		return nil, fmt.Errorf("%s has no form for %s: %w", t, e.target, d.errs)
	}
	return w, nil
}

// Compiler is a caching [Compile]: types that are the same share one [Wire] per target. The zero value is ready to
// use. It may be used by several goroutines at once, and belongs to the host that creates it.
type Compiler struct{ kept sync.Map }

type compiled struct {
	wire *Wire
	err  error
}

type compilerKey struct {
	identity [sha256.Size]byte
	target   string
}

// Compile is the function [Compile] with cached results.
func (c *Compiler) Compile(t *generable.Type, target string) (*Wire, error) {
	if len(generable.Refs(t)) > 0 { // do not cache: what is missing may still be declared
		return Compile(t, target)
	}
	key := compilerKey{identity(t), target}
	if have, ok := c.kept.Load(key); ok {
		r := have.(compiled)
		return r.wire, r.err
	}
	w, err := Compile(t, target)
	have, _ := c.kept.LoadOrStore(key, compiled{w, err})
	r := have.(compiled)
	return r.wire, r.err
}

// identity differs for types that differ anywhere. A type's own ID knows its references only by name, and two modules
// may each declare that name.
func identity(t *generable.Type) [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte(t.ID()))
	generable.Walk(t, func(p *generable.Type) bool {
		if p != t {
			h.Write([]byte("\n" + p.ID()))
		}
		return true
	})
	return [sha256.Size]byte(h.Sum(nil))
}

// TargetReport is the result of compiling a type for one target.
type TargetReport struct {
	Target string
	Wire   *Wire // nil when Err is set
	Err    error // why the type has no form there: [*TooLarge], or another error of Compile
}

// Reports holds the results for the targets, in the order of [Targets].
type Reports []TargetReport

// Report compiles a type for every target.
func Report(t *generable.Type) Reports {
	out := make(Reports, len(rules))
	for i := range rules {
		w, err := compileUnder(t, rules[i])
		out[i] = TargetReport{Target: rules[i].target, Wire: w, Err: err}
	}
	return out
}

// Only returns the reports of one target.
func (r Reports) Only(target string) Reports {
	for i := range r {
		if r[i].Target == target {
			return r[i : i+1]
		}
	}
	return nil
}

// String returns a paragraph for each target: how much its schema uses of the target's budgets, and what is written
// differently. Targets that take the type in the same way share a paragraph.
func (r Reports) String() string {
	var bodies []string
	targets := make(map[string][]string)
	for i := range r {
		body := r[i].body()
		if targets[body] == nil {
			bodies = append(bodies, body)
		}
		targets[body] = append(targets[body], r[i].Target)
	}
	var b strings.Builder
	for _, body := range bodies {
		b.WriteString(strings.Join(targets[body], ", ") + ": " + body + "\n")
	}
	return b.String()
}

func (r *TargetReport) body() string {
	if r.Err != nil {
		return "refused: " + r.Err.Error()
	}
	var uses []string
	for _, u := range r.Wire.Budget {
		if u.Used > 0 {
			uses = append(uses, u.String())
		}
	}
	text := strings.Join(uses, ", ")
	for _, w := range r.Wire.Rewrites {
		text += "\n  " + w.String()
	}
	return text
}

// String returns, for example, "dict-as-pairs at .by_file: dict[str, int] → [{"key": …, "value": …}]".
func (w Rewrite) String() string {
	at := ""
	if w.Path != "" {
		at = " at " + strings.TrimPrefix(w.Path, ".")
	}
	return w.Kind + at + ": " + w.Before + " → " + w.After
}
