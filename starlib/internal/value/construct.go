package value

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/source"
)

// CallInternal makes a value of the type: an instance of a schema from its fields, any other value from one value,
// converted without loss. A predeclared type is the function that it shadows.
func (t *Type) CallInternal(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if t.Func != nil {
		return t.shadowed(thread, args, kwargs)
	}
	e := script.EnvOf(thread)
	if e == nil {
		return nil, script.Errorf(diag.ScriptError, "%s was called outside of a script", t)
	}
	d := t.T.Deref()
	switch {
	case d.Kind == generable.ErrorType:
		return &Failed{}, nil
	case d.Kind == generable.RecordType && len(args) == 0:
		return t.construct(thread, e, d, kwargs)
	case len(args) == 1 && len(kwargs) == 0 && !(d.Kind == generable.RecordType && isScalar(args[0])):
		if _, failed := args[0].(*Failed); failed {
			return args[0], nil
		}
		v, err := ToData(args[0])
		if err != nil {
			return nil, err
		}
		out, errs := t.T.Convert(v)
		if errs != nil {
			return t.refuse(thread, e, d, nil, errs)
		}
		return FromData(out), nil
	}
	found := &diag.Diagnostic{Code: diag.TooManyArguments, Span: callSite(thread, e).Fn, Message: t.String() + " takes one value to convert"}
	switch d.Kind {
	case generable.RecordType:
		found.Message = t.String() + " takes its fields by name"
		found.Help = []string{"write " + Example(d)}
	case generable.UnionType:
		found.Help = []string{"make one of its variants: " + Example(d.Variants[0].Deref())}
	}
	return refused(e, found)
}

// isScalar reports whether a value has no parts that could be fields.
func isScalar(v starlark.Value) bool {
	switch v.(type) {
	case starlark.NoneType, starlark.Bool, starlark.Int, starlark.Float, starlark.String:
		return true
	}
	return false
}

// Example returns a constructor call as a script would write it.
func Example(d *generable.Type) string {
	var fields []string
	for i := range d.Fields {
		if f := &d.Fields[i]; f.Required() {
			fields = append(fields, f.Name+" = ...")
		}
	}
	return d.String() + "(" + strings.Join(fields, ", ") + ")"
}

func (t *Type) shadowed(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) == 1 {
		if t.Func.Name() == "str" {
			if err := printable(args[0]); err != nil {
				return nil, err
			}
		}
		switch x := args[0].(type) {
		case *Failed:
			return x, nil
		case *Record:
			if t.Func.Name() == "dict" && len(kwargs) == 0 {
				return x.dict(), nil
			}
		}
	}
	return t.Func.CallInternal(thread, args, kwargs)
}

// construct makes an instance of a schema.
func (t *Type) construct(thread *starlark.Thread, e *script.Env, d *generable.Type, kwargs []starlark.Tuple) (starlark.Value, error) {
	fields := generable.NewMap(len(kwargs))
	for _, kv := range kwargs {
		name := string(kv[0].(starlark.String))
		if _, failed := kv[1].(*Failed); failed {
			return kv[1], nil
		}
		v, err := ToData(kv[1])
		if err != nil {
			return nil, Prefixed(name, err)
		}
		fields.Set(name, v)
	}
	r, errs := d.Construct(fields)
	if errs != nil {
		return t.refuse(thread, e, d, fields, errs)
	}
	return FromRecord(r), nil
}

// refuse reports why a value does not fit, each error at the argument that it is about.
func (t *Type) refuse(thread *starlark.Thread, e *script.Env, d *generable.Type, given *generable.Map, errs generable.FieldErrors) (starlark.Value, error) {
	var found diag.List
	site := callSite(thread, e)
	var unknown []*diag.Diagnostic
	var missing []string
	misspelt := map[string]bool{} // fields that were given under a wrong name: they are not missing too
	for _, fe := range errs {
		out := FieldDiagnostic(d, given, fe, site)
		field := FirstStep(fe.Path)
		switch out.Code {
		case diag.UnknownField:
			if meant, ok := diag.Suggest(field, NotGiven(d, given)); ok {
				misspelt[meant] = true
			} else {
				unknown = append(unknown, out)
			}
		case diag.MissingField:
			missing = append(missing, field)
			continue
		}
		found = append(found, out)
	}
	missing = slices.DeleteFunc(missing, func(field string) bool { return misspelt[field] })
	if len(unknown) == 1 && len(missing) == 1 { // whatever its name, it must be the missing one
		unknown[0].Help = nil
		unknown[0].Means(missing[0])
		missing = nil
	}
	if len(missing) > 0 {
		found = append(diag.List{MissingFields(d, missing, site)}, found...)
	}
	return refused(e, found...)
}

// MissingFields reports all fields that a call leaves out.
func MissingFields(d *generable.Type, names []string, site source.Call) *diag.Diagnostic {
	out := &diag.Diagnostic{Code: diag.MissingField, Span: site.Fn, Message: d.String() + " needs " + script.Joined(names)}
	var labels, args []string
	for _, name := range names {
		f := d.Fields[d.FieldIndex(name)]
		label := f.Type.String()
		if len(names) > 1 {
			label = name + ": " + label
		} else if f.Guide != "" {
			label += ": " + f.Guide
		}
		labels, args = append(labels, label), append(args, name+" = ...")
	}
	out.Label = script.Joined(labels)
	what := "the field a default"
	if len(names) > 1 {
		what = "fields that may lack a default"
	}
	out.Help = []string{"write " + d.String() + "(" + script.Joined(args) + "), or give " + what + " in the schema"}
	return out
}

