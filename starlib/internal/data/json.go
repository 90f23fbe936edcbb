package data

import (
	"bytes"
	"encoding/json"

	starjson "go.starlark.net/lib/json"
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

func jsonRows() []table.Builtin {
	text := table.Param{Name: "text", Kind: table.StrKind, Doc: "JSON text"}
	indent := table.Opt("indent", table.StrKind, `"  "`, "the text that indents one level")
	row := func(name, returns, doc string, f func(*table.Call) (starlark.Value, error), params ...table.Param) table.Builtin {
		return table.Builtin{Name: name, Of: "json", Whole: name == "decode", Group: table.GroupText, Params: params, Returns: returns, Doc: doc, Effect: table.Pure, Func: f}
	}
	return []table.Builtin{
		table.ModuleRow("json", table.GroupText, table.Pure, "Reads and writes JSON: json.encode, json.decode, json.indent."),
		row("encode", "str", "Returns a value as JSON on one line. Fields of instances and keys of dicts keep their order.", jsonEncode,
			table.Param{Name: "value", Kind: table.AnyKind, Doc: "data"}),
		row("decode", "value", "Reads strict JSON. To read a model's output, use T.from_llm_output.", jsonDecode, text,
			table.Param{Name: "default", Kind: table.AnyKind, Default: "(none)", Doc: "returned instead of an error if the text is not JSON"}),
		row("indent", "str", "Formats JSON text over several lines.", jsonIndent, text, indent),
	}
}

func jsonEncode(c *table.Call) (starlark.Value, error) {
	v, err := value.ToData(c.Arg("value"))
	if err != nil {
		return nil, err
	}
	return starlark.String(generable.JSON(v, nil)), nil
}

func jsonDecode(c *table.Call) (starlark.Value, error) {
	args := starlark.Tuple{c.Arg("text")}
	if c.Passed("default") {
		d := c.Arg("default")
		if d == nil {
			d = starlark.None
		}
		args = append(args, d)
	}
	if value.NestedTooDeep(c.Str("text")) {
		if len(args) > 1 {
			return args[1], nil
		}
		c.Problemf(diag.WrongArgument, c.ArgSpan("text"), "json.decode: the text is nested more than %d deep", value.MaxPrintNesting).Help =
			[]string{"pass default = ... to continue without it"}
		return nil, nil
	}
	return starjson.Module.Members["decode"].(*starlark.Builtin).CallInternal(c.Thread(), args, nil)
}

func jsonIndent(c *table.Call) (starlark.Value, error) {
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(c.Str("text")), "", c.StrOr("indent", "  ")); err != nil {
		return nil, script.Errorf("AS204", "json.indent: %s", err)
	}
	return starlark.String(out.String()), nil
}

var _ starlark.HasAttrs = (*table.ModuleValue)(nil)
