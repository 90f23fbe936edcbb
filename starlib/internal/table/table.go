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

// Effect says what a builtin touches beyond computing.
type Effect string

// The effects of builtins. None of them reaches a network, a clock or the process: those are
// effects of the engine.
const (
	Pure    Effect = "pure"    // computes from its arguments
	Compose Effect = "compose" // makes parts of the graph
	Reads   Effect = "reads"   // reads files of the script's own directory while it loads
	Logs    Effect = "logs"    // writes to the log

	// Recorded asks the run something that differs from run to run; the answer is recorded.
	Recorded Effect = "recorded"

	// Granted touches the world, as far as the host granted it; what came of it is recorded.
	Granted Effect = "granted"
)

// Group orders builtins in the reference.
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
	Name    string // "agent"; "encode" of a member; "then" of a method
	Of      string // of a method, what it belongs to: "type", "node", "partial"; of a member, its module: "json"
	Group   Group
	Params  []Param
	Returns string // "node", "type", "str", …: as the reference shows it
	Doc     string // the first sentence is the summary
	Effect  Effect
	Func    func(*Call) (starlark.Value, error)
	May     bool // a script may give the name to something of its own

	AtTop   bool   // it composes: in a function that runs, a call fails
	RunOnly string // an example of a call in a function that runs, where alone it can be called; "" for any
	Whole   bool   // it is called with all of its arguments alone: when a stand-in is among them, a stand-in takes its place

	// Look looks into a bound call before it is made, while the script is checked. Arguments that are not known are
	// stand-ins.
	Look func(*Call)

	// Aside names the parameters of which a wrong one says nothing about the rest of the call: that
	// is looked into all the same.
	Aside string

	Table *Table
	index map[string]int // parameters that can be given by keyword

	function *starlark.Builtin                              // of a row of a table
	Make     func(c *script.State, t *Table) starlark.Value // instead of Func: what the name stands for
	Value    bool                                           // that is no function and no type, and stands without a call: FINISH
	InRun    *Builtin                                       // how it is called in a function that runs, where that differs
}

// Shape says how an argument may be given.
type Shape uint8

// The shapes of parameters.
const (
	Either      Shape = iota // by position or by keyword
	Positional               // by position alone
	KeywordOnly              // by keyword alone
	Variadic                 // takes the remaining positional arguments
	Keywords                 // takes the remaining keyword arguments
)

// Param is a parameter of a builtin.
type Param struct {
	_       [0]func() // it is not compared: the lists of the table need no code for that
	Name    string
	Kind    *Kind
	Default string // as the reference shows it; "" makes the parameter required
	Doc     string
	Shape   Shape
	Skip    bool // positional: left out when the argument at its place is of another kind

	aside bool // a wrong one says nothing about the rest of the call
}

// Opt is a parameter that may be given by keyword.
func Opt(name string, kind *Kind, otherwise, doc string) Param {
	return Param{Name: name, Kind: kind, Shape: KeywordOnly, Default: otherwise, Doc: doc}
}

// Required reports whether the parameter must be given.
func (p *Param) Required() bool { return p.Default == "" && p.Shape < Variadic }

// QualifiedName is the name with what it belongs to: "json.encode", "node.then".
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

// Summary is the first sentence of the doc.
func (b *Builtin) Summary() string {
	line, _, _ := strings.Cut(strings.TrimSpace(b.Doc), "\n")
	if first, _, more := strings.Cut(line, ". "); more {
		return first + "."
	}
	return line
}

// Declared is the signature with what the row returns: len(x) -> int; of a value, its name with what it is.
func (b *Builtin) Declared() string {
	switch {
	case b.Returns == "":
		return b.Signature()
	case b.Value:
		return b.Signature() + ": " + b.Returns
	}
	return b.Signature() + " -> " + b.Returns
}

// Signature is the row as a call: agent(*, input = str, ...); a value is its name.
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

// New makes a table of rows, in the order of the reference.
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

// indexOf maps names to the parameters that can be given by keyword.
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

// Method returns the method of that name of a value of a kind, or nil.
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

// Callable returns the row as a function. All scripts share it: it knows the row alone.
func (b *Builtin) Callable() *starlark.Builtin {
	if b.function != nil {
		return b.function
	}
	name := b.Name
	if Capabilities[b.Of] != "" { // by itself it would say little: run, get, list
		name = b.QualifiedName()
	}
	return starlark.NewBuiltin(name, func(thread *starlark.Thread, fn *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		return b.call(thread, fn.Receiver(), args, kwargs)
	})
}

// TypeRow is a type of the language with fields. One that is made for another, Attempt[str], is made by of; by
// itself it is that of any.
func TypeRow(name, doc string, group Group, t *generable.Type, of func(*generable.Type) *generable.Type) Builtin {
	return Builtin{Name: name, Group: group, Returns: name, Effect: Pure, Doc: doc, May: true,
		Params: []Param{{Name: "fields", Kind: AnyKind, Shape: Keywords, Doc: script.Joined(t.FieldNames())}},
		Make:   func(c *script.State, _ *Table) starlark.Value { return &value.Type{T: t, State: c, Of: of} }}
}

// WithForms gives rows the form in which a run calls them.
func (t *Table) WithForms(forms []*Builtin) *Table {
	for _, form := range forms {
		form.index, form.Table = indexOf(form.Params), t
		if b, ok := t.Lookup(form.Name); ok {
			b.InRun = form
		}
	}
	return t
}

// concurrentSafe reports whether a builtin can be called beside the flow: it computes, or logs.
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
