package value

import (
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/script"
)

// ParseDoc splits a docstring into its text and the descriptions of parameters in its Args
// section:
//
//	Compiles one file.
//
//	Args:
//	  path: file to compile,
//	    relative to the project
//	  flags (list of str): extra flags
//	Returns:
//	  the log
func ParseDoc(doc string) (text string, params map[string]string) {
	lines := strings.Split(script.Dedent(doc), "\n")
	var kept []string
	section, indent, last := "", -1, ""
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		depth := len(line) - len(strings.TrimLeft(line, " \t"))
		if depth == 0 {
			switch trimmed {
			case "Args:", "Arguments:", "Parameters:":
				section, indent, last = "args", -1, ""
				continue
			}
			if trimmed != "" {
				section = ""
			}
		}
		if section != "args" {
			kept = append(kept, line)
			continue
		}
		if trimmed == "" {
			continue
		}
		if indent < 0 {
			indent = depth
		}
		name, about, ok := strings.Cut(trimmed, ":")
		if depth > indent && last != "" {
			params[last] += " " + trimmed
			continue
		}
		if !ok {
			continue
		}
		name = strings.TrimLeft(name, "*")
		if i := strings.IndexAny(name, " ("); i >= 0 {
			name = name[:i]
		}
		if params == nil {
			params = map[string]string{}
		}
		params[name], last = strings.TrimSpace(about), name
	}
	return strings.TrimSpace(strings.Join(kept, "\n")), params
}

// Parameter is a parameter of a function of the script with what the function declares about its type.
type Parameter struct {
	Name     string
	Keyword  bool // keyword-only
	Field    generable.Field
	Declared bool // declared by a type or field(...), so the default is not a value
	Wrong    bool // an error in its type was reported
}

// ParametersOf reads what a function declares about its parameters: defaults and docstring. It returns defaults that
// have no form outside the script by name.
func ParametersOf(fn *starlark.Function) ([]Parameter, map[string]error) {
	n := NumNamed(fn)
	_, docs := ParseDoc(fn.Doc())
	var unfit map[string]error
	params := make([]Parameter, n)
	for i := range n {
		name, _ := fn.Param(i)
		p := &params[i]
		p.Name = name
		p.Keyword = i >= n-fn.NumKwonlyParams()
		p.Field = generable.Field{Name: name}
		switch d := fn.ParamDefault(i).(type) {
		case nil:
		case *Type, *Field:
			p.Field, p.Declared = FieldOf(name, d), true
		default:
			v, err := ToData(d)
			if err != nil {
				if unfit == nil {
					unfit = map[string]error{}
				}
				unfit[name] = err
				continue
			}
			p.Field.Type, p.Field.Default, p.Field.Optional = typeOfDefault(v), v, true
		}
		if p.Field.Guide == "" {
			p.Field.Guide = docs[name]
		}
	}
	return params, unfit
}

// NumNamed returns the number of a function's parameters without *args and **kwargs.
func NumNamed(fn *starlark.Function) int {
	n := fn.NumParams()
	if fn.HasVarargs() {
		n--
	}
	if fn.HasKwargs() {
		n--
	}
	return n
}

// typeOfDefault returns the type of a parameter that has a plain default.
func typeOfDefault(v generable.Value) *generable.Type {
	switch v.Kind() {
	case generable.Bool:
		return generable.BoolT
	case generable.Int, generable.Big:
		return generable.IntT
	case generable.Float:
		return generable.FloatT
	case generable.Str:
		return generable.StrT
	case generable.ListKind:
		return generable.ListOfType(generable.AnyT)
	case generable.MapKind:
		return generable.DictOfType(generable.AnyT)
	case generable.RecordKind:
		r, _ := v.AsRecord()
		return r.Type()
	}
	return generable.AnyT
}
