// Package transcript writes the statements of a session as a file, where each name is bound once.
//
// A session binds names again, and its functions see the new values. A file cannot: so each binding is a version of its
// name. The last version of a name keeps the name, earlier ones that something still reads are x_1, x_2, and so on. A
// function that was used before a name which it reads was bound again is written twice, once for each value.
package transcript

import (
	"slices"

	"github.com/agentscript/agentscript/generable"
)

// Statement is one that a session evaluated, and that holds.
type Statement struct {
	Text    string
	Ran     bool            // it called what only a run can
	Value   bool            // it is an expression with a result
	Changed bool            // it changed a list, dict or set that was there before
	Prints  bool            // it printed, though it did not run
	Held    map[string]Held // what the names that it bound hold, and [Result] for its value
	// Lists are the lists, dicts and sets that names held then, where the statement composes.
	Lists map[string]generable.Value
}

// Result is the name of an expression's value in [Statement.Held].
const Result = "_"

// Held is what a name holds after the statement that bound it.
type Held struct {
	Kind Kind
	Type string          // as scripts call it: "list"
	Data generable.Value // of kind Data
	Meta *generable.Type // of kind Type
}

// Kind is what files can do with a value.
type Kind int

// The kinds.
const (
	Data     Kind = iota
	Function      // it reads its names when it is called
	Node          // it is composed at the top level, and has one place
	Type
	Mixed // a list or dict of what is no data
	Other // such as a memory, which is made at the top level
)

// atomic reports whether a value never changes and holds nothing else.
func (h Held) atomic() bool {
	return h.Kind == Data && !slices.Contains([]string{"list", "dict", "set", "tuple"}, h.Type)
}

// AtTop reports whether a value can be made at the top level alone.
func (h Held) AtTop() bool { return h.Kind == Node || h.Kind == Type || h.Kind == Other }

// Script is a session as a file.
type Script struct {
	Top  []string // statements of the top level
	Main []Line   // statements of a function: what ran, and what was made of that
}

// Line is a statement of a function.
type Line struct {
	Text  string
	Name  string // that its result has, "" for none
	Value bool   // it is an expression, or bound the result to Name
	Ran   bool
	// Answer is what the expression was, as scripts write it; "" where that is no data.
	Answer string
}

// Options say how a session is written.
type Options struct {
	Results  []string // the names of the last values, latest first
	Reserved []string // names that the file has for others
	Builtin  func(name string) bool
	Values   bool // each value that was shown is a line, not the last alone
}

// Of writes a session.
func Of(session []Statement, o Options) *Script {
	b := &builder{Options: o, now: map[string]*version{}}
	for i := range session {
		b.add(&session[i])
	}
	b.keep()
	b.place()
	b.end()
	b.hoist()
	b.copyPlaced()
	b.name()
	return b.write()
}
