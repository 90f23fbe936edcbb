package starlib

import (
	"cmp"
	"context"
	"fmt"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// Builtin is a builtin of the language: one that a host adds, or one that the reference lists. A builtin is a row of a
// table; the row unpacks the arguments and is the source of the help text and of the stub for editors.
type Builtin struct {
	Name    string // "agent"; "encode" for a member; "then" for a method
	Of      string // the kind of value that a method belongs to, "node"; the module of a member, "json"
	Group   Group  // in the reference; GroupHost if the host sets none
	Params  []Param
	Returns string // as the reference shows it: "node", "type", "str"
	Doc     string // the first sentence is the summary
	Effect  Effect
	Func    func(*Call) (starlark.Value, error)
	May     bool // a script may bind the name itself

	value bool     // the name is a value, not a call
	flaws []string // what is wrong with the fields that the parameters were made of, see [Function]
}

// Param is a parameter of a builtin.
type Param struct {
	Name    string
	Kind    Kind
	Shape   Shape
	Default string // as the reference shows it; "" makes the parameter required
	Skip    bool   // positional: skipped when the argument at its position is of another kind
	Doc     string
}

// Required reports whether the parameter must be given.
func (p *Param) Required() bool { return p.Default == "" && p.Shape < Variadic }

// Kind is a kind of argument: what it accepts, its name in messages and its type in the stub.
type Kind struct {
	Word string // "str", "list of nodes"
	Stub string // "str", "list[Node]"

	kind *table.Kind
}

func kindOf(k *table.Kind) Kind { return Kind{k.Word, k.Stub, k} }

// The kinds of arguments that hosts commonly need.
var (
	AnyKind   = kindOf(table.AnyKind)
	StrKind   = kindOf(table.StrKind)
	BoolKind  = kindOf(table.BoolKind)
	IntKind   = kindOf(table.IntKind)
	FloatKind = kindOf(table.FloatKind)
	ListKind  = kindOf(table.ListKind)
	DictKind  = kindOf(table.DictKind)
	CallKind  = kindOf(table.CallKind)
	TypeKind  = kindOf(table.TypeKind)
	NodeKind  = kindOf(table.NodeKind)
)

// Effect classifies what a builtin does besides computing.
type Effect string

// The effects of builtins. None of them reaches a network, a clock or the process: those are effects of the engine.
const (
	Pure     = Effect(table.Pure)     // computes from its arguments
	Compose  = Effect(table.Compose)  // creates parts of the graph
	Reads    = Effect(table.Reads)    // reads files of the script's own directory while it loads
	Logs     = Effect(table.Logs)     // writes to the log
	Recorded = Effect(table.Recorded) // asks the run for something that differs between runs; the answer is recorded
	Granted  = Effect(table.Granted)  // acts on the world within the host's grants; the outcome is recorded
)

// Group is a section of the reference.
type Group string

// The groups of builtins.
const (
	GroupTypes   = Group(table.GroupTypes)
	GroupValues  = Group(table.GroupValues)
	GroupAgents  = Group(table.GroupAgents)
	GroupCompose = Group(table.GroupCompose)
	GroupText    = Group(table.GroupText)
	GroupScript  = Group(table.GroupScript)
	GroupWorld   = Group(table.GroupWorld)
	GroupTests   = Group(table.GroupTests)
	GroupHost    = Group(table.GroupHost)
)

// Shape says how an argument may be given.
type Shape uint8

// The shapes of parameters.
const (
	Either      = Shape(table.Either)      // by position or by keyword
	Positional  = Shape(table.Positional)  // by position only
	KeywordOnly = Shape(table.KeywordOnly) // by keyword only
	Variadic    = Shape(table.Variadic)    // takes the remaining positional arguments
	Keywords    = Shape(table.Keywords)    // takes the remaining keyword arguments
)

// QualifiedName returns the name qualified by its module or kind of value: "json.encode", "node.then".
func (b *Builtin) QualifiedName() string { return b.row().QualifiedName() }

// Summary returns the first sentence of the doc.
func (b *Builtin) Summary() string { return b.row().Summary() }

// Signature returns the builtin written as a call: agent(*, input = str, ...).
func (b *Builtin) Signature() string { return b.row().Signature() }

// Declared returns the signature with the type of the result: len(x) -> int. For a value it returns the name and type.
func (b *Builtin) Declared() string { return b.row().Declared() }

// row returns the builtin as a row of the table.
func (b *Builtin) row() *table.Builtin {
	row := &table.Builtin{Name: b.Name, Of: b.Of, Group: table.Group(b.Group), Returns: b.Returns, Doc: b.Doc, Effect: table.Effect(b.Effect), May: b.May, Value: b.value}
	if row.Group == "" {
		row.Group = table.GroupHost
	}
	for _, p := range b.Params {
		row.Params = append(row.Params, table.Param{Name: p.Name, Kind: cmp.Or(p.Kind.kind, &table.Kind{}), Shape: table.Shape(p.Shape), Default: p.Default, Skip: p.Skip, Doc: p.Doc})
	}
	if f := b.Func; f != nil {
		row.Func = func(c *table.Call) (starlark.Value, error) {
			v, err := f(&Call{c})
			return v, failure(err)
		}
	}
	return row
}

// builtinOf returns a row of the table as the reference shows it. The result cannot be called.
//
//go:noinline
func builtinOf(row *table.Builtin) *Builtin {
	b := &Builtin{Name: row.Name, Of: row.Of, Group: Group(row.Group), Returns: row.Returns, Doc: row.Doc, Effect: Effect(row.Effect), May: row.May, value: row.Value}
	for _, p := range row.Params {
		b.Params = append(b.Params, Param{Name: p.Name, Kind: kindOf(p.Kind), Shape: Shape(p.Shape), Default: p.Default, Skip: p.Skip, Doc: p.Doc})
	}
	return b
}

// Call is one call of a host's builtin, with its arguments by parameter name.
type Call struct{ call *table.Call }

// Arg returns the argument of the named parameter, or nil if it was not given.
func (c *Call) Arg(name string) starlark.Value { return c.call.Arg(name) }

// Has reports whether the argument was given.
func (c *Call) Has(name string) bool { return c.call.Has(name) }

// Str returns a str argument, or "" if it was not given.
func (c *Call) Str(name string) string { return c.call.Str(name) }

// Int returns an int argument, or the default if it was not given.
func (c *Call) Int(name string, otherwise int) int { return c.call.Int(name, otherwise) }

// Float returns a float argument, or nil if it was not given.
func (c *Call) Float(name string) *float64 { return c.call.Float(name) }

// Bool returns a bool argument, or the default if it was not given.
func (c *Call) Bool(name string, otherwise bool) bool { return c.call.Bool(name, otherwise) }

// Value returns an argument as a value of the engine, or null if it was not given.
func (c *Call) Value(name string) (generable.Value, error) { return c.call.Value(name) }

// Rest returns the arguments of the variadic parameter.
func (c *Call) Rest() []starlark.Value { return c.call.Rest() }

// Branch returns the branch of the run that makes the call, or nil while the script is loading.
func (c *Call) Branch() engine.Branch { return c.call.Branch() }

// Thread returns the interpreter's thread.
func (c *Call) Thread() *starlark.Thread { return c.call.Thread() }

// Context returns the context of loading; it is never nil. Runs have their own context, which only handlers of effects
// receive.
func (c *Call) Context() context.Context { return c.call.Context() }

// Function makes a builtin from a function on the engine's values. Its parameters are fields: each has a type, an
// optional field has a default, and the limits of a field apply to the argument. The function receives one value for
// each parameter, converted to its type, and a nil branch while a script loads. The result has the type returns; nil
// means any.
func Function(name, doc string, params []generable.Field, returns *generable.Type, f func(engine.Branch, []generable.Value) (generable.Value, error)) Builtin {
	if returns == nil {
		returns = generable.AnyT
	}
	b := Builtin{Name: name, Doc: doc, Effect: Pure}
	for i := range params {
		p := Param{Name: params[i].Name, Kind: AnyKind, Doc: params[i].Guide}
		if flaw := fieldFlaw(&params[i]); flaw != "" {
			b.flaws = append(b.flaws, flaw)
		} else {
			p.Kind = kindOf(table.TypedKind(params[i].Type)) // converts as a call of the type does
		}
		if params[i].Optional {
			p.Default = value.FromData(params[i].Default).String()
		}
		b.Params = append(b.Params, p)
	}
	if errs := returns.Verify(); errs != nil {
		b.flaws = append(b.flaws, "what it returns has no sound type: "+errs.Error())
	} else {
		b.Returns = returns.String()
	}
	if f == nil {
		return b
	}
	b.Func = func(c *Call) (starlark.Value, error) {
		args := make([]generable.Value, len(params))
		for i := range params {
			p := &params[i]
			if !c.Has(p.Name) {
				args[i] = p.Default
				continue
			}
			v, err := c.Value(p.Name)
			if err != nil {
				return nil, err
			}
			if errs := generable.CheckLimits(p, v); errs != nil {
				return nil, script.Errorf(diag.WrongArgument, "%s: %s", name, errs)
			}
			args[i] = v
		}
		out, err := f(c.Branch(), args)
		if err := failure(err); err != nil {
			return nil, err
		}
		if errs := returns.Conforms(out); errs != nil {
			return nil, script.Errorf(diag.WrongTypeAtBoundary, "the host's %s returned a value that is not %s: %s", name, returns, errs)
		}
		return value.FromData(out), nil
	}
	return b
}

// failure returns a host's error. It returns a nil error for a nil *engine.Error, which would be a non-nil error
// otherwise.
func failure(err error) error {
	if e, ours := err.(*engine.Error); ours && e == nil {
		return nil
	}
	return err
}

// fieldFlaw returns what is wrong with the field of a parameter, or "" if it is sound.
func fieldFlaw(f *generable.Field) string {
	if errs := f.Type.Verify(); errs != nil {
		return fmt.Sprintf("its parameter %q has no sound type: %s", f.Name, errs)
	}
	if !f.Optional || f.Default.IsNull() {
		return ""
	}
	v, errs := f.Type.Convert(f.Default)
	if errs == nil {
		errs = generable.CheckLimits(f, v)
	}
	if errs != nil {
		return fmt.Sprintf("the default of its parameter %q is not %s: %s", f.Name, f.Type, errs)
	}
	return ""
}
