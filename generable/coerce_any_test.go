package generable

import "testing"

// TestUntypedOddities: what has no type is kept where it can be, with a record.
func TestUntypedOddities(t *testing.T) {
	floats := DictOfType(FloatT)
	for _, c := range []struct {
		typ    *Type
		text   string
		level  Level
		want   string // empty: an error
		repair string
	}{
		{nil, `{"a": NaN, "b": 1}`, Safe, `{"a":"NaN","b":1}`, "to-string"},
		{nil, `[1, -Infinity]`, Loose, `[1,"-Infinity"]`, "to-string"},
		{nil, `{"a": 1e400}`, Safe, `{"a":"1e400"}`, "to-string"},
		{nil, `{"a": 1e400}`, Strict, "", ""},
		{floats, `{"a": NaN}`, Safe, "", ""},
		{floats, `{"a": 1e400}`, Safe, "", ""},
		{nil, `{"a":1,"a":}`, Safe, `{"a":1}`, "duplicate-key"},
		{nil, `{"a":1,"b":2,"a"`, Safe, `{"a":1,"b":2}`, ""},
		{DictOfType(IntT), `{"a":1,"a":}`, Safe, `{"a":1}`, "duplicate-key"},
		{nil, `{"a":,"a":1}`, Safe, `{"a":1}`, "duplicate-key"},
		{nil, `["a" "b" "c" 1`, Safe, `["a","b","c",1]`, "missing-comma"},
		{nil, `["a" "b" 1, 2]`, Safe, `["a","b",1,2]`, "missing-comma"},
	} {
		r := Decode(c.typ, c.text, Options{Level: c.level})
		got := ""
		if r.OK {
			got = JSON(r.Value, nil)
		}
		if got != c.want {
			t.Errorf("%s: %q, not %q (%v)", c.text, got, c.want, r.Errors)
		}
		has := c.repair == ""
		for _, rep := range r.Repairs {
			has = has || rep.Kind == c.repair
		}
		if !has {
			t.Errorf("%s: no %s among %v", c.text, c.repair, r.Repairs)
		}
	}
}
