package starlib

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	starjson "go.starlark.net/lib/json"
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

func jsonRows() []Builtin {
	text := Param{Name: "text", Kind: StrKind, Doc: "JSON text"}
	indent := Param{Name: "indent", Kind: StrKind, Shape: KeywordOnly, Default: `"  "`, Doc: "one step of indentation"}
	row := func(name, returns, doc string, f func(*Call) (starlark.Value, error), params ...Param) Builtin {
		return Builtin{Name: name, Of: "json", Group: GroupText, Params: params, Returns: returns, Doc: doc, Effect: Pure, Func: f}
	}
	return []Builtin{
		{Name: "json", Group: GroupText, Returns: "module", Effect: Pure, Doc: "Reads and writes JSON: json.encode, json.decode, json.indent.",
			made: func(_ *state, t *Table) starlark.Value { return &moduleValue{name: "json", members: t.members["json"]} }},
		row("encode", "str", "Writes a value as JSON on one line. Instances keep the order of their fields, dicts theirs.", jsonEncode,
			Param{Name: "value", Kind: AnyKind, Doc: "data"}),
		row("decode", "value", "Reads strict JSON. What a model wrote is read by T.from_llm_output.", jsonDecode, text,
			Param{Name: "default", Kind: AnyKind, Default: "(none)", Doc: "given instead of an error when the text is no JSON"}),
		row("indent", "str", "Lays JSON text out over lines.", jsonIndent, text, indent),
	}
}

func jsonEncode(c *Call) (starlark.Value, error) {
	v, err := toValue(c.Arg("value"))
	if err != nil {
		return nil, err
	}
	return starlark.String(generable.JSON(v, nil)), nil
}

func jsonDecode(c *Call) (starlark.Value, error) {
	if c.stood {
		return &failedValue{}, nil
	}
	args := starlark.Tuple{c.Arg("text")}
	if c.passed("default") {
		d := c.Arg("default")
		if d == nil {
			d = starlark.None
		}
		args = append(args, d)
	}
	if nestedTooDeep(c.Str("text")) {
		if len(args) > 1 {
			return args[1], nil
		}
		c.complain(diag.WrongArgument, c.spanOf("text"), "json.decode: the text is nested more than %d deep", maxNest).Help =
			[]string{"give default = ... to go on without it"}
		return nil, nil
	}
	return starjson.Module.Members["decode"].(*starlark.Builtin).CallInternal(c.Thread(), args, nil)
}

func jsonIndent(c *Call) (starlark.Value, error) {
	step := "  "
	if c.Has("indent") {
		step = c.Str("indent")
	}
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(c.Str("text")), "", step); err != nil {
		return nil, errorf("AS204", "json.indent: %s", err)
	}
	return starlark.String(out.String()), nil
}

// moduleValue is a predeclared module.
type moduleValue struct {
	name    string
	members map[string]*Builtin
}

var _ starlark.HasAttrs = (*moduleValue)(nil)

func (m *moduleValue) String() string        { return "<module " + m.name + ">" }
func (m *moduleValue) Type() string          { return "module" }
func (m *moduleValue) Freeze()               {}
func (m *moduleValue) Truth() starlark.Bool  { return true }
func (m *moduleValue) Hash() (uint32, error) { return starlark.String(m.name).Hash() }
func (m *moduleValue) AttrNames() []string   { return names(m.members) }
func (m *moduleValue) Attr(name string) (starlark.Value, error) {
	if b := m.members[name]; b != nil {
		return b.value(), nil
	}
	e := noAttr(m.name, name, m.AttrNames())
	if own := otherJSON[name]; own != "" {
		e.Help = "write json." + own
	}
	return nil, e
}

// checkModules reports members that json and budget do not have, also where no run has come to yet.
func (c *linter) checkModules(u *unit) {
	syntax.Walk(u.file.Syntax(), func(n syntax.Node) bool {
		dot, ok := n.(*syntax.DotExpr)
		if !ok {
			return true
		}
		id, _ := dot.X.(*syntax.Ident)
		if id == nil {
			return true
		}
		var m starlark.HasAttrs
		switch v := c.predeclared[id.Name].(type) {
		case *moduleValue:
			m = v
		case *makerValue:
			m = v
		}
		if b, ok := id.Binding.(*resolve.Binding); m == nil || !ok || b.Scope != resolve.Predeclared {
			return true
		}
		if _, err := m.Attr(dot.Name.Name); err != nil {
			e := engineError(err)
			c.reportFrom(u, diag.List{{Code: e.Code, Message: e.Message, Help: []string{e.Help},
				Span: diag.Span{Pos: position(dot.Name.NamePos), Len: utf8.RuneCountInString(dot.Name.Name)}}})
		}
		return true
	})
}

// otherJSON are the names that other languages have for the members of json.
var otherJSON = map[string]string{"loads": "decode", "load": "decode", "parse": "decode", "read": "decode",
	"dumps": "encode", "dump": "encode", "stringify": "encode", "write": "encode"}
