package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/generable"
)

// maxDigits bounds the integers that are read: longer ones take too much time.
const maxDigits = 4300

// Value reads a value that was written by the encoder of the table. Its records conform to their schemas.
func (d *Decoder) Value(data json.RawMessage) (generable.Value, error) {
	v, err := d.value(data)
	if err != nil {
		return v, err
	}
	return v, d.conform()
}

// conform checks the records read since its last call against their schemas, once these are complete.
func (d *Decoder) conform() error {
	for ; d.checked < len(d.records); d.checked++ {
		r := d.records[d.checked]
		fields := r.Type().Fields
		for i := range fields {
			f := &fields[i]
			if f.Omit && in.IsAbsent(r.At(i)) {
				continue
			}
			if errs := f.Type.Conforms(r.At(i)); errs != nil {
				return fmt.Errorf("the field %s of a %s: %w", f.Name, r.Type().Name, errs)
			}
		}
	}
	d.records, d.checked = d.records[:0], 0
	return nil
}

func (d *Decoder) value(data json.RawMessage) (generable.Value, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return generable.Value{}, fmt.Errorf("a value: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return generable.Value{}, errors.New("there is more than one value")
	}
	return d.restore(tree, maxNested)
}

func (d *Decoder) restore(tree any, depth int) (v generable.Value, err error) {
	if depth == 0 {
		return v, fmt.Errorf("a value is nested deeper than %d", maxNested)
	}
	switch tree := tree.(type) {
	case bool:
		return generable.BoolOf(tree), nil
	case string:
		return generable.StrOf(tree), nil
	case json.Number:
		return number(tree.String())
	case []any:
		items, err := d.items(tree, depth)
		return generable.NewList(items).Value(), err
	case map[string]any:
		return d.object(tree, depth)
	}
	return v, nil
}

func (d *Decoder) items(tree []any, depth int) ([]generable.Value, error) {
	out := make([]generable.Value, len(tree))
	for i := range tree {
		var err error
		if out[i], err = d.restore(tree[i], depth-1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (d *Decoder) object(tree map[string]any, depth int) (v generable.Value, err error) {
	if absent, _ := tree["absent"].(bool); absent {
		return in.Absent(), nil
	}
	if flat, ok := tree["map"].([]any); ok {
		items, err := d.items(flat, depth)
		if err != nil {
			return v, err
		}
		m := generable.NewMap(len(items) / 2)
		for i := 0; i < len(items); i += 2 {
			key, ok := items[i].AsStr()
			if _, twice := m.Get(key); !ok || twice || i+1 == len(items) {
				return v, errors.New("a map is no list of keys, each once, and their values")
			}
			m.Set(key, items[i+1])
		}
		return m.Value(), nil
	}
	number, _ := tree["schema"].(json.Number)
	i, err := strconv.Atoi(number.String())
	if err != nil {
		return v, errors.New("a value is neither a map nor a record")
	}
	t, err := d.Type(i)
	if err != nil {
		return v, err
	}
	flat, _ := tree["fields"].([]any)
	if t.Kind != generable.RecordType || len(flat) != len(t.Fields) {
		return v, fmt.Errorf("a record does not have the fields of type %d", i)
	}
	vals, err := d.items(flat, depth)
	if err != nil {
		return v, err
	}
	r := generable.NewRecord(t, vals)
	d.records = append(d.records, r)
	return r.Value(), nil
}

func number(s string) (v generable.Value, err error) {
	if strings.ContainsAny(s, ".eE") {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return v, err
		}
		v, _ = generable.FloatOf(f)
		return v, nil
	}
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return generable.IntOf(i), nil
	}
	i, ok := new(big.Int).SetString(s, 10)
	if !ok || len(s) > maxDigits {
		return v, fmt.Errorf("%.40s is no integer of at most %d digits", s, maxDigits)
	}
	return generable.BigOf(i), nil
}
