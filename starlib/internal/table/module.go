package table

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// Capabilities maps the modules through which a script acts on the outside world to the kinds of their effects.
var Capabilities = map[string]engine.EffectKind{"sh": engine.EffectExec, "http": engine.EffectHTTP, "fs": engine.EffectFS, "env": engine.EffectEnv}

// ModuleValue is a predeclared module.
type ModuleValue struct {
	value.Plain
	Name    string
	Members map[string]*Builtin
}

func (m *ModuleValue) String() string { return "<module " + m.Name + ">" }

func (m *ModuleValue) Type() string { return "module" }

func (m *ModuleValue) Hash() (uint32, error) { return starlark.String(m.Name).Hash() }

func (m *ModuleValue) AttrNames() []string { return Names(m.Members) }

func (m *ModuleValue) Attr(name string) (starlark.Value, error) {
	if b := m.Members[name]; b != nil {
		return b.Callable(), nil
	}
	e := value.NoAttribute(m.Name, name, m.AttrNames())
	if own := otherJSON[name]; own != "" {
		e.Help = "write json." + own
	}
	return nil, e
}

// ModuleRow returns the row of a predeclared module, whose members are separate rows.
func ModuleRow(name string, group Group, effect Effect, doc string) Builtin {
	return Builtin{Name: name, Group: group, Returns: "module", Effect: effect, Doc: doc, Make: func(_ *script.State, t *Table) starlark.Value {
		return &ModuleValue{Name: name, Members: t.Of[name]}
	}}
}

// otherJSON maps names in other languages to the members of json.
var otherJSON = map[string]string{"loads": "decode", "load": "decode", "parse": "decode", "read": "decode",
	"dumps": "encode", "dump": "encode", "stringify": "encode", "write": "encode"}

// Maker returns the value of a row whose name has members.
func Maker(t *Table, name string) starlark.Value {
	row, _ := t.Lookup(name)
	return &value.Maker{Builtin: row.Callable(), Members: &ModuleValue{Name: name, Members: t.Of[name]}}
}