// NotGiven lists the fields of a schema that a call leaves out.
func NotGiven(d *generable.Type, given *generable.Map) []string {
	return slices.DeleteFunc(d.FieldNames(), func(name string) bool {
		_, has := given.Get(name)
		return has
	})
}

func refused(e *script.Env, found ...*diag.Diagnostic) (starlark.Value, error) {
	if e.Running() {
		return nil, script.Raised(found...)
	}
	e.State.Session.Report(found...)
	return &Failed{}, nil
}

// FieldDiagnostic converts an error about a field to a diagnostic about the call that set it.
func FieldDiagnostic(d *generable.Type, given *generable.Map, fe *generable.FieldError, site source.Call) *diag.Diagnostic {
	out := script.FieldProblem(diag.WrongValue, site.Fn, fe)
	out.Message, out.Cause = d.String()+": "+out.Message, fe
	field := FirstStep(fe.Path)
	for _, a := range site.Args {
		if a.Name == field && field != "" {
			out.Span = a.Span
		}
	}
	if given == nil || d.Kind != generable.RecordType || "."+field != fe.Path {
		switch {
		case len(out.Help) > 0:
		case fe.Got == "nothing":
			out.Help = []string{"pass it, or declare a default in the schema: field(" + fe.Expected + ", default = ...)"}
		default:
			out.Help = []string{"pass " + fe.Expected + " there, or change the declared type"}
		}
		return out
	}
	v, has := given.Get(field)
	switch {
	case d.FieldIndex(field) < 0:
		out.Code, out.Message = diag.UnknownField, d.String()+" has no field "+field
		for _, a := range site.Args {
			if a.Name == field {
				out.Span = a.NameSpan
			}
		}
		if out.Help = nil; !out.Meant(field, NotGiven(d, given)) {
			out.Help = []string{"its fields are " + script.Joined(d.FieldNames())}
		}
	case !has:
		out.Code = diag.MissingField
	case len(out.Help) == 0:
		out.Help = []string{valueHelp(d, &d.Fields[d.FieldIndex(field)], v)}
	}
	return out
}

// valueHelp says what to set a field to instead of a value that it does not accept.
func valueHelp(d *generable.Type, f *generable.Field, v generable.Value) string {
	t := f.Type.Deref()
	fits := func(v generable.Value) bool { return f.Type.Conforms(v) == nil }
	written := FromData(v).String()
	if text, ok := v.AsStr(); ok && t.Kind != generable.StrType {
		n, err := strconv.ParseFloat(text, 64)
		if number, ok := generable.FloatOf(n); err == nil && ok && (fits(number) || n == math.Trunc(n) && fits(generable.IntOf(int64(n)))) {
			return "write " + text + " without quotes"
		}
		if b, err := strconv.ParseBool(strings.ToLower(text)); err == nil && fits(generable.BoolOf(b)) {
			return "write " + starlark.Bool(b).String()
		}
	}
	switch {
	case v.Kind() == generable.Null:
		return fmt.Sprintf("%s is declared as %s in %s: pass one, or make None one of its types there", f.Name, f.Type, d)
	case len(written) > 40:
	case t.Kind == generable.StrType:
		if _, is := v.AsStr(); !is {
			return "write str(" + written + ")"
		}
	case t.Kind == generable.ListType && t.Elem.Conforms(v) == nil:
		return "write [" + written + "]"
	}
	if f.Type.Conforms(v) == nil {
		return "pass a value within its bounds, or change them where " + d.String() + " is declared"
	}
	return fmt.Sprintf("%s is declared as %s in %s: pass one, or change its type there", f.Name, f.Type, d)
}

// Unmatched lists the variants without a case, of the declared union that an instance and all cases belong to. It lists
// none if one such union is handled in full.
func Unmatched(c *script.State, t *generable.Type, cases []starlark.Value) (of *generable.Type, missing []string) {
	keys := map[string]bool{}
	for _, key := range cases {
		t, ok := key.(*Type)
		if !ok || t.T.Deref().Kind != generable.RecordType {
			return nil, nil
		}
		keys[t.T.Deref().ID()] = true
	}
	for _, u := range c.Types.All {
		if u.Kind != generable.UnionType || generable.Assignable(t, u) != nil {
			continue
		}
		var lacks []string
		covered := 0
		for _, variant := range u.Variants {
			if keys[variant.Deref().ID()] {
				covered++
			} else {
				lacks = append(lacks, variant.String())
			}
		}
		switch {
		case covered < len(keys): // some case is not a variant of this union
		case len(lacks) == 0:
			return nil, nil
		case missing == nil:
			of, missing = u, lacks
		}
	}
	return of, missing
}

// FirstStep returns the field at the start of a path, or "".
func FirstStep(path string) string {
	if !strings.HasPrefix(path, ".") {
		return ""
	}
	path = path[1:]
	if i := strings.IndexAny(path, ".["); i >= 0 {
		path = path[:i]
	}
	return path
}

// callSite finds the call of the innermost builtin.
func callSite(thread *starlark.Thread, e *script.Env) source.Call {
	if thread.CallStackDepth() < 2 {
		return source.Call{}
	}
	pos := thread.CallFrame(1).Pos
	if f := e.State.SourceAt(pos); f != nil {
		if site, ok := f.CallAt(pos); ok {
			return site
		}
	}
	return source.Call{Fn: diag.Span{Pos: script.Position(pos)}}
}
