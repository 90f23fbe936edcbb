// Package input reads the input of a run from text, as passed by a command line or a host, and words the errors in it.
package input

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/generable/sample"
)

// options set how input is read: like models' answers, except that a key that is not a field is a mistake of the
// writer, and of several values none is ignored.
var options = generable.Options{ExtraKeys: generable.ExtraError, Pick: generable.PickError}

// cutOff are the repairs that make a value of a text which ends early or leaves something out. They are accepted in a
// model's answer, but an input that needs one contains less than its writer meant.
var cutOff = map[string]string{
	"truncated": "it is cut off", "missing-closer": "a bracket is not closed", "missing-value": "a value is missing", "ellipsis": "something is left out",
}

// Text reads a value of type t from text: a str verbatim, a value of an enum exactly or almost exactly, everything else
// as JSON, in which flaws such as single quotes and numbers in quotes are repaired. Keys that are not fields are
// errors, AS716 like everything that does not fit, with line and column.
func Text(text string, t *generable.Type) (generable.Value, error) {
	if of := enum(t); of != nil && of.Conforms(generable.StrOf(text)) != nil {
		return read(text, t)
	}
	if t.AcceptsText() {
		return generable.StrOf(text), CheckUTF8("the input", "", generable.StrOf(text))
	}
	return read(text, t)
}

// JSON is [Text] for a text that is JSON even if t accepts a str.
func JSON(text string, t *generable.Type) (generable.Value, error) {
	if !t.AcceptsText() || enum(t) != nil {
		return read(text, t)
	}
	v, err := read(text, generable.AnyT)
	if err != nil {
		return v, err
	}
	out, errs := t.Convert(v)
	if errs != nil {
		return out, unfit(t, errs)
	}
	return out, nil
}

// enum returns the enum that t is, possibly in a union with None, or nil.
func enum(t *generable.Type) *generable.Type {
	t = t.Deref()
	if t.Kind == generable.OneOfType && len(t.Variants) == 2 && t.Variants[1].Kind == generable.NoneType {
		t = t.Variants[0].Deref()
	}
	if t.Kind != generable.EnumType {
		return nil
	}
	return t
}

func read(text string, t *generable.Type) (generable.Value, error) {
	if err := CheckUTF8("the input", "", generable.StrOf(text)); err != nil {
		return generable.Value{}, err
	}
	res := lenient.Decode(t, text, options)
	end := len(strings.TrimSpace(text))
	for _, r := range res.Repairs {
		why := cutOff[r.Kind]
		if r.Kind == "missing-quote" && r.Offset >= end {
			why = "a quote is not closed"
		}
		if why != "" {
			line, col := place(text, r.Offset)
			return res.Value, engine.Errorf(engine.KindInput, diag.BadInput, "the input is JSON that is not whole: %s at line %d, column %d", why, line, col).
				WithHelp("write all of it; quotes around it keep a shell from taking it apart")
		}
	}
	if !res.OK {
		return res.Value, unfit(t, res.Errors)
	}
	if err := more(text, t, &res); err != nil {
		return res.Value, err
	}
	if found := keyed(text, res.Repairs); found != nil {
		return res.Value, unfit(t, found)
	}
	return res.Value, nil
}

// besides are the repairs that skip something around the value.
var besides = map[string]bool{"prose": true, "reasoning": true, "not-chosen": true, "dropped": true, "extra-closer": true, "sequence": true}

// more rejects an input with more than one value: there is something around it, or it was made of several.
func more(text string, t *generable.Type, res *lenient.Result) error {
	begin := len(text) - len(strings.TrimLeft(text, " \t\r\n\ufeff"))
	_, several := res.Value.AsList()
	several = several && !takesList(t) // otherwise values without brackets, or one per line, are its items
	for _, r := range res.Repairs {
		switch at := min(r.Offset, len(text)); {
		case several && r.Path == "" && (r.Kind == "missing-brackets" || r.Kind == "sequence"):
			return around("it is more than one value")
		case r.Kind == "sequence" || !besides[r.Kind]:
		case at <= begin:
			return around("it begins with what is no part of its value")
		default:
			at += len(text[at:]) - len(strings.TrimLeft(text[at:], " \t\r\n,"))
			line, col := place(text, at)
			return around("more follows its value at line %d, column %d", line, col)
		}
	}
	if last := strings.TrimRight(text, " \t\r\n"); begin < len(last) && strings.ContainsRune("{[", rune(text[begin])) && strings.HasSuffix(last, ",") {
		line, col := place(text, len(last)-1)
		return around("more follows its value at line %d, column %d", line, col)
	}
	return nil
}

