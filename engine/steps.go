package engine

import (
	"cmp"
	"fmt"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Fn makes a pure step of a callback. Types that are not declared are any and checked when
// they meet a declared one.
func (s *Session) Fn(site Site, f Func, in, out *generable.Type) *Node {
	if f == nil {
		d := s.Errorf(diag.MissingArgument, site.Span, "fn needs a function")
		d.Helpf("fn(lambda x: ..., input = T, output = U)")
		return s.failedNode(FnNode, site)
	}
	n := &Node{kind: FnNode, name: site.Name, site: site, in: typing.OrAny(in), out: typing.OrAny(out), spec: NodeSpec{Func: f}}
	n.failed = !arity(&s.Reporter, site.Arg(0), f.Info(), 1, cmp.Or(site.What, "fn"))
	return s.add(n)
}

// arity checks that a callback can be called with n arguments.
func arity(r *diag.Reporter, at diag.Span, info FuncInfo, n int, what string) bool {
	if n >= info.Needs && n <= info.Params {
		return true
	}
	name := info.Name
	if name == "" || name == "lambda" {
		name = "the lambda"
	}
	d := r.Errorf(diag.CallbackArity, at, "%s calls %s with %s", what, name, text.CountInWords(n, "argument"))
	if info.Needs > n {
		d.Label = fmt.Sprintf("it needs %s", text.CountInWords(info.Needs, "argument"))
	} else {
		d.Label = fmt.Sprintf("it takes %s", text.CountInWords(info.Params, "argument"))
	}
	if info.Pos.IsValid() {
		d.Notef(info.Pos, "%s is defined", name)
	}
	if n == 0 {
		d.Helpf("let it take none")
	} else {
		d.Helpf("let it take %s; others need a default", text.CountInWords(n, "parameter"))
	}
	return false
}

// Pick makes a projection of one field. Its types follow the declared input, or else the node
// before it.
func (s *Session) Pick(site Site, field string, in *generable.Type) *Node {
	n := s.add(&Node{kind: PickNode, name: site.Name, site: site, field: field,
		in: generable.AnyT, out: generable.AnyT, open: true})
	if in != nil {
		s.follow(n, in)
	}
	return n
}

// Template makes a step that renders a text from its input. Its placeholders are checked
// against the input, declared or given by the node before it.
func (s *Session) Template(site Site, t *TemplateText, in *generable.Type) *Node {
	n := &Node{kind: TemplateNode, name: site.Name, site: site, in: typing.OrAny(in), out: generable.StrT, spec: NodeSpec{Text: t}}
	if in != nil {
		n.failed = !t.Check(&s.Reporter, site.Span, in)
	}
	n.open = isOpen(n)
	return s.add(n)
}
