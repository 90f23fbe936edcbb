package value

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib/internal/script"
)

// AcceptFunction accepts what a run can call: functions of the script, builtins and types. A node has a place in the
// graph instead.
func AcceptFunction(v starlark.Value) (starlark.Value, bool) {
	switch v.(type) {
	case *starlark.Function, *starlark.Builtin, *Type:
		return v, true
	}
	return v, false
}

// typeWords maps the names of types in other languages to those of scripts.
var typeWords = map[string]string{"str": "str", "string": "str", "text": "str", "int": "int", "integer": "int", "float": "float", "number": "float",
	"double": "float", "bool": "bool", "boolean": "bool", "any": "any", "list": "list", "array": "list", "dict": "dict", "object": "dict", "none": "None", "null": "None"}

// TypeText reads a text as a type and returns it as a script writes it: "string | null" is str | None. It calls named
// with each name of another type; named returns what to write for it, or false if there is no such type.
func TypeText(s string, named func(name string) (string, bool)) (string, bool) {
	r := typeReader{rest: s, named: named}
	shown := r.alternatives()
	r.blanks()
	return shown, !r.failed && r.rest == ""
}

// typeReader reads a type from the beginning of a text.
type typeReader struct {
	rest   string
	named  func(string) (string, bool)
	failed bool
	depth  int
}

func (r *typeReader) blanks() { r.rest = strings.TrimLeft(r.rest, " ") }

// takes skips a token, if it is next.
func (r *typeReader) takes(token string) bool {
	r.blanks()
	rest, ok := strings.CutPrefix(r.rest, token)
	r.rest = rest
	return ok
}

func (r *typeReader) alternatives() string {
	shown := r.one()
	for !r.failed && r.takes("|") {
		shown += " | " + r.one()
	}
	return shown
}

