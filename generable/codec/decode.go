package codec

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/agentscript/agentscript/generable"
)

// Decoder reads what an [Encoder] wrote.
type Decoder struct {
	types   []*generable.Type
	known   map[*generable.Type]bool // types of the program
	checked int                      // records known to conform to their schemas
	records []*generable.Record
}

// NewDecoder reads a table. For known types see [Decode].
func NewDecoder(table json.RawMessage, known ...*generable.Type) (*Decoder, error) {
	var entries []entry
	if err := json.Unmarshal(table, &entries); err != nil {
		return nil, fmt.Errorf("a table of types: %w", err)
	}
	if len(entries) > maxTypes {
		return nil, fmt.Errorf("a table of %d types, and at most %d are read", len(entries), maxTypes)
	}
	d := &Decoder{known: make(map[*generable.Type]bool)}
	byID := make(map[string]*generable.Type, len(known))
	for _, t := range known {
		byID[t.ID()], d.known[t] = t, true
	}
	for i := range entries {
		t, err := d.build(&entries[i])
		if err != nil {
			return nil, fmt.Errorf("type %d of a table: %w", i, err)
		}
		// A type's identity is made of the identities of its parts and of the records in it. They are known here, so
		// this goes only one level deep.
		if own := byID[t.ID()]; own != nil && t.IsNominal() {
			t = own
		}
		d.types = append(d.types, t)
	}
	if err := d.link(entries); err != nil {
		return nil, err
	}
	return d, d.verify()
}

// Type returns the type with the given index.
func (d *Decoder) Type(i int) (*generable.Type, error) {
	if i < 0 || i >= len(d.types) {
		return nil, fmt.Errorf("there is no type %d", i)
	}
	return d.types[i], nil
}

// build makes a type from earlier ones. What depends on the targets of its references is checked by verify.
func (d *Decoder) build(e *entry) (*generable.Type, error) {
	t := &generable.Type{Name: e.Name, Doc: e.Doc, Description: e.Description, Tag: e.Tag, Values: e.Values, Stream: e.Stream}
	for kind, word := range kinds {
		if word == e.Kind {
			t.Kind = generable.TypeKind(kind)
		}
	}
	if kinds[t.Kind] != e.Kind {
		return nil, fmt.Errorf("%.40q is no kind of types", e.Kind)
	}
	own := scalars[e.Kind]
	if own != nil && e.Doc == "" && e.Description == "" && e.Stream == 0 && e.Tagged == nil {
		return own, nil
	}
	takes := func(has bool, by ...generable.TypeKind) bool {
		for _, kind := range by {
			if kind == t.Kind {
				return true
			}
		}
		return !has
	}
	needsElem := t.Kind == generable.ListType || t.Kind == generable.DictType || t.Kind == generable.LimitType
	switch {
	case needsElem != (e.Elem != nil), (t.Kind == generable.LimitType) != (e.Limits != nil), (t.Kind == generable.RefType) != (e.To != nil),
		!takes(len(e.Fields) > 0, generable.RecordType), !takes(len(e.Values)+len(e.Notes) > 0, generable.EnumType),
		!takes(len(e.Variants) > 0, generable.UnionType, generable.OneOfType, generable.ListType),
		t.Kind == generable.OneOfType && len(e.Variants) < 2, e.Stream >= generable.StreamState<<1:
		return nil, fmt.Errorf("it is not made as a type of kind %s is", e.Kind)
	}
	var err error
	if e.Elem != nil {
		if t.Elem, err = d.Type(*e.Elem); err != nil {
			return nil, err
		}
	}
	for _, i := range e.Variants {
		v, err := d.Type(i)
		if err != nil {
			return nil, err
		}
		t.Variants = append(t.Variants, v)
	}
	for _, n := range e.Notes {
		t.Notes = append(t.Notes, generable.ValueNote(n))
	}
	if t.Limits, err = d.limits(e.Limits); err != nil {
		return nil, err
	}
	if t.Kind == generable.RecordType {
		return d.schema(e)
	}
	if deepen(t); t.TooDeep() {
		return nil, fmt.Errorf("it is nested deeper than %d", generable.MaxTypeDepth)
	}
	return t, nil
}

// deepen sets the nesting depth of a type, which constructors do otherwise.
func deepen(t *generable.Type) {
	deepest := -1
	in.Parts(t, func(part *generable.Type) {
		depth, _ := in.Hidden(part)
		deepest = max(deepest, *depth)
	})
	own, _ := in.Hidden(t)
	if *own = deepest; t.Kind != generable.LimitType {
		*own++
	}
}

