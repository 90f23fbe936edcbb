package setup

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/sample"
	"github.com/agentscript/agentscript/internal/input"
	"github.com/agentscript/agentscript/internal/text"
)

// Param is a parameter of def main as a flag.
type Param struct {
	of    generable.Field
	given bool
	value generable.Value
	items []generable.Value // for a list: all values of its flag, in their order
	bare  bool              // all of them were given one by one
}

// MainParams returns the parameters of main, or none if main is a node.
func (s *Script) MainParams() []*Param {
	if s.MainEntry == nil {
		return nil
	}
	params := make([]*Param, len(s.MainEntry.Params))
	for i, p := range s.MainEntry.Params {
		params[i] = &Param{of: p}
	}
	return params
}

// ParamValues returns the words that the flag of a parameter of main accepts, or none if it accepts anything. It
// returns false if main has no such parameter. A bool has a value only in one word with its flag.
func (s *Script) ParamValues(flag string, inOne bool) ([]string, bool) {
	for _, p := range s.MainParams() {
		if p.flag() != flag {
			continue
		}
		switch t := p.core(); {
		case t.Kind == generable.EnumType:
			return t.Values, true
		case p.isBool() && inOne:
			return []string{"true", "false"}, true
		}
		return nil, true
	}
	return nil, false
}

// flag returns the flag's name.
func (p *Param) flag() string { return flagOf(p.of.Name) }

func flagOf(param string) string { return strings.ReplaceAll(param, "_", "-") }

func (p *Param) addTo(set *pflag.FlagSet) {
	f := set.VarPF(p, p.flag(), "", p.of.Guide)
	if p.isBool() {
		f.NoOptDefVal = "true"
		no := "no-" + p.flag()
		set.BoolFunc(no, "", func(text string) error {
			off, err := readFlag(text, generable.BoolT, false)
			if is, _ := off.AsBool(); err == nil {
				err = p.Set(strconv.FormatBool(!is))
			}
			return err
		})
		set.Lookup(no).Hidden = true
	}
}

func (p *Param) core() *generable.Type { return withoutNone(p.of.Type) }

func withoutNone(t *generable.Type) *generable.Type {
	t = t.Deref()
	if t.Kind == generable.OneOfType && len(t.Variants) == 2 && t.Variants[1].Kind == generable.NoneType {
		return t.Variants[0].Deref()
	}
	return t
}

func (p *Param) isBool() bool { return p.core().Kind == generable.BoolType }

// Set implements [pflag.Value].
func (p *Param) Set(text string) error { return p.set(text, true) }

// set sets the value; named allows a picture to be the name of a file.
func (p *Param) set(text string, named bool) error {
	t := p.core()
	if t.Kind == generable.ListType && !strings.HasPrefix(strings.TrimSpace(text), "[") {
		item, err := readFlag(text, t.Elem, named)
		if err != nil {
			return fmt.Errorf("an item of %s: %w", t, err)
		}
		p.bare = p.bare || !p.given
		p.items = append(p.items, item)
		p.given, p.value = true, generable.NewList(p.items).Value()
		return nil
	}
	v, err := readFlag(text, p.of.Type, named)
	if err != nil {
		return err
	}
	if more, ok := v.AsList(); ok && t.Kind == generable.ListType {
		for i := range more.Len() {
			p.items = append(p.items, more.At(i))
		}
		v = generable.NewList(p.items).Value()
	}
	p.given, p.value, p.bare = true, v, false
	return nil
}

// Unsplit returns a warning for each list that was given one text with commas, as if they separated items.
func Unsplit(params []*Param) (found diag.List) {
	for _, p := range params {
		if len(p.items) != 1 || !p.bare {
			continue
		}
		item, _ := p.items[0].AsStr()
		parts := strings.Split(item, ",")
		if len(parts) < 2 || strings.ContainsAny(item, " \n") { // a sentence
			continue
		}
		again := " --" + p.flag() + " "
		found = append(found, &diag.Diagnostic{Severity: diag.Warning, Message: fmt.Sprintf("--%s has one item, %q: a comma does not divide it", p.flag(), item),
			Help: []string{"write" + again + strings.Join(parts, again) + " for several"}})
	}
	return found
}

// String implements [pflag.Value].
func (p *Param) String() string { return "" }

// Type implements [pflag.Value].
func (p *Param) Type() string { return p.of.Type.String() }

// readFlag reads a value from the command line like a member of a JSON input, except that a text needs no quotes.
func readFlag(text string, t *generable.Type, named bool) (generable.Value, error) {
	core := withoutNone(t)
	want := wanted[core.String()]
	switch core.Kind {
	case generable.BoolType:
		if b, err := strconv.ParseBool(text); err == nil { // t and f too
			return generable.BoolOf(b), nil
		}
	case generable.EnumType:
		want = "one of " + strings.Join(core.Values, ", ")
	}
	v, err := readText(text, t, named)
	if err == nil {
		return v, nil
	}
	if core.Kind == generable.RecordType && !wantsPicture(t) && !strings.HasPrefix(strings.TrimSpace(text), "{") {
		want = input.Shown(core)
	}
	if want != "" {
		return v, &FlagError{fmt.Sprintf("want %s, got %q", want, text)}
	}
	return v, &FlagError{strings.TrimPrefix(err.Error(), "the input ")}
}

// example returns the flag with a value: JSON for a schema, otherwise the type.
func (p *Param) example() string {
	flag, _ := p.Help()
	if v, err := sample.Skeleton(p.core()); err == nil && p.core().Kind == generable.RecordType {
		return "--" + p.flag() + " " + text.ShellWord(generable.JSON(v, p.core()))
	}
	return flag
}

// Help returns the parameter's entry in the script's usage: the flag, and its meaning.
func (p *Param) Help() (flag, text string) {
	flag = "--" + p.flag()
	switch t := p.core(); {
	case t.Kind == generable.BoolType:
	case t.Kind == generable.EnumType:
		flag += " " + strings.Join(t.Values, "|")
	default:
		flag += " " + p.Type()
	}
	if text = p.of.Guide; p.core().Kind == generable.RecordType {
		_, fields, _ := strings.Cut(input.Shown(p.core()), ", ")
		text = strings.TrimSpace(text + " " + fields)
	}
	def := generable.JSON(p.of.Default, p.of.Type)
	switch {
	case !p.of.Optional:
		text += " (required)"
	case !slices.Contains([]string{"null", "false", `""`, "[]", "{}"}, def):
		text += " (default " + def + ")"
	}
	if p.core().Kind == generable.ListType {
		text += " (repeatable, an item each)"
	}
	return flag, strings.TrimSpace(text)
}
