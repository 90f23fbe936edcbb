package agentscript

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/govalue"
)

// ToolFunc turns a Go function into a tool, for [WithTool]. The fields of the struct A are its parameters, named as
// encoding/json names them, and tags describe them further:
//
//	type Search struct {
//		Query string        `json:"query" doc:"what to look for"`
//		Kind  string        `json:"kind,omitempty" jsonschema:"enum=book,enum=film"`
//		Most  int           `json:"most" jsonschema:"minimum=1,maximum=50,default=10"`
//		Since time.Time     `json:"since,omitzero"`
//		Wait  time.Duration `json:"wait,omitempty"`
//	}
//
// A field with omitempty, omitzero or a default may be omitted; a pointer may be null. A time.Time is a str of format
// date-time, a time.Duration a str such as 90s; structs, slices and maps nest, and [govalue.TypeOf] describes all the
// tags. The result of the function is encoded in the same way. The arguments that the model writes are checked before
// the function is called. The model sees an error.
//
// The tool is of class [engine.ClassOnce]: its actions are final. If it may run again, set Class of the result;
// Timeout, Version and other properties of the tool can be set in the same way. [ToolCall] returns to the function
// which call it serves. An A that is not a struct, or a type without a JSON form, is an error with the path of the
// field.
func ToolFunc[A, R any](name, doc string, f func(ctx context.Context, args A) (R, error), opts ...govalue.Option) (agent.HostTool, error) {
	var none agent.HostTool
	if f == nil {
		return none, fmt.Errorf("tool %q has no function", name)
	}
	t, err := newTool(name, doc, reflect.TypeFor[A](), reflect.TypeFor[R](), opts)
	if err != nil {
		return none, err
	}
	return goTool(t, opts, func() any { return new(A) }, func(ctx context.Context, in any) (any, error) { return f(ctx, *in.(*A)) }), nil
}

// goTool returns the tool t of a Go function. fresh returns a pointer to new arguments; call calls the function with
// the arguments that were decoded there.
func goTool(t agent.Tool, opts []govalue.Option, fresh func() any, call func(ctx context.Context, in any) (any, error)) agent.HostTool {
	name, params, returns, codec := t.Name, t.Params, t.Returns, goOptions(opts)
	return agent.HostTool{Tool: t, Do: func(ctx context.Context, info agent.ToolCallInfo, args generable.Value) (none generable.Value, err error) {
		in := fresh()
		// Arguments may fit the schema but not the Go type, for example a number that is too large for its field.
		if err := govalue.Into(generable.Plain(args, params), in, codec...); err != nil {
			return none, engine.Errorf(engine.KindTool, diag.ToolFailed, "bad arguments: %w", err)
		}
		out, err := call(context.WithValue(ctx, toolCallKey{}, info), in)
		if err != nil {
			return none, err
		}
		v, err := govalue.From(out, codec...)
		if err != nil {
			return v, engine.Errorf(engine.KindTool, diag.ToolFailed, "the result of tool %q has no JSON form: %w", name, err)
		}
		w, errs := returns.Convert(v)
		if errs != nil {
			return v, engine.Errorf(engine.KindTool, diag.ToolFailed, "the result of tool %q is no %s: %w", name, returns, errs)
		}
		return w, nil
	}}
}

// ToolsOf turns methods of a value into tools, for [WithTools]: those that docs names, and no others. Each has the
// form func(context.Context, A) (R, error) of [ToolFunc]. Its tool is named after the method, find_note for FindNote,
// and described by the text in docs. The error lists every method that does not exist or has another form.
func ToolsOf(v any, docs map[string]string, opts ...govalue.Option) ([]agent.HostTool, error) {
	rv := reflect.ValueOf(v)
	if !rv.IsValid() {
		return nil, fmt.Errorf("tools are made of a value with methods, got nil")
	}
	var tools []agent.HostTool
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		t, err := methodTool(rv, name, docs[name], opts)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		tools = append(tools, t)
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	return tools, nil
}

// WithTools makes several Go tools available to scripts; see [WithTool].
func WithTools(tools ...agent.HostTool) Option {
	return func(c *config) {
		for _, t := range tools {
			WithTool(t)(c)
		}
	}
}

var (
	contextType = reflect.TypeFor[context.Context]()
	errorType   = reflect.TypeFor[error]()
)

func methodTool(rv reflect.Value, name, doc string, opts []govalue.Option) (none agent.HostTool, err error) {
	m := rv.MethodByName(name)
	if !m.IsValid() {
		return none, fmt.Errorf("%s has no method %s%s", rv.Type(), name, nearest(rv.Type(), name))
	}
	mt := m.Type()
	if mt.NumIn() != 2 || mt.In(0) != contextType || mt.NumOut() != 2 || mt.Out(1) != errorType || mt.IsVariadic() {
		return none, fmt.Errorf("%s.%s is %s: a tool is func(context.Context, A) (R, error)", rv.Type(), name, mt)
	}
	t, err := newTool(snake(name), doc, mt.In(1), mt.Out(0), opts)
	if err != nil {
		return none, err
	}
	return goTool(t, opts, func() any { return reflect.New(mt.In(1)).Interface() }, func(ctx context.Context, in any) (any, error) {
		out := m.Call([]reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(in).Elem()})
		err, _ := out[1].Interface().(error)
		return out[0].Interface(), err
	}), nil
}

// newTool derives the types of a tool from those of its function.
func newTool(name, doc string, in, out reflect.Type, opts []govalue.Option) (t agent.Tool, err error) {
	if bad := strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
	}); name == "" || bad >= 0 || unicode.IsDigit(rune(name[0])) {
		return t, fmt.Errorf("a script cannot name the tool %q: use letters, digits and _", name)
	}
	if in.Kind() != reflect.Struct {
		return t, fmt.Errorf("tool %q takes %s, want a struct: its fields are the tool's parameters", name, in)
	}
	params, err := govalue.TypeOf(in, goOptions(opts)...)
	if err != nil {
		return t, fmt.Errorf("the parameters of tool %q: %w", name, err)
	}
	if params.Deref().Kind != generable.RecordType {
		return t, fmt.Errorf("tool %q takes %s, which writes its own JSON: want a struct whose fields are the tool's parameters", name, in)
	}
	returns, err := govalue.TypeOf(out, goOptions(opts)...)
	if err != nil {
		return t, fmt.Errorf("the result of tool %q: %w", name, err)
	}
	return agent.Tool{Name: name, Doc: doc, Params: params.Deref(), Returns: returns, Class: engine.ClassOnce}, nil
}

func goOptions(opts []govalue.Option) []govalue.Option {
	return append([]govalue.Option{govalue.Durations()}, opts...)
}

// ToolCall returns which call of which run a function that [ToolFunc] made a tool serves. call.Run + "/" + call.ID is
// an idempotency key for what must not be done twice.
func ToolCall(ctx context.Context) (call agent.ToolCallInfo, ok bool) {
	call, ok = ctx.Value(toolCallKey{}).(agent.ToolCallInfo)
	return call, ok
}

type toolCallKey struct{}

// nearest suggests a method with a similar name.
func nearest(t reflect.Type, name string) string {
	var names []string
	for i := range t.NumMethod() {
		names = append(names, t.Method(i).Name)
	}
	if hint := diag.DidYouMean(name, names); hint != "" {
		return "; " + hint
	}
	if t.Kind() == reflect.Struct {
		return "; a pointer to it may have"
	}
	return ""
}

// snake converts the name of a method to that of a tool: FindNote to find_note, HTTPGet to http_get.
func snake(name string) string {
	var out strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}
