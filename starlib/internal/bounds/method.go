package bounds

import (
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/starlib/internal/value"
)

// growingMethods lists the methods whose result may be larger than their arguments.
var growingMethods = []string{"extend", "format", "join", "replace", "rsplit", "split", "splitlines"}

func growingMethod(name string) bool { return slices.Contains(growingMethods, name) }

// owner stands for a text or list while one of its methods is looked up. It contains the method: the
// interpreter looks it up once per call.
type owner struct {
	starlark.HasAttrs
	limit *limit
	bound starlark.Builtin
}

func (l *limit) owner(v starlark.Value) starlark.Value {
	switch v.(type) {
	case starlark.String, *starlark.List:
		return &owner{HasAttrs: v.(starlark.HasAttrs), limit: l}
	}
	return v
}

func (o *owner) Attr(name string) (starlark.Value, error) {
	growing := o.limit.methods[name]
	if growing == nil || !has(o.HasAttrs, name) {
		return o.HasAttrs.Attr(name)
	}
	o.bound = *growing.BindReceiver(o.HasAttrs)
	return &o.bound, nil
}

// has reports whether a text or list has a growing method; all but one are methods of texts.
func has(v starlark.Value, name string) bool {
	_, list := v.(*starlark.List)
	return list == (name == "extend")
}

// makeMethods returns the growing methods, which check the limit first.
func (l *limit) makeMethods() map[string]*starlark.Builtin {
	made := map[string]*starlark.Builtin{}
	for _, name := range growingMethods {
		made[name] = starlark.NewBuiltin(name, func(thread *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			if err := l.method(b.Receiver(), name, args, kwargs); err != nil {
				return nil, err
			}
			own, err := b.Receiver().(starlark.HasAttrs).Attr(name)
			if err != nil {
				return nil, err
			}
			return own.(*starlark.Builtin).CallInternal(thread, args, kwargs)
		})
	}
	return made
}

// method rejects a call whose result would be too large. Invalid arguments are left to the method to report.
func (l *limit) method(of starlark.Value, name string, args starlark.Tuple, kwargs []starlark.Tuple) error {
	if list, ok := of.(*starlark.List); ok {
		size := sizeOf(list)
		if len(args) == 1 {
			size += int64(max(0, starlark.Len(args[0]))) * itemBytes
		}
		return l.made("the list", size)
	}
	s := string(of.(starlark.String))
	switch name {
	case "format":
		return l.format(s, args, kwargs)
	case "join":
		return l.join(s, args)
	case "replace":
		return l.replace(s, args)
	case "splitlines":
		return l.made("the list", int64(strings.Count(s, "\n")+1)*2*itemBytes)
	}
	return l.split(s, args)
}

func (l *limit) made(what string, size int64) error {
	if size > l.most {
		return l.refuse(what, size)
	}
	return nil
}

func (l *limit) join(sep string, args starlark.Tuple) error {
	if len(args) != 1 {
		return nil
	}
	parts, ok := args[0].(starlark.Iterable)
	if !ok {
		return nil
	}
	size := int64(-len(sep))
	for part := range starlark.Elements(parts) {
		s, ok := part.(starlark.String)
		if !ok {
			return nil // the method reports the error
		}
		size += int64(len(sep) + len(s))
	}
	return l.made("the text", size)
}

func (l *limit) replace(s string, args starlark.Tuple) error {
	if len(args) < 2 {
		return nil
	}
	old, isText := args[0].(starlark.String)
	with, withText := args[1].(starlark.String)
	if !isText || !withText || len(with) <= len(old) {
		return nil
	}
	times := int64(strings.Count(s, string(old)))
	if len(args) > 2 {
		if most, err := starlark.AsInt32(args[2]); err == nil && most >= 0 {
			times = min(times, int64(most))
		}
	}
	grown := int64(len(with) - len(old))
	if times > 0 && grown > l.most/times+1 {
		return l.refuse("the text", l.most+1)
	}
	return l.made("the text", int64(len(s))+times*grown)
}

// split counts the parts of a text, each of which becomes a text of the list.
func (l *limit) split(s string, args starlark.Tuple) error {
	if int64(len(s)+1)*2*itemBytes <= l.most {
		return nil
	}
	parts := 0
	sep, byText := starlark.String(""), false
	if len(args) > 0 {
		sep, byText = args[0].(starlark.String)
	}
	if byText && sep != "" {
		parts = strings.Count(s, string(sep)) + 1
	} else if !byText {
		for range strings.FieldsSeq(s) {
			parts++
		}
	}
	if len(args) > 1 {
		if most, err := starlark.AsInt32(args[1]); err == nil && most >= 0 {
			parts = min(parts, most+1)
		}
	}
	return l.made("the list", int64(parts)*2*itemBytes)
}

// percent rejects format % y if the text would be too long.
func (l *limit) percent(format string, y starlark.Value) error {
	if !strings.Contains(format, "%") {
		return nil
	}
	dict, named := y.(starlark.Mapping)
	args, several := y.(starlark.Tuple)
	if !several {
		args = starlark.Tuple{y}
	}
	size, next := int64(len(format)), 0
	for rest := format; ; {
		_, after, more := strings.Cut(rest, "%")
		if !more || after == "" {
			break
		}
		var arg starlark.Value
		switch {
		case after[0] == '%':
			rest = after[1:]
			continue
		case after[0] == '(' && named:
			name, behind, closed := strings.Cut(after[1:], ")")
			if !closed {
				return nil // the interpreter reports the error
			}
			arg, _, _ = dict.Get(starlark.String(name))
			rest = behind
		default:
			if next < len(args) {
				arg = args[next]
			}
			next++
			rest = after
		}
		if err := l.printed(&size, arg); err != nil {
			return err
		}
	}
	return nil
}

// format rejects s.format(…) if the text would be too long.
func (l *limit) format(s string, args starlark.Tuple, kwargs []starlark.Tuple) error {
	size, next := int64(len(s)), 0
	for rest := s; ; {
		_, after, more := strings.Cut(rest, "{")
		if !more {
			return nil
		}
		if strings.HasPrefix(after, "{") {
			rest = after[1:]
			continue
		}
		field, behind, closed := strings.Cut(after, "}")
		if !closed {
			return nil // the interpreter reports the error
		}
		rest = behind
		if i := strings.IndexAny(field, "!:"); i >= 0 {
			field = field[:i]
		}
		var arg starlark.Value
		n, err := strconv.Atoi(field)
		switch {
		case field == "":
			n = next
			next++
			fallthrough
		case err == nil:
			if n >= 0 && n < len(args) {
				arg = args[n]
			}
		default:
			for _, kv := range kwargs {
				if name, ok := kv[0].(starlark.String); ok && string(name) == field {
					arg = kv[1]
				}
			}
		}
		if err := l.printed(&size, arg); err != nil {
			return err
		}
	}
}

// printed adds the length of a value's text to size.
func (l *limit) printed(size *int64, v starlark.Value) error {
	if v == nil {
		return nil
	}
	n, err := value.Printed(v, l.most)
	if err != nil {
		return err
	}
	*size += n
	return l.made("the text", *size)
}
