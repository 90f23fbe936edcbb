package cover

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/sorting"
	"github.com/agentscript/agentscript/internal/startree"
	"github.com/agentscript/agentscript/starlib/internal/script"
)

// Kind is the kind of a place.
type Kind string

// The kinds of places.
const (
	Statement Kind = "statement"
	Lambda    Kind = "lambda"  // the body of a lambda
	Arm       Kind = "arm"     // either value of `x if c else y`
	Element   Kind = "element" // what a comprehension collects
)

// Place is a part of a script that can run, with the number of times it began to run.
type Place struct {
	Kind Kind
	Name string // name of a way, such as "fallback: 2: critic"
	diag.Pos

	// EndLine and EndCol are the end of the place: the column after its last character, or after the header of a
	// compound statement.
	EndLine, EndCol int

	// Function is the name of the function around the place, outer.inner for a nested one, and FunctionLine the line
	// of its def. At the top level they are "" and 0.
	Function     string
	FunctionLine int

	Count int64
}

// Counters holds the places of all files of one load. Any number of threads can count concurrently.
type Counters struct {
	mu    sync.Mutex
	files []*File
	named map[string]*File
}

// File holds the places of one file.
type File struct {
	places []Place
	counts []atomic.Int64
	tests  map[int]bool // the numbers of the probes that precede a jump of the script
	at     map[any]int  // places by statement, or by the address of the expression in its parent
	calls  map[syntax.Position]*routed
	ways   map[int]*routed // by place
}

// Add finds the places of a file. The tree must be resolved and unchanged: guards would change where parts end.
func (c *Counters) Add(tree *syntax.File) *File {
	f := find(tree)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files = append(c.files, f)
	if c.named == nil {
		c.named = map[string]*File{}
	}
	start, _ := tree.Span()
	c.named[start.Filename()] = f
	return f
}

// Places returns all places with their counts, sorted by file and position. If take is set, it resets the counts to 0.
// It leaves out the ways of calls that composed nodes; nodes holds the positions where nodes were made.
func (c *Counters) Places(take bool, nodes map[diag.Pos]bool) []Place {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []Place
	for _, f := range c.files {
		for i, p := range f.places {
			if f.ways[i].composes(nodes) {
				continue
			}
			if take {
				p.Count = f.counts[i].Swap(0)
			} else {
				p.Count = f.counts[i].Load()
			}
			all = append(all, p)
		}
	}
	sorting.By(all, func(a, b Place) int {
		if by := strings.Compare(a.File, b.File); by != 0 {
			return by
		}
		return before(a, b)
	})
	return all
}

func before(a, b Place) int {
	if a.Line != b.Line {
		return a.Line - b.Line
	}
	return a.Col - b.Col
}

// function is a def that contains the visited node.
type function struct {
	name string
	line int
}

func find(tree *syntax.File) *File {
	f := &File{at: map[any]int{}, tests: map[int]bool{}, calls: map[syntax.Position]*routed{}, ways: map[int]*routed{}}
	var nodes []syntax.Node // the visited node and its ancestors
	var in []function
	syntax.Walk(tree, func(n syntax.Node) bool {
		if n == nil {
			if _, def := nodes[len(nodes)-1].(*syntax.DefStmt); def {
				in = in[:len(in)-1]
			}
			nodes = nodes[:len(nodes)-1]
			return true
		}
		nodes = append(nodes, n)
		around := function{}
		if len(in) > 0 {
			around = in[len(in)-1]
		}
		switch n := n.(type) {
		case *syntax.LambdaExpr:
			f.add(Lambda, n.Body, &n.Body, around)
		case *syntax.CallExpr:
			if slices.ContainsFunc(nodes, runs) {
				f.addCall(n, around)
			}
		case *syntax.CondExpr:
			f.add(Arm, n.True, &n.True, around)
			f.add(Arm, n.False, &n.False, around)
		case *syntax.Comprehension:
			f.add(Element, n.Body, element(n), around)
		case syntax.Stmt:
			if !literal(n) {
				f.add(Statement, n, n, around)
			}
		}
		if def, ok := n.(*syntax.DefStmt); ok {
			name := def.Name.Name
			if around.name != "" {
				name = around.name + "." + name
			}
			in = append(in, function{name, int(def.Def.Line)})
		}
		return true
	})
	f.counts = make([]atomic.Int64, len(f.places))
	return f
}

// runs reports whether the parts of a node may run, and not only compose.
func runs(n syntax.Node) bool {
	switch n.(type) {
	case *syntax.DefStmt, *syntax.LambdaExpr:
		return true
	}
	return false
}

// add adds a place, which is found again by key.
func (f *File) add(kind Kind, n syntax.Node, key any, in function) {
	start, end := n.Span()
	switch n := n.(type) {
	case *syntax.DefStmt:
		end = n.Rparen
		end.Col++
	case *syntax.ForStmt:
		_, end = n.X.Span()
	case *syntax.WhileStmt:
		_, end = n.Cond.Span()
	case *syntax.IfStmt:
		_, end = n.Cond.Span()
	}
	f.at[key] = len(f.places)
	f.places = append(f.places, Place{Kind: kind, Pos: script.Position(start), EndLine: int(end.Line), EndCol: int(end.Col),
		Function: in.name, FunctionLine: in.line})
}

// element returns the address of what a comprehension evaluates first for each element.
func element(x *syntax.Comprehension) *syntax.Expr {
	if entry, ok := x.Body.(*syntax.DictEntry); ok {
		return &entry.Key
	}
	return &x.Body
}

// literal reports whether a statement is a literal, for example a docstring, for which the interpreter does nothing.
func literal(s syntax.Stmt) bool {
	x, ok := s.(*syntax.ExprStmt)
	if !ok {
		return false
	}
	_, ok = startree.Unparen(x.X).(*syntax.Literal)
	return ok
}