// schema makes a schema with its constructor, then replaces its fields by the full ones: the targets of their
// references are not known yet, and so neither are the valid values.
func (d *Decoder) schema(e *entry) (t *generable.Type, err error) {
	fields := make([]generable.Field, len(e.Fields))
	names := make([]generable.Field, len(e.Fields))
	for i := range e.Fields {
		if fields[i], err = d.field(&e.Fields[i]); err != nil {
			return nil, err
		}
		f := &fields[i]
		names[i] = generable.Field{Name: f.Name, Type: f.Type, Alias: f.Alias, AliasOnly: f.AliasOnly}
	}
	var errs generable.FieldErrors
	if e.Foreign {
		t, errs = in.NewForeign(e.Name, e.Doc, names, e.Open)
	} else {
		t, errs = generable.NewSchema(e.Name, e.Doc, names)
	}
	if errs != nil {
		return nil, errs
	}
	t.Description, t.Tag, t.Stream, t.Fields = e.Description, e.Tag, e.Stream, fields
	return t, nil
}

func (d *Decoder) field(f *field) (out generable.Field, err error) {
	out = generable.Field{Name: f.Name, Guide: f.Guide, Optional: f.Optional, Omit: f.Omit, Explicit: f.Explicit,
		Alias: f.Alias, AliasOnly: f.AliasOnly, Dedent: f.Dedent, Stream: f.Stream}
	if f.Stream >= generable.StreamState<<1 {
		return out, errors.New("no known way of streaming")
	}
	if out.Type, err = d.Type(f.Type); err != nil {
		return out, err
	}
	if out.Limits, err = d.limits(f.Limits); err != nil {
		return out, err
	}
	if f.Default != nil {
		if out.Default, err = d.value(f.Default); err != nil {
			return out, err
		}
	}
	for _, example := range f.Examples {
		v, err := d.value(example)
		if err != nil {
			return out, err
		}
		out.Examples = append(out.Examples, v)
	}
	return out, nil
}

func (d *Decoder) limits(l *limits) (*generable.Limits, error) {
	if l == nil {
		return nil, nil
	}
	out := &generable.Limits{Ge: l.Ge, Le: l.Le, Gt: l.Gt, Lt: l.Lt, MinLen: l.MinLen, MaxLen: l.MaxLen, MultipleOf: l.MultipleOf,
		Unique: l.Unique, Pattern: l.Pattern, Format: l.Format}
	if l.Check != "" {
		out.Check = &generable.Check{Says: l.Check, Holds: func(generable.Value) bool { return true }}
	}
	if l.Only != nil {
		v, err := d.value(l.Only)
		if err != nil {
			return nil, err
		}
		only, ok := v.AsList()
		if !ok {
			return nil, errors.New("the only values are no list")
		}
		out.Only = only
	}
	return out, nil
}

// link binds the references that may lead to later types.
func (d *Decoder) link(entries []entry) error {
	for i := range entries {
		t, e := d.types[i], &entries[i]
		if e.To != nil {
			to, err := d.Type(*e.To)
			if err != nil {
				return err
			}
			if !t.BindPart(to) {
				return fmt.Errorf("type %d of a table is a reference that leads back to itself", i)
			}
		}
		if e.Tagged != nil && !d.known[t] {
			union, err := d.Type(*e.Tagged)
			if err != nil {
				return err
			}
			if union.Kind != generable.UnionType {
				return fmt.Errorf("type %d of a table is tagged by a type that is no union", i)
			}
			_, tagged := in.Hidden(t)
			tagged.CompareAndSwap(nil, union)
		}
	}
	return nil
}

// verify checks that the types are what their constructors would have made.
func (d *Decoder) verify() error {
	all := &generable.Type{Kind: generable.OneOfType, Variants: d.types}
	if errs := all.Verify(); errs != nil {
		return errs
	}
	for i, t := range d.types {
		if d.known[t] {
			continue
		}
		if errs := flaws(t); errs != nil {
			return fmt.Errorf("type %d of a table: %w", i, errs)
		}
	}
	return d.conform()
}

func flaws(t *generable.Type) generable.FieldErrors {
	switch t.Kind {
	case generable.EnumType:
		_, errs := generable.NewNotedEnum(t.Name, t.Doc, t.Values, t.Notes)
		return errs
	case generable.UnionType:
		_, errs := generable.NewUnion(t.Name, t.Doc, t.Tag, t.Variants)
		return errs
	case generable.LimitType:
		same, errs := generable.Limited(t.Elem, *t.Limits)
		if errs == nil && same != t.Elem {
			t.Limits = same.Limits // with its pattern compiled
		}
		return errs
	case generable.RecordType:
		return fieldFlaws(t)
	}
	return nil
}

func fieldFlaws(t *generable.Type) (errs generable.FieldErrors) {
	for i := range t.Fields {
		f := &t.Fields[i]
		errs = append(errs, in.Mismatch(*f)...)
		if f.Limits != nil && errs == nil {
			same, _ := generable.Limited(f.Type, *f.Limits)
			if same != f.Type {
				f.Limits = same.Limits // with its pattern compiled
			}
		}
	}
	return errs
}