func takesList(t *generable.Type) bool {
	t = t.Deref()
	return t.Kind == generable.ListType || slices.ContainsFunc(t.Variants, func(v *generable.Type) bool { return v.Deref().Kind == generable.ListType })
}

func around(format string, args ...any) error {
	return engine.Errorf(engine.KindInput, diag.BadInput, "the input is to be one value: "+format, args...).WithHelp("give that value alone")
}

// keyed returns what is wrong with objects that were read as the single value they contain: their keys are not fields.
func keyed(text string, repairs []generable.Repair) (found generable.FieldErrors) {
	for _, r := range repairs {
		if r.Kind == "unwrap" {
			line, col := place(text, r.Offset)
			found = append(found, &generable.FieldError{Path: r.Path, Expected: "no key here", Got: strconv.Quote(r.Before), Offset: r.Offset, Line: line, Col: col})
		}
	}
	return found
}

// place returns the line and the column, in characters, of an offset in a text.
func place(text string, offset int) (line, col int) {
	before := text[:min(max(offset, 0), len(text))]
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
}

func unfit(t *generable.Type, errs generable.FieldErrors) error {
	return engine.Errorf(engine.KindInput, diag.BadInput, "the input does not fit %s: %w", t, errs).WithHelp("main takes %s", Shown(t))
}

// Shown formats a type for people, a schema with its fields.
func Shown(t *generable.Type) string {
	d := t.Deref()
	switch d.Kind {
	case generable.RecordType:
	case generable.EnumType:
		return t.String() + ", one of " + strings.Join(d.Values, ", ")
	case generable.ListType, generable.DictType, generable.UnionType, generable.OneOfType:
		if v, err := sample.Skeleton(t); err == nil {
			return t.String() + ", such as " + generable.JSON(v, t)
		}
		return t.String()
	default:
		return t.String()
	}
	fields := make([]string, len(d.Fields))
	for i := range d.Fields {
		fields[i] = d.Fields[i].Name + ": " + d.Fields[i].Type.String()
		if !d.Fields[i].Required() {
			fields[i] += " (may be left out)"
		}
	}
	return t.String() + ", JSON with " + strings.Join(fields, ", ")
}

// Args reads a JSON object of arguments, by the names of parameters. It omits parameters that the object does not name.
func Args(text string, params []generable.Field) (map[string]any, error) {
	whole, err := read(text, generable.AnyT)
	if err != nil {
		return nil, err
	}
	if _, ok := whole.AsMap(); !ok {
		return nil, engine.Errorf(engine.KindInput, diag.BadInput, "the arguments of main are an object, not %s", whole.TypeName()).
			WithHelp(`write {"%s": ...}`, firstOf(params))
	}
	absent := generable.NewRecord(&generable.Type{Kind: generable.RecordType, Name: "absent"}, nil)
	t := &generable.Type{Kind: generable.RecordType, Name: "main"}
	for _, p := range params {
		t.Fields = append(t.Fields, generable.Field{Name: p.Name, Type: p.Type, Guide: p.Guide, Optional: true, Default: absent.Value()})
	}
	res := lenient.Decode(t, text, options)
	if !res.OK {
		return nil, engine.Errorf(engine.KindInput, diag.BadInput, "the arguments do not fit main: %w", res.Errors)
	}
	if found := keyed(text, res.Repairs); found != nil {
		return nil, engine.Errorf(engine.KindInput, diag.BadInput, "the arguments do not fit main: %w", found)
	}
	args := map[string]any{}
	given, _ := res.Value.AsRecord()
	for _, p := range params {
		v, _ := given.Get(p.Name)
		if r, ok := v.AsRecord(); !ok || r.Type() != absent.Type() {
			args[p.Name] = v
		}
	}
	return args, nil
}

func firstOf(params []generable.Field) string {
	if len(params) == 0 {
		return "name"
	}
	return params[0].Name
}
