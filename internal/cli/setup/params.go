package setup

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/input"
)

// Param is a parameter of def main as a flag.
type Param struct {
	name     string
	typ      *generable.Type
	doc      string
	def      string // the default as JSON, "" when there is none
	required bool

	given bool
	value generable.Value
	items []generable.Value // of a list that is given item by item
}

// MainParams are the parameters of main, none when it is a node.
func (s *Script) MainParams() []*Param {
	if s.MainEntry == nil {
		return nil
	}
	var params []*Param
	for _, p := range s.MainEntry.Params {
		own := &Param{name: p.Name, typ: p.Type, doc: p.Guide, required: !p.Optional}
		if p.Optional && !p.Default.IsNull() {
			own.def = generable.JSON(p.Default, p.Type)
		}
		params = append(params, own)
	}
	return params
}

// flag is the flag's name.
func (p *Param) flag() string { return strings.ReplaceAll(p.name, "_", "-") }

func (p *Param) addTo(set *pflag.FlagSet) {
	f := set.VarPF(p, p.flag(), "", p.doc)
	if p.isBool() {
		f.NoOptDefVal = "true"
		no := "no-" + p.flag()
		set.BoolFunc(no, "", func(text string) error {
			off, err := readFlag(text, generable.BoolT)
			if is, _ := off.AsBool(); err == nil {
				err = p.Set(strconv.FormatBool(!is))
			}
			return err
		})
		set.Lookup(no).Hidden = true
	}
}

// core is the type without None.
func (p *Param) core() *generable.Type {
	t := p.typ.Deref()
	if t.Kind == generable.OneOfType && len(t.Variants) == 2 && t.Variants[1].Kind == generable.NoneType {
		return t.Variants[0].Deref()
	}
	return t
}

func (p *Param) isBool() bool { return p.core().Kind == generable.BoolType }

// Set implements [pflag.Value].
func (p *Param) Set(text string) error {
	t := p.core()
	if t.Kind == generable.ListType && !strings.HasPrefix(strings.TrimSpace(text), "[") {
		item, err := readFlag(text, t.Elem)
		if err != nil {
			return err
		}
		p.items = append(p.items, item)
		p.given, p.value = true, generable.NewList(p.items).Value()
		return nil
	}
	v, err := readFlag(text, p.typ)
	if err != nil {
		return err
	}
	p.given, p.value, p.items = true, v, nil
	return nil
}

// String implements [pflag.Value].
func (p *Param) String() string { return "" }

// Type implements [pflag.Value].
func (p *Param) Type() string { return p.typ.String() }

// readFlag reads a value from the command line. Numbers and truth values are taken as they
// are written; everything else as the engine reads an input.
func readFlag(text string, t *generable.Type) (generable.Value, error) {
	core := (&Param{typ: t}).core()
	wrong := func(want string) error { return &FlagError{fmt.Sprintf("want %s, got %q", want, text)} }
	switch core.Kind {
	case generable.BoolType:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return generable.Value{}, wrong(wanted["bool"])
		}
		return generable.BoolOf(b), nil
	case generable.IntType, generable.FloatType:
		res := lenient.Decode(core, text, generable.Options{Level: generable.Strict})
		if !res.OK {
			return generable.Value{}, wrong(core.String())
		}
		return res.Value, nil
	case generable.EnumType:
		v := generable.StrOf(text)
		if core.Conforms(v) != nil {
			return v, wrong("one of " + strings.Join(core.Values, ", "))
		}
		return v, nil
	}
	v, err := input.Text(text, t)
	if err != nil {
		return v, &FlagError{strings.TrimPrefix(err.Error(), "the input is ")}
	}
	return v, nil
}

// Help is the parameter's entry in the script's usage: the flag, and what it means.
func (p *Param) Help() (flag, text string) {
	flag = "--" + p.flag()
	switch t := p.core(); {
	case t.Kind == generable.BoolType:
	case t.Kind == generable.EnumType:
		flag += " " + strings.Join(t.Values, "|")
	default:
		flag += " " + p.typ.String()
	}
	text = p.doc
	switch {
	case p.required:
		text += " (required)"
	case p.def != "" && !slices.Contains([]string{"false", `""`, "[]", "{}"}, p.def):
		text += " (default " + p.def + ")"
	}
	if p.core().Kind == generable.ListType {
		text += " (repeatable)"
	}
	return flag, strings.TrimSpace(text)
}
