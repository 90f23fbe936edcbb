package engine

import (
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// Fn makes a pure step of a callback. Types that are not declared are any and checked when
// they meet a declared one.
func (s *Session) Fn(site Site, f Func, in, out *generable.Type) *Node {
	n := &Node{kind: FnNode, name: site.Name, span: site.Span, fn: f, in: orAny(in), out: orAny(out)}
	n.failed = !s.arity(site.arg(0), f, 1, "fn")
	return s.add(n)
}

func orAny(t *generable.Type) *generable.Type {
	if t == nil {
		return generable.AnyT
	}
	return t
}

// arity checks that a callback can be called with n arguments.
func (s *Session) arity(at diag.Span, f Func, n int, what string) bool {
	info := f.Info()
	if n >= info.Needs && n <= info.Params {
		return true
	}
	name := info.Name
	if name == "" || name == "lambda" {
		name = "the lambda"
	}
	d := s.errorf(diag.CallbackArity, at, "%s calls %s with %s", what, name, count(n, "argument"))
	if info.Needs > n {
		d.Label = fmt.Sprintf("it needs %s", count(info.Needs, "argument"))
	} else {
		d.Label = fmt.Sprintf("it takes %s", count(info.Params, "argument"))
	}
	if info.Pos.IsValid() {
		note(d, info.Pos, "%s is defined", name)
	}
	if n == 0 {
		help(d, "let it take none")
	} else {
		help(d, "let it take %s; others need a default", count(n, "parameter"))
	}
	return false
}

func count(n int, what string) string {
	switch n {
	case 0:
		return "no " + what + "s"
	case 1:
		return "one " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Pick makes a projection of one field. Its types follow the node before it.
func (s *Session) Pick(site Site, field string) *Node {
	return s.add(&Node{kind: PickNode, name: site.Name, span: site.Span, field: field,
		in: generable.AnyT, out: generable.AnyT})
}

// Template makes a step that renders a text from its input. Its placeholders are checked
// against the input, declared or given by the node before it.
func (s *Session) Template(site Site, t *TemplateText, in *generable.Type) *Node {
	n := &Node{kind: TemplateNode, name: site.Name, span: site.Span, text: t, in: orAny(in), out: generable.StrT}
	if in != nil {
		n.failed = !s.placeholders(site.Span, t, in)
	}
	return s.add(n)
}

// follow settles the types of a node whose types depend on what comes before it.
func (s *Session) follow(site Site, n *Node, in *generable.Type) bool {
	switch n.kind {
	case PickNode:
		if n.in.Kind != generable.AnyType {
			return true
		}
		out, ok := s.project(n, in)
		n.in, n.out = in, out
		n.failed = !ok
		return ok
	case TemplateNode:
		if n.in.Kind == generable.AnyType && in.Deref().Kind != generable.AnyType {
			n.in = in
			n.failed = !s.placeholders(n.span, n.text, in)
			return !n.failed
		}
	case PipelineNode:
		if n.kids[0].in.Kind != generable.AnyType || n.failed {
			return true
		}
		for i, k := range n.kids { // the head may settle the rest
			if i > 0 {
				in = n.kids[i-1].out
				if !s.join(Site{Span: n.span, What: site.What}, n.kids[i-1], k) {
					n.failed = true
					return false
				}
			} else if !s.follow(site, k, in) {
				n.failed = true
				return false
			}
		}
		n.in, n.out = n.kids[0].in, n.kids[len(n.kids)-1].out
	}
	return true
}

// project gives the type of a field of in.
func (s *Session) project(n *Node, in *generable.Type) (*generable.Type, bool) {
	in = in.Deref()
	switch in.Kind {
	case generable.AnyType, generable.ErrorType:
		return generable.AnyT, true
	case generable.DictType:
		return in.Elem, true
	case generable.RecordType:
		if i := in.FieldIndex(n.field); i >= 0 {
			return in.Fields[i].Type, true
		}
		d := s.errorf(diag.UnknownPick, n.span, "%s has no field %q", in, n.field)
		if hint := diag.DidYouMean(n.field, in.FieldNames()); hint != "" {
			help(d, "%s", hint)
		} else {
			help(d, "its fields are %s", strings.Join(in.FieldNames(), ", "))
		}
		return generable.ErrorT, false
	case generable.UnionType, generable.OneOfType:
		var types []*generable.Type
		for _, v := range in.Variants {
			v = v.Deref()
			i := v.FieldIndex(n.field)
			if v.Kind != generable.RecordType || i < 0 {
				d := s.errorf(diag.UnknownPick, n.span, "not every %s has a field %q", in, n.field)
				d.Label = fmt.Sprintf("%s has none", v)
				help(d, "route the variants first: branch(node, {Variant: handler, ...})")
				return generable.ErrorT, false
			}
			types = append(types, v.Fields[i].Type)
		}
		return generable.OneOf(types...), true
	}
	d := s.errorf(diag.UnknownPick, n.span, "pick(%q) needs a schema or a dict in front of it", n.field)
	d.Label = fmt.Sprintf("%s has no fields", in)
	help(d, "leave it out, or let what comes before give a schema with the field %s", n.field)
	return generable.ErrorT, false
}

// TemplateText is a text with placeholders {{field}}, {{a.b}} or {{input}}.
type TemplateText struct {
	parts []templatePart
}

type templatePart struct {
	text string
	path []string // of a placeholder; empty for literal text
	pos  int      // byte offset of the placeholder
}

// ParseTemplate reads a template. Braces that are not doubled are literal.
func ParseTemplate(text string) (*TemplateText, error) {
	t := &TemplateText{}
	for at := 0; ; {
		open := strings.Index(text[at:], "{{")
		if open < 0 {
			t.parts = append(t.parts, templatePart{text: text[at:]})
			return t, nil
		}
		open += at
		end := strings.Index(text[open:], "}}")
		if end < 0 {
			return nil, fmt.Errorf("the placeholder %q is not closed with }}", clip(text[open:], 20))
		}
		inner := strings.TrimSpace(text[open+2 : open+end])
		path := strings.Split(inner, ".")
		for _, p := range path {
			if !isName(p) {
				return nil, fmt.Errorf("{{%s}} is no placeholder: want a field name, as in {{title}} or {{author.name}}", inner)
			}
		}
		t.parts = append(t.parts, templatePart{text: text[at:open]}, templatePart{path: path, pos: open})
		at = open + end + 2
	}
}

func isName(s string) bool {
	for i, r := range s {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') && r < 0x80 {
			return false
		}
	}
	return s != ""
}

func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}

// placeholders checks a template against the type of its input.
func (s *Session) placeholders(at diag.Span, t *TemplateText, in *generable.Type) bool {
	ok := true
	for _, p := range t.parts {
		cur := in.Deref()
		for i, name := range p.path {
			if i == 0 && name == "input" && cur.FieldIndex(name) < 0 {
				continue
			}
			switch cur.Kind {
			case generable.AnyType, generable.ErrorType:
			case generable.DictType:
				cur = cur.Elem.Deref()
				continue
			case generable.RecordType:
				if j := cur.FieldIndex(name); j >= 0 {
					cur = cur.Fields[j].Type.Deref()
					continue
				}
				ok = false
				d := s.errorf(diag.UnknownPlaceholder, at, "the template's {{%s}} is no field of %s", strings.Join(p.path, "."), cur)
				if hint := diag.DidYouMean(name, cur.FieldNames()); hint != "" {
					help(d, "%s", hint)
				} else {
					help(d, "the fields are %s; {{input}} is the whole input", strings.Join(cur.FieldNames(), ", "))
				}
			default:
				ok = false
				d := s.errorf(diag.UnknownPlaceholder, at, "the template's {{%s}} asks for a field, but the input is %s", strings.Join(p.path, "."), cur)
				help(d, "{{input}} is the whole input")
			}
			break
		}
	}
	return ok
}

// Render fills the template from a value: strings verbatim, anything else as JSON.
func (t *TemplateText) Render(v generable.Value, in *generable.Type) (string, error) {
	var b strings.Builder
	for _, p := range t.parts {
		if p.path == nil {
			b.WriteString(p.text)
			continue
		}
		cur, typ := v, in
		for i, name := range p.path {
			next, ok := field(cur, name)
			if !ok && i == 0 && name == "input" {
				continue
			}
			if !ok {
				return "", fmt.Errorf("the template's {{%s}} is not in %s", strings.Join(p.path, "."), cur.TypeName())
			}
			cur, typ = next, nil
		}
		b.WriteString(inputText(cur, typ))
	}
	return b.String(), nil
}

// field reads a field of a record or an entry of a map.
func field(v generable.Value, name string) (generable.Value, bool) {
	if r, ok := v.AsRecord(); ok {
		return r.Get(name)
	}
	if m, ok := v.AsMap(); ok {
		return m.Get(name)
	}
	return generable.Value{}, false
}

// inputText is how a value is shown to a model: a str verbatim, anything else as JSON with a
// union's discriminator first.
func inputText(v generable.Value, t *generable.Type) string {
	if text, ok := v.AsStr(); ok {
		return text
	}
	return generable.JSON(v, t)
}
