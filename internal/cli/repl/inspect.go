package repl

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/double"
	"github.com/agentscript/agentscript/engine/draw"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/cli/cost"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/starlib"
)

// about describes a name.
func (s *session) about(name string) error {
	if name == "" {
		return s.help("")
	}
	m := s.ws.Module()
	typ, shown, help, _ := m.Describe(name)
	if b, ok := starlib.Universe().Lookup(name); ok && typ == "" {
		return s.print(b.Signature() + "\n\n" + strings.TrimSpace(b.Doc))
	}
	if typ == "" {
		return s.unknown(name)
	}
	if _, data := m.Value(name); data {
		return s.print(name + " is " + typ + " " + shown)
	}
	return s.print(plainName(strings.TrimSpace(help)))
}

// unknown returns the error for an unknown name.
func (s *session) unknown(name string) error {
	return s.wrong(diag.DidYouMean(name, s.names()), "there is no %s", name)
}

// names returns the names of the workspace and of the language.
func (s *session) names() []string {
	names := s.ws.Module().Names()
	for _, b := range starlib.Universe().Rows() {
		names = append(names, b.QualifiedName())
	}
	return names
}

// source shows the statement that bound a name.
func (s *session) source(name string) error {
	if name == "" {
		return s.wrong("??NAME", "?? takes a name")
	}
	if written := s.written[name]; written != "" {
		return s.print(written)
	}
	typ, _, _, at := s.ws.Module().Describe(name)
	switch {
	case typ == "":
		return s.unknown(name)
	case at.IsValid():
		return s.print(name + " is written at " + plainName(at.String()))
	}
	return s.print(name + " belongs to the language: ?" + name + " says what it does")
}

// composed evaluates the argument of a command, which does not count as a result. [starlib.Last] of the returned module
// holds the value, unless that is None. For an expression that calls nodes, m is nil.
func (s *session) composed(command, expr string) (m *agentscript.Module, err error) {
	if expr == "" || first(expr) != nil && !isExpression(expr) {
		return nil, s.wrong(command+" EXPR", "%s takes an expression", command)
	}
	ctx, stop := s.c.Interruptible()
	defer stop()
	defer s.ws.KeepResults()()
	b := s.ws.Read(ctx, "expression", expr)
	for b.Next(ctx) {
		if b.Runs() {
			return nil, nil
		}
		if !b.IsValue() {
			s.ws.Release(starlib.Last)
		}
	}
	if err := b.Err(); err != nil {
		s.texts["expression"] = expr
		return nil, s.fail(setup.LoadFailure("expression", err))
	}
	return s.ws.Module(), nil
}

func (s *session) typeOf(expr string) error {
	m, err := s.composed(":type", expr)
	if err != nil {
		return err
	}
	if m == nil {
		typ := "known when it runs"
		if e, err := options.ParseExpr("expression", expr, 0); err == nil {
			if t := s.calledType(e, expr); t != nil {
				typ = t.String()
			}
		}
		return s.print(typ)
	}
	typ, _, _, _ := m.Describe(starlib.Last)
	if n := m.Node(starlib.Last); n != nil {
		typ = fmt.Sprintf("%s: %s → %s", n.Kind(), n.In(), n.Out())
	} else if v, ok := m.Value(starlib.Last); ok {
		if r, ok := v.AsRecord(); ok {
			typ = r.Type().Name
		}
	} else if t := m.Type(starlib.Last); t != nil {
		typ = typeText(t)
	}
	return s.print(strings.Replace(cmp.Or(typ, "None"), "string", "str", 1))
}

