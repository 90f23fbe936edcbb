package starlib

import (
	"iter"
	"slices"
	"sync"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/agentscript/agentscript/starlib/internal/agents"
	"github.com/agentscript/agentscript/starlib/internal/compose"
	"github.com/agentscript/agentscript/starlib/internal/data"
	"github.com/agentscript/agentscript/starlib/internal/doc"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/testcase"
)

// rows returns all rows of the language, by topic. Within a group, the reference shows them in this order.
func rows() []table.Builtin {
	return slices.Concat(data.Rows(), agents.Rows(), compose.Rows(), agents.FlowRows(), testcase.Rows())
}

// standard is the table of the language alone. It is built once, since building it is half the cost of loading a short
// script.
var standard = sync.OnceValue(func() *table.Table { return table.New(rows()).WithForms(compose.CallForms()) })

// universe returns the table of the language, with the host's own builtins at its end.
func universe(host []Builtin) *table.Table {
	if len(host) == 0 {
		return standard()
	}
	var own []table.Builtin
	for i := range host {
		own = append(own, *host[i].row())
	}
	return table.New(rows(), own).WithForms(compose.CallForms())
}

// Table holds the builtins of a language, as the reference shows them.
type Table struct{ table *table.Table }

// Universe returns the builtins of the language, with the host's own at their end.
func Universe(host ...Builtin) *Table { return &Table{universe(host)} }

// Rows returns all builtins in the order of the reference.
func (t *Table) Rows() []*Builtin { return text.Each(t.table.Rows(), builtinOf) }

// Lookup finds a builtin by its qualified name.
func (t *Table) Lookup(name string) (*Builtin, bool) {
	row, ok := t.table.Lookup(name)
	if !ok {
		return nil, false
	}
	return builtinOf(row), true
}

// Grouped returns the groups in the order of the reference, each with its builtins: functions first, then methods and
// members by what they belong to.
func (t *Table) Grouped() iter.Seq2[Group, []*Builtin] {
	return func(yield func(Group, []*Builtin) bool) {
		for g, rows := range doc.Grouped(t.table) {
			if !yield(Group(g), text.Each(rows, builtinOf)) {
				return
			}
		}
	}
}

// Example returns one line of a script that shows how a builtin is used, by its qualified name. It returns "" for a
// host's own builtin.
func (t *Table) Example(qualifiedName string) string { return doc.Example(qualifiedName) }

// Result returns the schema of a value that builtins return, by its name in their rows: HTTPResponse.
func (t *Table) Result(name string) (*generable.Type, bool) { return doc.Result(name) }

// Reference returns the Markdown page of the builtins.
func (t *Table) Reference() string { return doc.Reference(t.table) }

// Stub returns a Python stub file of the builtins, for editors that know Python.
func (t *Table) Stub() string { return doc.Stub(t.table) }
