package value

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/script"
)

// Partial is an instance that arrives field by field. It is immutable.
type Partial struct {
	Plain
	Partial generable.Partial
	State   *script.State
}

func (p *Partial) String() string {
	text := "partial(" + p.Partial.Type().String()
	for _, name := range p.Partial.ArrivedFieldNames() {
		v, _ := p.Partial.Get(name)
		text += ", " + name + " = " + FromData(v).String()
	}
	return text + ")"
}

func (p *Partial) Type() string { return "partial" }

func (p *Partial) Hash() (uint32, error) {
	return starlark.String(p.String()).Hash()
}

func (p *Partial) Attr(name string) (starlark.Value, error) {
	if name == "arrived_field_names" {
		return Texts(p.Partial.ArrivedFieldNames()), nil
	}
	return Method(p.State, "partial", "a partial value", name, p)
}

func (p *Partial) AttrNames() []string {
	return append(p.State.Methods.MethodNames("partial"), "arrived_field_names")
}

// Get implements p["field"]. It returns an error if the field has not arrived.
func (p *Partial) Get(key starlark.Value) (starlark.Value, bool, error) {
	name, _ := key.(starlark.String)
	v, ok := p.Partial.Get(string(name))
	if !ok {
		return nil, false, NoAttribute("the partial "+p.Partial.Type().String(), string(name), p.Partial.ArrivedFieldNames())
	}
	return FromData(v), true, nil
}