// calledType returns the output type of a node that is called, or the type of a field of the output. It returns nil if
// that is not known.
func (s *session) calledType(e syntax.Expr, text string) *generable.Type {
	switch e := e.(type) {
	case *syntax.ParenExpr:
		return s.calledType(e.X, text)
	case *syntax.DotExpr:
		if t := s.calledType(e.X, text).Deref(); t != nil && t.Kind == generable.RecordType {
			for _, f := range t.Fields {
				if f.Name == e.Name.Name {
					return f.Type
				}
			}
		}
	case *syntax.CallExpr:
		start, end := e.Fn.Span()
		if start.Line > 1 || end.Line > 1 {
			return nil
		}
		fn := string([]rune(text)[start.Col-1 : end.Col-1])
		if m, err := s.composed(":type", fn); err == nil && m != nil {
			if n := m.Node(starlib.Last); n != nil {
				return n.Out()
			}
		}
	}
	return nil
}

// node returns the node that an expression is.
func (s *session) node(command, expr string) (*flow.Node, error) {
	m, err := s.composed(command, expr)
	if err != nil {
		return nil, err
	}
	typ := "what only a run knows"
	if m != nil {
		if n := m.Node(starlib.Last); n != nil {
			return n, nil
		}
		typ, _, _, _ = m.Describe(starlib.Last)
	}
	var nodes []string
	for _, known := range s.ws.Module().Names() {
		if s.ws.Module().Node(known) != nil {
			nodes = append(nodes, known)
		}
	}
	help := "there is no node yet"
	if len(nodes) > 0 {
		help = "the nodes are " + strings.Join(nodes, ", ")
	}
	return nil, s.wrong(help, "%s takes a node, and %s is %s", command, expr, cmp.Or(typ, "None"))
}

func (s *session) graph(expr string) error {
	n, err := s.node(":graph", expr)
	if err != nil {
		return err
	}
	return s.print(strings.TrimSuffix(draw.Mermaid(n), "\n"))
}

func (s *session) cost(expr string) error {
	n, err := s.node(":cost", expr)
	if err != nil {
		return err
	}
	registry, problem := setup.Registry(s.c, s.flags.EnvFile, "")
	if problem != nil {
		return s.fail(problem)
	}
	called, _ := flow.Called(n)
	bounds, shared := flow.SharedBounds(1, append([]*flow.Node{n}, called...)...)
	model := ""
	if given := s.flags.ModelsGiven(); len(given) > 0 && !strings.Contains(given[0], "=") {
		model = given[0]
	}
	return s.print(cost.Of(expr, len(called) > 0, 1, bounds, shared, registry, model).String())
}

// diff shows the differences between two values, line by line.
func (s *session) diff(pair string) error {
	results := starlib.Results()
	m, one, two := s.ws.Module(), results[1]+", the value before", results[0]+", the last value"
	before, known := m.Value(results[1])
	after, too := m.Value(results[0])
	if pair != "" {
		var err error
		if m, err = s.composed(":diff", "["+pair+"]"); err != nil {
			return err
		}
		known = false
		if m != nil {
			v, _ := m.Value(starlib.Last)
			if l, ok := v.AsList(); ok && l.Len() == 2 {
				before, after, known, too = l.At(0), l.At(1), true, true
			}
		}
		one, two = pairOf(pair)
	}
	if !known || !too {
		return s.wrong("evaluate two expressions, or write :diff A, B", ":diff takes two values that are data")
	}
	changes := diff.Diff(one, []byte(double.Lines(before)+"\n"), two, []byte(double.Lines(after)+"\n"))
	if changes == nil {
		return s.print("they are equal")
	}
	_, shown, _ := strings.Cut(string(changes), "\n") // the first line names both files
	return s.print(strings.TrimRight(shown, "\n"))
}

// pairOf splits an argument into two expressions.
func pairOf(pair string) (one, two string) {
	e, err := options.ParseExpr("pair", "["+pair+"]", 0)
	list, ok := e.(*syntax.ListExpr)
	if err != nil || !ok || len(list.List) != 2 {
		return "before", "after"
	}
	line, _, several := strings.Cut(pair, "\n")
	if second, _ := list.List[1].Span(); !several {
		runes := []rune(line)
		one, two = string(runes[:second.Col-2]), string(runes[second.Col-2:])
		return strings.TrimRight(one, ", "), strings.Trim(two, ", ")
	}
	return "before", "after"
}
