package table

import (
	"maps"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// Effect classifies what a builtin does besides computing.
type Effect string

// The effects of builtins. None of them reaches a network, a clock or the process: those are
// effects of the engine.
const (
	Pure    Effect = "pure"    // computes from its arguments
	Compose Effect = "compose" // creates parts of the graph
	Reads   Effect = "reads"   // reads files of the script's own directory while it loads
	Logs    Effect = "logs"    // writes to the log

	// Recorded asks the run for something that differs between runs; the answer is recorded.
	Recorded Effect = "recorded"

	// Granted acts on the world within the host's grants; the outcome is recorded.
	Granted Effect = "granted"
)

// Group is a section of the reference.
type Group string

// The groups of builtins.
const (
	GroupTypes   Group = "Types"
	GroupValues  Group = "Values"
	GroupAgents  Group = "Agents"
	GroupCompose Group = "Composition"
	GroupText    Group = "Text and JSON"
	GroupScript  Group = "Scripts"
	GroupWorld   Group = "Capabilities"
	GroupTests   Group = "Tests"
	GroupHost    Group = "Host"
)

// GroupOrder is the order of groups in the reference.
var GroupOrder = []Group{GroupTypes, GroupValues, GroupAgents, GroupCompose, GroupText, GroupScript, GroupWorld, GroupTests, GroupHost}

// Builtin is one row of the table.
type Builtin struct {
	Name    string // "agent"; "encode" for a member; "then" for a method
	Of      string // for a method, the kind of value it belongs to: "type", "node", "partial"; for a member, its module: "json"
	Group   Group
	Params  []Param
	Returns string // as the reference shows it: "node", "type", "str", …
	Doc     string // the first sentence is the summary
	Effect  Effect
	Func    func(*Call) (starlark.Value, error)
	May     bool // a script may bind the name itself

	AtTop   bool   // it composes: a call in a running function fails
	RunOnly string // an example of a call in a running function, if it can only be called there; otherwise ""
	Whole   bool   // it is called only if no argument is a stand-in; if one is, the result is a stand-in

	// Look checks a bound call before it is made, while the script is checked. Stand-ins replace unknown arguments.
	Look func(*Call)

	// Aside names the parameters that do not affect the rest of the call: if one of them is wrong, the rest is checked
	// nevertheless.
	Aside string

	Table *Table
	index map[string]int // parameters that can be passed by keyword

	function *starlark.Builtin                              // for a row of a table
	Make     func(c *script.State, t *Table) starlark.Value // instead of Func: the value of the name
	Value    bool                                           // a value that is neither a function nor a type: FINISH
	InRun    *Builtin                                       // the form that a running function calls, if it differs
}

// Shape says how an argument may be given.
type Shape uint8

// The shapes of parameters.
const (
	Either      Shape = iota // by position or by keyword
	Positional               // by position only
	KeywordOnly              // by keyword only
	Variadic                 // takes the remaining positional arguments
	Keywords                 // takes the remaining keyword arguments
)

// Param is a parameter of a builtin.
type Param struct {
	_       [0]func() // not comparable, so that the lists of the table need no code for it
	Name    string
	Kind    *Kind
	Default string // as the reference shows it; "" makes the parameter required
	Doc     string
	Shape   Shape
	Skip    bool // positional: skipped when the argument at its position is of another kind

	aside bool // if it is wrong, the rest of the call can still be checked
}

// Opt returns a parameter that may be passed by keyword.
func Opt(name string, kind *Kind, otherwise, doc string) Param {
	return Param{Name: name, Kind: kind, Shape: KeywordOnly, Default: otherwise, Doc: doc}
}

// Required reports whether the parameter must be given.
func (p *Param) Required() bool { return p.Default == "" && p.Shape < Variadic }

// QualifiedName returns the name qualified by its module or kind of value: "json.encode", "node.then".
func (b *Builtin) QualifiedName() string {
	if b.Of == "" {
		return b.Name
	}
	return b.Of + "." + b.Name
}

// IsMember reports whether the row belongs to a module, not to a kind of value.
func (b *Builtin) IsMember() bool {
	return b.Of == "json" || b.Of == "budget" || Capabilities[b.Of] != ""
}

// Summary returns the first sentence of the doc.
func (b *Builtin) Summary() string {
	line, _, _ := strings.Cut(strings.TrimSpace(b.Doc), "\n")
	if first, _, more := strings.Cut(line, ". "); more {
		return first + "."
	}
	return line
}

// Declared returns the signature with the type of the result: len(x) -> int. For a value it returns the name and type.
func (b *Builtin) Declared() string {
	switch {
	case b.Returns == "":
		return b.Signature()
	case b.Value:
		return b.Signature() + ": " + b.Returns
	}
	return b.Signature() + " -> " + b.Returns
}

// Signature returns the row written as a call: agent(*, input = str, ...); for a value, its name.
func (b *Builtin) Signature() string {
	if b.Value {
		return b.QualifiedName()
	}
	var parts []string
	starred, positional := false, false
	for i := range b.Params {
		p := &b.Params[i]
		if positional && p.Shape != Positional {
			parts = append(parts, "/")
			positional = false
		}
		switch p.Shape {
		case Variadic:
			parts = append(parts, "*"+p.Name)
			starred = true
			continue
		case Keywords:
			parts = append(parts, "**"+p.Name)
			continue
		case KeywordOnly:
			if !starred {
				parts = append(parts, "*")
				starred = true
			}
		case Positional:
			positional = true
		}
		if p.Default != "" {
			parts = append(parts, p.Name+" = "+p.Default)
		} else {
			parts = append(parts, p.Name)
		}
	}
	if positional {
		parts = append(parts, "/")
	}
	return b.QualifiedName() + "(" + strings.Join(parts, ", ") + ")"
}

// Table is a set of builtins. It is immutable.
type Table struct {
	list   []*Builtin
	byName map[string]*Builtin            // by qualified name
	Of     map[string]map[string]*Builtin // methods and members, by what they belong to
}

// New returns a table of rows, in the order of the reference.
func New(parts ...[]Builtin) *Table {
	t := &Table{byName: map[string]*Builtin{}, Of: map[string]map[string]*Builtin{}}
	for _, rows := range parts {
		t.add(rows)
	}
	return t
}

func (t *Table) add(rows []Builtin) {
	for i := range rows {
		b := &rows[i]
		b.index, b.Table = indexOf(b.Params), t
		b.function = b.Callable()
		for i := range b.Params {
			b.Params[i].aside = slices.Contains(strings.Fields(b.Aside), b.Params[i].Name)
		}
		t.list = append(t.list, b)
		if name := b.QualifiedName(); t.byName[name] == nil {
			t.byName[name] = b
		}
		if b.Of != "" && t.Of[b.Of] == nil {
			t.Of[b.Of] = map[string]*Builtin{}
		}
		if b.Of != "" {
			t.Of[b.Of][b.Name] = b
		}
	}
}

// indexOf maps names to the parameters that can be passed by keyword.
func indexOf(params []Param) map[string]int {
	index := make(map[string]int, len(params))
	for i, p := range params {
		if p.Shape == Either || p.Shape == KeywordOnly {
			index[p.Name] = i
		}
	}
	return index
}

// Rows returns all rows in the order of the reference.
func (t *Table) Rows() []*Builtin { return t.list }

// Lookup finds a row by its qualified name.
func (t *Table) Lookup(name string) (*Builtin, bool) {
	b, ok := t.byName[name]
	return b, ok
}

// Method returns the method with a name of a value of a kind, or nil.
func (t *Table) Method(kind, name string, recv starlark.Value) starlark.Value {
	if b := t.Of[kind][name]; b != nil {
		return b.Callable().BindReceiver(recv)
	}
	return nil
}

// MethodNames lists the names of the methods of a kind of value, sorted.
func (t *Table) MethodNames(kind string) []string { return Names(t.Of[kind]) }

// Names lists the names of rows, sorted.
func Names(methods map[string]*Builtin) []string { return slices.Sorted(maps.Keys(methods)) }

// Callable returns the row as a function. All scripts share it, since it refers only to the row.
func (b *Builtin) Callable() *starlark.Builtin {
	if b.function != nil {
		return b.function
	}
	name := b.Name
	if Capabilities[b.Of] != "" { // unqualified, the name would say little: run, get, list
		name = b.QualifiedName()
	}
	return starlark.NewBuiltin(name, func(thread *starlark.Thread, fn *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		return b.call(thread, fn.Receiver(), args, kwargs)
	})
}

// TypeRow returns the row of a type of the language with fields. of returns the type for a type argument, as in
// Attempt[str]; without one it is the type for any.
func TypeRow(name, doc string, group Group, t *generable.Type, of func(*generable.Type) *generable.Type) Builtin {
	return Builtin{Name: name, Group: group, Returns: name, Effect: Pure, Doc: doc, May: true,
		Params: []Param{{Name: "fields", Kind: AnyKind, Shape: Keywords, Doc: script.Joined(t.FieldNames())}},
		Make:   func(c *script.State, _ *Table) starlark.Value { return &value.Type{T: t, State: c, Of: of} }}
}

// WithForms sets the forms of rows that a run calls.
func (t *Table) WithForms(forms []*Builtin) *Table {
	for _, form := range forms {
		form.index, form.Table = indexOf(form.Params), t
		if b, ok := t.Lookup(form.Name); ok {
			b.InRun = form
		}
	}
	return t
}

// concurrentSafe reports whether a builtin can be called outside of the flow: it computes, or logs.
func (b *Builtin) concurrentSafe() bool {
	if b.InRun != nil {
		return false
	}
	switch b.Group {
	case GroupTypes, GroupValues, GroupText:
		return b.Effect == Pure
	case GroupScript:
		return b.Name == "print" || b.Name == "fail"
	}
	return false
}
