package generable

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/agentscript/agentscript/generable/internal/naming"
	"github.com/agentscript/agentscript/internal/text"
)

// maxID is the length beyond which an identity is replaced by its digest.
const maxID = 512

// ID returns the identity of t, which is equal for types that are the same. For nominal types it consists of their
// name and a digest of their content.
func (t *Type) ID() string {
	if p := t.id.Load(); p != nil {
		return *p
	}
	var id string
	switch t.Kind {
	case ListType:
		id = "list[" + t.Elem.ID() + "]"
		for _, v := range t.Variants {
			id += "," + v.ID()
		}
	case LimitType:
		id = t.Elem.ID() + "{" + string(t.Limits.appendContent(nil)) + "}"
	case DictType:
		id = "dict[" + t.Elem.ID() + "]"
	case OneOfType:
		ids := text.Each(t.Variants, (*Type).ID)
		id = strings.Join(ids, "|")
	case RefType:
		// A reference is known only by its name: content would recurse.
		id = "ref:" + t.Name
	case RecordType, EnumType, UnionType:
		sum := sha256.Sum256(t.appendContent(nil))
		id = t.Name + "#" + hex.EncodeToString(sum[:8])
	default:
		id = t.String()
	}
	if len(id) > maxID {
		// Otherwise the identities of nested types would grow with each level.
		sum := sha256.Sum256([]byte(id))
		id = "#" + hex.EncodeToString(sum[:])
	}
	t.id.Store(&id)
	return id
}

// appendContent appends everything that distinguishes two nominal types, unambiguously.
func (t *Type) appendContent(b []byte) []byte {
	b = append(b, byte(t.Kind))
	for _, s := range []string{t.Name, t.Doc, t.Description, t.Tag} {
		b = strconv.AppendQuote(b, s)
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		b = append(b, 'f')
		b = strconv.AppendQuote(b, f.Name)
		b = strconv.AppendQuote(b, f.Type.ID())
		b = strconv.AppendQuote(b, f.Guide)
		b = strconv.AppendBool(b, f.Optional)
		b = append(AppendCanon(b, f.Default), ';')
		for _, a := range f.Alias {
			b = strconv.AppendQuote(append(b, 'a'), a)
		}
		for _, e := range f.Examples {
			b = append(AppendCanon(append(b, 'e'), e), ';')
		}
		b = f.Limits.appendContent(b)
		if f.Omit {
			b = append(b, 'o')
		}
		if f.AliasOnly {
			b = append(b, 'k')
		}
		if f.Dedent {
			b = append(b, 'd')
		}
		if f.Explicit {
			b = append(b, 'x')
		}
	}
	for _, v := range t.Variants {
		b = strconv.AppendQuote(append(b, 'v'), v.ID())
	}
	for i, s := range t.Values {
		b = strconv.AppendQuote(append(b, 'e'), s)
		if note := t.Note(i); t.Notes != nil {
			b = strconv.AppendQuote(append(b, 'n'), note.Doc)
			for _, a := range note.Alias {
				b = strconv.AppendQuote(append(b, 'a'), a)
			}
		}
	}
	return b
}

func (l *Limits) appendContent(b []byte) []byte {
	if l == nil {
		return append(b, '-')
	}
	for _, f := range []*float64{l.Ge, l.Le, l.Gt, l.Lt} {
		if f != nil {
			b = strconv.AppendFloat(b, *f, 'g', -1, 64)
		}
		b = append(b, ',')
	}
	for _, n := range []*int{l.MinLen, l.MaxLen} {
		if n != nil {
			b = strconv.AppendInt(b, int64(*n), 10)
		}
		b = append(b, ',')
	}
	if l.MultipleOf != nil {
		b = strconv.AppendFloat(append(b, 'm'), *l.MultipleOf, 'g', -1, 64)
	}
	if l.Unique {
		b = append(b, 'u')
	}
	if l.Only != nil {
		b = AppendCanon(append(b, 'o'), l.Only.Value())
	}
	if l.Check != nil {
		b = strconv.AppendQuote(b, l.Check.Says)
	}
	return strconv.AppendQuote(strconv.AppendQuote(append(b, ','), l.Pattern), l.Format)
}

// Same reports whether a and b are the same type.
func Same(a, b *Type) bool {
	a, b = a.resolved(), b.resolved()
	return a == b || (a.Kind == b.Kind && a.ID() == b.ID())
}

// artefacts are the texts derived from a type, made on first use. They are kept only once every reference inside the
// type is bound.
type artefacts struct {
	description, fragment, schemaText atomic.Pointer[string]
	schema                            atomic.Pointer[Value]
	names                             atomic.Pointer[*naming.Table]
	values                            atomic.Pointer[map[string]bool]
}

// kept returns the content of slot, or builds it. Two branches may build it at the same time; both build the same.
func kept[T any](t *Type, slot *atomic.Pointer[T], build func() T) T {
	if p := slot.Load(); p != nil {
		return *p
	}
	made := build()
	if len(Refs(t)) == 0 {
		slot.CompareAndSwap(nil, &made)
	}
	return made
}

// partNames returns the table of the names of a nominal type's parts: the fields of a schema, the values of an enum,
// the variants of a union. It is made once per type.
func (t *Type) partNames() *naming.Table {
	return kept(t, &t.made.names, func() *naming.Table { return tableOf(t) })
}

func tableOf(t *Type) *naming.Table {
	if t.Kind == RecordType {
		n := naming.NewTable(naming.Keys, false)
		for i := range t.Fields {
			f := &t.Fields[i]
			if f.AliasOnly {
				n.Add(i, f.Alias[0], f.Alias)
				continue
			}
			n.Add(i, f.Name, f.Alias)
		}
		return n
	}
	n := naming.NewTable(naming.Values, t.Kind == EnumType && t.hasSigns())
	for i, v := range t.Values {
		note := t.Note(i)
		n.Add(i, v, note.Alias)
		n.Describe(i, v, note.Alias, note.Doc)
	}
	if t.Kind == UnionType {
		for i, name := range t.variantNames() {
			n.Add(i, name, nil)
		}
	}
	return n
}

// fewValues is up to how many values of an enum are compared one by one.
const fewValues = 16

// hasValue reports whether a text is one of the values of an enum.
func (t *Type) hasValue(s string) bool {
	if len(t.Values) > fewValues {
		return t.valueSet()[s]
	}
	return slices.Contains(t.Values, s)
}

// valueSet returns the values of a large enum as a set.
func (t *Type) valueSet() map[string]bool {
	return kept(t, &t.made.values, func() map[string]bool {
		set := make(map[string]bool, len(t.Values))
		for _, v := range t.Values {
			set[v] = true
		}
		return set
	})
}

// hasSigns reports whether signs distinguish the values of an enum from other texts.
func (t *Type) hasSigns() bool {
	for i, v := range t.Values {
		if naming.HasSigns(v) || slices.ContainsFunc(t.Note(i).Alias, naming.HasSigns) {
			return true
		}
	}
	return false
}
