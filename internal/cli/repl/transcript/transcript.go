// Package transcript writes the statements of a session as a file, where each name is bound once.
//
// A session rebinds names, and its functions see the new values. A file cannot do that, so each binding is a version of
// its name. The last version keeps the name; earlier ones that something still reads become x_1, x_2, and so on. A
// function that was used before a name that it reads was rebound is written twice, once for each value.
package transcript

import (
	"slices"

	"github.com/agentscript/agentscript/generable"
)

// Statement is a statement that a session evaluated and accepted.
type Statement struct {
	Text    string
	Ran     bool            // it called what only a run can execute
	Value   bool            // it is an expression with a result
	Changed bool            // it changed an existing list, dict or set
	Prints  bool            // it printed, though it did not run
	Held    map[string]Held // what the names that it bound hold; [Result] for its value
	// Lists holds the lists, dicts and sets that names held at that time, if the statement composes.
	Lists map[string]generable.Value
}

// Result is the name of an expression's value in [Statement.Held].
const Result = "_"

// Held is what a name holds after the statement that bound it.
type Held struct {
	Kind Kind
	Type string          // the name in scripts: "list"
	Data generable.Value // for kind Data
	Meta *generable.Type // for kind Type
}

// Kind determines what a file can do with a value.
type Kind int

// The kinds of values.
const (
	Data     Kind = iota
	Function      // it reads its names when it is called
	Node          // it is composed at the top level, and has one place
	Type
	Mixed // a list or dict of values that are not data
	Other // such as a memory, which is made at the top level
)

// atomic reports whether a value never changes and holds nothing else.
func (h Held) atomic() bool {
	return h.Kind == Data && !slices.Contains([]string{"list", "dict", "set", "tuple"}, h.Type)
}

// AtTop reports whether a value can only be made at the top level.
func (h Held) AtTop() bool { return h.Kind == Node || h.Kind == Type || h.Kind == Other }

// Script is a session as a file.
type Script struct {
	Top  []string // top-level statements
	Main []Line   // statements of a function: what ran, and what was made from that
}

// Line is a statement of a function.
type Line struct {
	Text  string
	Name  string // name of its result, or ""
	Value bool   // it is an expression, or bound the result to Name
	Ran   bool
	// Answer is the value of the expression as scripts write it, or "" if it is not data.
	Answer string
}

// Options set how a session is written.
type Options struct {
	Results  []string // names of the last values, latest first
	Reserved []string // names that the file uses for other things
	Builtin  func(name string) bool
	Values   bool // each value that was shown becomes a line, not only the last
}

// Of writes a session as a script.
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
