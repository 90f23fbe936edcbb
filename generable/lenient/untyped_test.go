package lenient

import (
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// TestUntypedOddities checks that values without a type are kept if possible, with a record.
func TestUntypedOddities(t *testing.T) {
	floats := generable.DictOfType(generable.FloatT)
	for _, c := range []struct {
		typ    *generable.Type
		text   string
		level  generable.Level
		want   string // empty: an error
		repair string
	}{
		{nil, `{"a": NaN, "b": 1}`, generable.Safe, `{"a":"NaN","b":1}`, "to-string"},
		{nil, `[1, -Infinity]`, generable.Loose, `[1,"-Infinity"]`, "to-string"},
		{nil, `{"a": 1e400}`, generable.Safe, `{"a":"1e400"}`, "to-string"},
		{nil, `{"a": 1e400}`, generable.Strict, "", ""},
		{floats, `{"a": NaN}`, generable.Safe, "", ""},
		{floats, `{"a": 1e400}`, generable.Safe, "", ""},
		{nil, `{"a":1,"a":}`, generable.Safe, `{"a":1}`, "duplicate-key"},
		{nil, `{"a":1,"b":2,"a"`, generable.Safe, `{"a":1,"b":2}`, ""},
		{generable.DictOfType(generable.IntT), `{"a":1,"a":}`, generable.Safe, `{"a":1}`, "duplicate-key"},
		{nil, `{"a":,"a":1}`, generable.Safe, `{"a":1}`, "duplicate-key"},
		{nil, `["a" "b" "c" 1`, generable.Safe, `["a","b","c",1]`, "missing-comma"},
		{nil, `["a" "b" 1, 2]`, generable.Safe, `["a","b",1,2]`, "missing-comma"},
	} {
		r := Decode(c.typ, c.text, generable.Options{Level: c.level})
		got := ""
		if r.OK {
			got = generable.JSON(r.Value, nil)
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
