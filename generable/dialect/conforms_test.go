package dialect

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/gentest"
)

// If a target cannot distinguish the positions of a tuple, each item is checked against its type after it is read, as
// the decoder would: what can be read as that type is accepted, everything else is a mismatch.
func TestTuplePlaces(t *testing.T) {
	tuple := generable.TupleType([]*generable.Type{generable.StrT, generable.IntT}, generable.AnyT)
	dicts := generable.DictOfType(generable.DictOfType(generable.DictOfType(generable.AnyT)))
	inside := good(generable.NewSchema("Inside", "", []generable.Field{{Name: "p", Type: tuple}}))
	for _, row := range []struct {
		typ  *generable.Type
		text string
		o    generable.Options
		want string // the value as JSON, or the error
	}{
		{tuple, `{"value": ["a", 1, {"b": null}]}`, generable.Options{}, `["a",1,{"b":null}]`},
		{tuple, `{"value": [1, "x"]}`, generable.Options{}, `[1]: want int, got "x"`},
		{tuple, `{"value": ["a", "2"]}`, generable.Options{}, `["a",2]`},
		{tuple, `{"value": [{"json": "\"a\""}, {"json": "2"}]}`, generable.Options{}, `["a",2]`},
		{tuple, `{"value": ["a", "2"]}`, generable.Options{Level: generable.Strict}, `[1]: want int, got "2"`},
		{tuple, `{"value": [1, "x"]}`, generable.Options{Level: generable.Loose}, `["1"]`},
		{tuple, `{"value": [{"json": "1"}, {"json": "x"}, {"json": "2"}]}`, generable.Options{Level: generable.Loose}, `[1]: want int`},
		{inside, `{"p": [1, "x"]}`, generable.Options{}, `p[1]: want int, got "x"`},
		{generable.TupleType([]*generable.Type{generable.FloatT, generable.StrT}, generable.AnyT), `{"value": [1, "5", 2]}`, generable.Options{Level: generable.Strict}, `[1.0,"5",2]`},
		{generable.TupleType([]*generable.Type{dicts}, generable.AnyT), `[1, {"a": null}]`, generable.Options{Level: generable.Loose}, `[0]: want dict`},
		{generable.ListOfType(generable.DictOfType(generable.AnyT)), `{"value": [1, {"a": null}]}`, generable.Options{OnBadItem: generable.ItemKeep}, `[1,{"a":null}]`},
	} {
		for _, target := range []string{"openai", "anthropic", "mistral", "deepseek", "openrouter", "gemini"} {
			if target == "gemini" && strings.HasPrefix(row.text, `{"value"`) {
				continue // which accepts tuples unchanged
			}
			r := compile(t, row.typ, target).Decode(row.text, row.o)
			got := generable.JSON(r.Value, row.typ)
			if !r.OK {
				got = r.Errors.Error()
			}
			if got != row.want && (r.OK || !strings.HasPrefix(got, row.want)) {
				t.Errorf("%s under %s at level %v\ngot  %s\nwant %s", row.text, target, row.o.Level, got, row.want)
			}
		}
	}
}

// deviates reports where a value, or a record in it, does not have its type.
func deviates(t *generable.Type, v generable.Value) string {
	if errs := t.Conforms(v); errs != nil {
		return errs.Error()
	}
	if list, ok := v.AsList(); ok {
		for _, item := range list.Items() {
			if why := deviates(generable.AnyT, item); why != "" {
				return why
			}
		}
	}
	if m, ok := v.AsMap(); ok {
		for _, item := range m.All() {
			if why := deviates(generable.AnyT, item); why != "" {
				return why
			}
		}
	}
	r, ok := v.AsRecord()
	for i := 0; ok && i < len(r.Type().Fields); i++ {
		f := &r.Type().Fields[i]
		if why := deviates(f.Type, r.At(i)); why != "" {
			return f.Name + ": " + why
		}
		if r.At(i).IsNull() || f.Optional && generable.Equal(r.At(i), f.Default) {
			continue
		}
		if errs := generable.CheckLimits(f, r.At(i)); errs != nil {
			return f.Name + ": " + errs.Error()
		}
	}
	return ""
}

// The result of reading is a value of the type, for every text, level and target.
func TestDecodedConforms(t *testing.T) {
	read := 0
	seeds := uint64(8 * rounds)
	if testing.Short() {
		seeds = rounds
	}
	for seed := range seeds {
		m, g := newMaker(seed), gentest.NewGenerator(int64(seed))
		g.Any = true
		typ := pick(m, m.typ, g.Typ)(2)
		if m.IntN(4) > 0 {
			typ = generable.TupleType([]*generable.Type{typ, pick(m, m.typ, g.Typ)(1)}[:1+m.IntN(2)], pick(m, nil, generable.BoolT, generable.AnyT))
			typ = pick(m, typ, typ, generable.ListOfType(typ), generable.DictOfType(typ), generable.OneOf(typ, generable.NoneT))
		}
		texts := []string{`[1,{"a":null}]`, `[{"a":null},{"a":{}}]`, `{"a":1}`, `{}`, `null`}
		for range 4 {
			v := m.value(typ, nil, 4)
			texts = append(texts, generable.JSON(g.Mutate(generable.Plain(v, typ)), nil), generable.JSON(g.Plain(3), nil))
		}
		for _, target := range Targets() {
			w, err := Compile(typ, target)
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, target, err)
			}
			all := texts
			if out, err := do(w, m.value(typ, nil, 4)); err == nil {
				all = append(all[:len(all):len(all)], generable.JSON(g.Mutate(out), nil), generable.JSON(g.Mutate(g.Mutate(out)), nil))
			}
			for _, text := range all {
				for _, level := range []generable.Level{generable.Safe, generable.Strict, generable.Loose} {
					o := generable.Options{Level: level}
					for by, r := range map[string]lenient.Result{"the wire": w.Decode(text, o), "the type": lenient.Decode(typ, text, o)} {
						if !r.OK {
							continue
						}
						read++
						if why := deviates(typ, r.Value); why != "" {
							t.Errorf("seed %d, %s, %s, %v: %s by %s is read as %s: %s", seed, typ, target, level, text, by, generable.JSON(r.Value, nil), why)
						}
					}
				}
			}
		}
		if t.Failed() {
			return
		}
	}
	if read < 1000 {
		t.Errorf("only %d texts were read", read)
	}
}