// one reads a type without alternatives: a name, and its arguments in brackets.
func (r *typeReader) one() string {
	r.blanks()
	if r.depth++; r.depth > 20 {
		r.failed = true
		return ""
	}
	defer func() { r.depth-- }()
	end := strings.IndexFunc(r.rest, func(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	if end < 0 {
		end = len(r.rest)
	}
	name := r.rest[:end]
	r.rest = r.rest[end:]
	shown, ok := typeWords[strings.ToLower(name)]
	if !ok && name != "Optional" && name != "Union" {
		if shown, ok = r.named(name); !ok || name == "" {
			r.failed = true
			return ""
		}
	}
	for !r.failed && r.takes("[") {
		if r.takes("]") { // TypeScript's array syntax
			shown = "list[" + shown + "]"
			continue
		}
		inner := []string{r.alternatives()}
		for !r.failed && r.takes(",") {
			inner = append(inner, r.alternatives())
		}
		if !r.takes("]") {
			r.failed = true
			return ""
		}
		switch name {
		case "Optional":
			shown = inner[0] + " | None"
		case "Union":
			shown = strings.Join(inner, " | ")
		default:
			shown += "[" + strings.Join(inner, ", ") + "]"
		}
	}
	if shown == "" {
		r.failed = true
	}
	return shown
}

// TypeWord returns the type that a text names, judging by the text alone.
func TypeWord(s string) (string, bool) {
	return TypeText(s, func(name string) (string, bool) {
		c, _ := utf8.DecodeRuneInString(name)
		return name, unicode.IsUpper(c)
	})
}

// AdviseType adds to a diagnostic what to write instead of a text that stands for a type: the type itself, or a
// reference to one that the file declares later. The diagnostic's position is that of the text. AdviseType reports
// whether the text is a type.
func AdviseType(c *script.State, d *diag.Diagnostic, v starlark.Value) bool {
	s, ok := v.(starlark.String)
	if !ok || c == nil {
		return false
	}
	refers := false
	shown, ok := TypeText(string(s), func(name string) (string, bool) {
		if first, _ := utf8.DecodeRuneInString(name); unicode.IsUpper(first) && c.Later(name) {
			refers = true
			return "ref(" + strconv.Quote(name) + ")", true
		}
		return name, c.IsType(name)
	})
	if !ok {
		if hint := c.Suggest(string(s), c.TypeNames()); hint != "" {
			d.Help = []string{hint}
		} else if word, is := TypeWord(string(s)); is && d.Help != nil && strings.HasSuffix(d.Help[0], `not "`+string(s)+`"`) {
			d.Help = []string{"there is no type " + word + ": a type is str, int, list[str], a schema, ..., without quotes"}
		}
		return false
	}
	d.Help = []string{"write the type itself: " + shown + ", not " + s.String()}
	if refers {
		d.Help = []string{"write " + shown + ": a type's name can be used from the next statement on, and ref refers to it by name"}
	}
	if d.Span.Len > 0 {
		d.Fixes = append(d.Fixes, diag.Fix{Message: "write " + shown, Span: d.Span, Replacement: shown})
	}
	return true
}

// HintType says what to write instead of a value that is not a type.
func HintType(v starlark.Value) string {
	switch v := v.(type) {
	case starlark.String:
		if strings.EqualFold(string(v), "json") {
			return "declare what the JSON holds, schema(title = str, ...), or write any for any JSON"
		}
		if name, ok := TypeWord(string(v)); ok {
			return "write the type itself: " + name + `, not "` + string(v) + `"`
		}
		return "a type is str, int, list[str], a schema, ..., without quotes"
	case *starlark.List:
		if v.Len() == 1 {
			if t, ok := v.Index(0).(*Type); ok {
				return "write list[" + t.String() + "]"
			}
		}
		return "a list type is written list[str]"
	case *starlark.Dict:
		fields := dictFields(v)
		switch {
		case len(fields) == 1:
			return "declare a schema, or write dict[str, " + strings.TrimSpace(fields[0][strings.IndexByte(fields[0], '=')+1:]) + "]"
		case fields != nil:
			return "write schema(" + script.Joined(fields) + "), which has a name where it is assigned to a variable first"
		}
		return "declare a schema, or write dict[str, int]"
	case starlark.Int, starlark.Float, starlark.Bool:
		return "write the type itself: " + v.Type()
	case *Record:
		return "this is an instance; its type is " + v.Type()
	case *Field:
		return "write " + v.Field.Type.String() + ": a field belongs in a schema, schema(name = field(...))"
	case *starlark.Builtin:
		return map[string]string{"tuple": "write list[str]", "set": "write list[str]", "type": "write any", "enumerate": "write list[any]"}[v.Name()]
	}
	if v.Type() == "module" { // most likely json
		return "declare what the value holds, schema(title = str, ...), or write any for any JSON"
	}
	return ""
}

// dictFields returns a dict of types as the fields of a schema, or nil for any other dict.
func dictFields(d *starlark.Dict) []string {
	var fields []string
	for key, v := range d.Entries() {
		name, text := key.(starlark.String)
		t, ok := v.(*Type)
		if !text || !ok {
			return nil
		}
		fields = append(fields, string(name)+" = "+t.String())
	}
	return fields
}

// HintNode says what to write instead of a value that is not a node.
func HintNode(v starlark.Value) string {
	switch v := v.(type) {
	case *starlark.Function:
		if v.Name() != "lambda" && v.NumParams() == 0 {
			return "call the factory: " + v.Name() + "()"
		}
		if v.Name() == "lambda" {
			return "make it a step: fn(lambda ..., input = ..., output = ...)"
		}
		return "if it makes a node, call it: " + v.Name() + "(...); as a step a function is fn(" + v.Name() + ", input = ..., output = ...)"
	case *starlark.Builtin, *Type:
		return "make it a step: fn(" + NameOf(v) + ")"
	case Finish:
		return "FINISH is the target of an edge that ends a graph: edge(node, FINISH)"
	case *starlark.List:
		for item := range starlark.Elements(v) {
			if _, ok := item.(*Node); !ok {
				return "data is the input of a run, not part of the flow: leave it out, and pass it to main"
			}
		}
		return "pass the nodes one by one, or only the list"
	case *starlark.Dict:
		return "nodes have their own names: pass them one by one, or as a list"
	case starlark.Int:
		return "a number is passed by name: max = " + v.String() + ", limit = " + v.String()
	case *Budget:
		return "a budget follows the node that it bounds: bounded(node, budget(...))"
	case starlark.String:
		return "a text becomes a step as template(\"...\"), or agent(prompt = \"...\")"
	}
	return ""
}

// Describe describes an argument in a message: its type, and its value if that is short.
func Describe(v starlark.Value) string {
	switch v := v.(type) {
	case *Typed:
		return v.Word
	case starlark.NoneType:
		return "None"
	case starlark.String:
		if len(v) <= 30 {
			return "str " + v.String()
		}
		return "str"
	case starlark.Int, starlark.Float, starlark.Bool:
		return v.Type() + " " + v.String()
	case *Type:
		return "the type " + v.String()
	case *Node:
		return "the " + v.Node.Kind().String() + " " + v.Label()
	case *starlark.Function:
		if v.Name() == "lambda" {
			return "a lambda"
		}
		return "the function " + v.Name()
	case *starlark.Builtin:
		return "the builtin " + v.Name()
	case *Maker:
		return "the builtin " + v.Name()
	}
	if _, is := v.(interface{ Opaque() }); is {
		return v.String()
	}
	return v.Type()
}

// NameOf returns a callable's name in a script.
func NameOf(v starlark.Value) string {
	switch v := v.(type) {
	case *Type:
		return v.String()
	case starlark.Callable:
		return v.Name()
	}
	return v.Type()
}
