package data

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

func streamRows() []table.Builtin {
	method := func(name, returns, doc string, f func(*table.Call, *streamValue) (starlark.Value, error), params ...table.Param) table.Builtin {
		return table.Builtin{Name: name, Of: "stream", Group: table.GroupTypes, Params: params, Returns: returns, Doc: doc, Effect: table.Pure,
			Func: func(c *table.Call) (starlark.Value, error) {
				s := c.Receiver.(*streamValue)
				if s.frozen {
					return nil, script.Errorf(diag.ScriptError, "this stream is frozen: nothing can be fed to it any more").
						WithHelp("make it where it is fed: s = T.stream() in the same function")
				}
				return f(c, s)
			}}
	}
	var options []table.Param
	for _, p := range decodeParams {
		if p.Name != "partial" { // close reports whether the text was cut
			options = append(options, p)
		}
	}
	return []table.Builtin{
		{Name: "stream", Of: "type", Group: table.GroupTypes, Returns: "stream", Effect: table.Pure, Func: streamFunc,
			Params: append(options, table.Opt("min_text", table.CountKind, "0", "how many bytes a text must grow by before feed reports it")),
			Doc:    "Returns a decoder for a text that arrives in pieces. It has the options of decode."},
		method("feed", "list", "Adds a piece of the text, which may end anywhere, and returns a list of events that report what it adds to the value. Each event has .kind (text, field, item, variant, repair, reset), .path, .text and .value. A reset voids everything reported before. A closed stream accepts no more text.",
			streamFeed, table.Param{Name: "text", Kind: table.StrKind, Doc: "what arrived"}),
		method("snapshot", "value", "Returns what is known of the value. Parts that have not arrived are absent, an instance is a dict until its fields are there, and the value is None as long as nothing is known.", streamSnapshot),
		method("partial", "partial", "Returns what is known of a schema or union, field by field.", streamPartial),
		method("state", "str", `Returns how much has arrived of a path such as ".steps[2].title": "pending", "incomplete" or "complete". A path that the type does not have is an error.`,
			streamState, table.Param{Name: "path", Kind: table.StrKind, Default: `""`, Doc: "where in the value; empty for the whole value"}),
		method("close", "Decoded", "Ends the text and returns the result of decoding it, like decode.",
			streamClose, table.Opt("cut", table.BoolKind, "False", "whether the text was cut off; the value then holds what is known of it")),
	}
}

var streamPolicy = table.OneOf(generable.StreamWords()...)

// streamParam returns the parameter for the stream policy of a value.
func streamParam(name, doc string) table.Param {
	return table.Param{Name: name, Kind: table.AnyOf(streamPolicy, table.ListOf(streamPolicy)), Shape: table.KeywordOnly, Default: "None", Doc: doc}
}

// policy reads such a parameter.
func policy(c *table.Call, name string) (out generable.StreamPolicy) {
	for _, word := range c.Texts(name) {
		p, _ := generable.StreamPolicyOf(word)
		out |= p
	}
	return out
}

// streamed applies the policy of a parameter to a type, with [generable.Streamed] or [generable.StreamedItems].
func streamed(c *table.Call, name string, t *generable.Type, with func(*generable.Type, generable.StreamPolicy) (*generable.Type, *generable.FieldError)) *generable.Type {
	t, err := with(t, policy(c, name))
	if err != nil {
		c.Problemf(diag.BadField, c.ArgSpan(name), "%s: want %s, got %s", name, err.Expected, err.Got).Advise(err.Hint)
	}
	return t
}

// streamValue is a text that is decoded while it arrives. It belongs to the code that made it: once it is frozen, no
// more text can be fed.
type streamValue struct {
	s      *lenient.Stream
	t      *generable.Type
	c      *script.State
	events []generable.Value
	frozen bool
	closed bool
}

var _ starlark.HasAttrs = (*streamValue)(nil)

func (s *streamValue) String() string { return "stream(" + s.t.String() + ")" }

func (s *streamValue) Type() string { return "stream" }

func (s *streamValue) Freeze() { s.frozen = true }

func (s *streamValue) Truth() starlark.Bool { return true }

func (s *streamValue) Hash() (uint32, error) {
	return 0, script.Errorf(diag.ScriptError, "a stream cannot be a key")
}

func (s *streamValue) Attr(name string) (starlark.Value, error) {
	return value.Method(s.c, "stream", "a stream", name, s)
}

func (s *streamValue) AttrNames() []string { return s.c.Methods.MethodNames("stream") }

func streamFunc(c *table.Call) (starlark.Value, error) {
	o, err := decodeOptions(c)
	if err != nil || len(c.Problems) > 0 {
		return nil, err
	}
	s := &streamValue{t: self(c), c: c.State}
	s.s = lenient.NewStream(s.t, lenient.StreamOptions{Options: o, MinText: c.Int("min_text", 0), On: s.on})
	return s, nil
}

// on keeps an event for feed.
func (s *streamValue) on(e *lenient.StreamEvent) {
	if e.Kind == lenient.StreamDone {
		return
	}
	text, v := e.Text, e.Value
	if e.Repair != nil {
		text = e.Repair.Kind
	}
	s.events = append(s.events, value.InstanceOf(value.StreamEventType, generable.StrOf(e.Kind.String()), generable.StrOf(e.Path()), generable.StrOf(text), v))
}

func streamFeed(c *table.Call, s *streamValue) (starlark.Value, error) {
	if s.closed {
		return nil, script.Errorf(diag.ScriptError, "this stream is closed: nothing can be fed to it any more").
			WithHelp("make another for the next text: s = T.stream()")
	}
	s.events = nil
	s.s.Feed(c.Str("text"))
	return value.FromData(generable.ListOf(s.events...)), nil
}

func streamSnapshot(_ *table.Call, s *streamValue) (starlark.Value, error) {
	return value.FromData(s.s.Snapshot()), nil
}

func streamPartial(_ *table.Call, s *streamValue) (starlark.Value, error) {
	p, ok := s.s.Partial()
	if !ok {
		return nil, script.Errorf(diag.WrongArgument, "%s does not arrive field by field", s.t).WithHelp("snapshot() shows what is known of it")
	}
	return &value.Partial{Partial: p, State: s.c}, nil
}

func streamState(c *table.Call, s *streamValue) (starlark.Value, error) {
	path := c.Str("path")
	if err := s.t.CheckPath(path); err != nil {
		return nil, script.Errorf(diag.WrongArgument, "no such place in %s: %s", s.t, err)
	}
	return starlark.String(s.s.State(path).String()), nil
}

func streamClose(c *table.Call, s *streamValue) (starlark.Value, error) {
	s.closed = true
	if c.Bool("cut", false) {
		return decodedValue(s.s.CloseCut()), nil
	}
	return decodedValue(s.s.Close()), nil
}
