package generable

import (
	"math/big"
	"strings"
	"testing"
)

func TestCheckLimits(t *testing.T) {
	huge := BigOf(new(big.Int).Lsh(big.NewInt(1), 80))
	f := func(typ *Type, l Limits) *Field {
		return &must(t)(NewSchema("S", "", []Field{{Name: "x", Type: typ, Limits: &l}})).Fields[0]
	}
	text := OneOf(StrT, NoneT)
	even := &Check{Says: "an even number", Holds: func(v Value) bool { i, _ := v.AsInt(); return i%2 == 0 }}
	for _, tc := range []struct {
		field *Field
		v     any
		want  []string
	}{
		{f(FloatT, Limits{Ge: ptr(0.0), Le: ptr(1.0)}), 0.0, nil},
		{f(FloatT, Limits{Ge: ptr(0.0), Le: ptr(1.0)}), 1.0, nil},
		{f(FloatT, Limits{Ge: ptr(0.0), Le: ptr(1.0)}), 1.0000001, []string{"x: want at most 1, got 1.0000001"}},
		{f(IntT, Limits{Ge: ptr(0.5)}), 0, []string{"x: want at least 0.5, got 0"}},
		{f(IntT, Limits{Ge: ptr(0.5)}), 1, nil},
		{f(IntT, Limits{Le: ptr(9007199254740992.0)}), 9007199254740993, []string{"x: want at most 9.007199254740992e+15, got 9007199254740993"}},
		{f(IntT, Limits{Le: ptr(1e30)}), huge, nil},
		{f(IntT, Limits{Le: ptr(1e20)}), huge, []string{"x: want at most 1e+20, got 1208925819614629174706176"}},
		{f(IntT, Limits{Ge: ptr(-1e20)}), -1 << 63, nil},
		{f(IntT, Limits{Gt: ptr(0.0), Lt: ptr(3.0)}), 0, []string{"x: want more than 0, got 0"}},
		{f(IntT, Limits{Gt: ptr(0.0), Lt: ptr(3.0)}), 3, []string{"x: want less than 3, got 3"}},
		{f(FloatT, Limits{Gt: ptr(0.0), Lt: ptr(3.0)}), 2.999, nil},
		{f(IntT, Limits{Check: even}), 4, nil},
		{f(IntT, Limits{Check: even}), 5, []string{"x: want an even number, got 5"}},
		{f(OneOf(IntT, NoneT), Limits{Check: even}), nil, nil},
		{f(StrT, Limits{MinLen: ptr(2), MaxLen: ptr(3)}), "é", []string{"x: want at least 2 characters, got 1 character"}},
		{f(StrT, Limits{MinLen: ptr(2), MaxLen: ptr(3)}), "日本語", nil},
		{f(StrT, Limits{MinLen: ptr(2), MaxLen: ptr(3)}), "abcd", []string{"x: want at most 3 characters, got 4 characters"}},
		{f(ListOfType(IntT), Limits{MinLen: ptr(1)}), []any{}, []string{"x: want at least 1 item, got 0 items"}},
		{f(DictOfType(IntT), Limits{MaxLen: ptr(1)}), dict("a", 1, "b", 2), []string{"x: want at most 1 entry, got 2 entries"}},
		{f(text, Limits{MinLen: ptr(2)}), nil, nil},
		{f(StrT, Limits{Pattern: "^[a-z]+$", MaxLen: ptr(2)}), "ABC", []string{
			"x: want at most 2 characters, got 3 characters", `x: want text that matches ^[a-z]+$, got "ABC"`}},
		{f(StrT, Limits{Pattern: "b"}), "abc", nil}, // anywhere in the text
		{f(StrT, Limits{Format: "date"}), "2026-02-29", []string{`x: want a date such as 2026-01-31, got "2026-02-29"`}},
		{f(OneOf(IntT, StrT), Limits{Ge: ptr(1.0), MinLen: ptr(1)}), "x", nil},
		{f(OneOf(IntT, StrT), Limits{Ge: ptr(1.0), MinLen: ptr(1)}), 0, []string{"x: want at least 1, got 0"}},
		{&Field{Name: "x", Type: StrT, Limits: &Limits{Pattern: "^a"}}, "b", []string{`x: want text that matches ^a, got "b"`}},
		{&Field{Name: "a b", Type: StrT}, "b", nil},
	} {
		wantErrors(t, CheckLimits(tc.field, val(tc.v)), tc.want...)
	}
	if errs := CheckLimits(&Field{Name: "a b", Limits: &Limits{Le: ptr(0.0)}}, IntOf(1)); errs[0].Path != `["a b"]` || errs[0].Offset != -1 {
		t.Errorf("got %+v", errs[0])
	}
}

func TestFormats(t *testing.T) {
	for name, texts := range map[string]struct{ good, bad []string }{
		"date-time": {
			[]string{"2026-01-31T12:30:00Z", "2026-01-31t12:30:00.123456z", "2026-01-31T12:30:00+05:30", "2016-12-31T23:59:60Z", "2016-12-31T15:59:60-08:00"},
			[]string{"", "2026-01-31", "2026-01-31T12:30:00", "2026-01-31T24:00:00Z", "2026-01-31T12:30:60Z", "2026-13-31T12:30:00Z", "2026-01-31T12:30:00.Z", "2026-01-31T12:30:00+5:30", "2026-01-31T12:30:00+24:00", "x2026-01-31T12:30:00Z"}},
		"date": {
			[]string{"2026-01-31", "2024-02-29", "2000-02-29", "0000-01-01"},
			[]string{"", "2026-1-31", "2026-02-29", "1900-02-29", "2026-04-31", "2026-00-01", "2026-01-00", "20260131", "2026-01-31 "}},
		"time":     {[]string{"12:30:00Z", "00:00:00.5-23:59"}, []string{"12:30:00", "12:30Z", "25:00:00Z", "12:60:00Z", "1:30:00Z"}},
		"duration": {[]string{"P3DT4H30M", "PT1S", "P2W", "P1Y2M3D"}, []string{"", "P", "PT", "P1", "1D", "P1S", "PT1D", "P1D2Y", "P1DT", "P1.5D", "P1W2D"}},
		"email": {
			[]string{"ada@example.org", "a.b+c@x.y", `"a b"@x.org`, "a@[192.0.2.1]", "a@[IPv6:::1]", "jörg@example.org"},
			[]string{"", "ada", "@example.org", "ada@", ".a@x.org", "a.@x.org", "a..b@x.org", "a b@x.org", "a@-x.org", "a@[::1]", "a@[192.0.2.1", "a@b@c d"}},
		"hostname": {[]string{"localhost", "www.example.org", "a-b.c", "1.2.3.4"}, []string{"", "-a", "a-", "a..b", "a_b", "é.org", strings.Repeat("a", 64)}},
		"ipv4":     {[]string{"192.0.2.1"}, []string{"192.0.2", "192.0.2.256", "192.0.2.01", "::1"}},
		"ipv6":     {[]string{"2001:db8::1", "::", "::ffff:192.0.2.1"}, []string{"192.0.2.1", "fe80::1%eth0", "2001:db8", "12345::"}},
		"uuid": {
			[]string{"123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000"},
			[]string{"", "123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400g", "{123e4567-e89b-12d3-a456-4266141740}"}},
		"uri": {
			[]string{"https://example.org/path?q=1#f", "mailto:ada@example.org", "urn:isbn:0451450523", "file:///etc"},
			[]string{"", "example.org", "//example.org", "http://a b", "http:", "https://exa\nmple", "http://[::1", "a:b|c"}},
	} {
		f, ok := formats[name]
		if !ok {
			t.Fatalf("no format %s", name)
		}
		for _, s := range append(texts.good, f.example) {
			if !f.valid(s) {
				t.Errorf("%s refuses %q", name, s)
			}
		}
		for _, s := range texts.bad {
			if f.valid(s) {
				t.Errorf("%s accepts %q", name, s)
			}
		}
	}
	if len(FormatNames()) != len(formats) {
		t.Errorf("names: %v", FormatNames())
	}
}

// Formats and patterns must not take more than linear time, whatever a model writes.
func TestFormatsAreLinear(t *testing.T) {
	long := map[string]string{
		"digits": strings.Repeat("1", 1<<20), "dots": strings.Repeat("a.", 1<<19), "at": strings.Repeat("a@", 1<<19),
		"time": "12:30:00." + strings.Repeat("1", 1<<20), "duration": "P" + strings.Repeat("1", 1<<20) + "Y", "uri": "a:" + strings.Repeat("%41", 1<<18),
	}
	for _, f := range formats {
		for _, s := range long {
			f.valid(s)
		}
	}
	l := Limits{Pattern: "^(a+)+$"}
	l.check(StrOf(strings.Repeat("a", 1<<16)+"!"), nil, nil)
}

// TestLimitsWithoutRoom wants bounds refused that leave no number.
func TestLimitsWithoutRoom(t *testing.T) {
	for _, l := range []Limits{
		{Gt: ptr(1.0), Lt: ptr(1.0)}, {Gt: ptr(1.0), Le: ptr(1.0)}, {Ge: ptr(1.0), Lt: ptr(1.0)}, {Ge: ptr(2.0), Lt: ptr(1.0)},
		{Gt: ptr(2.0), Ge: ptr(0.0), Le: ptr(2.0)},
	} {
		s, errs := NewSchema("S", "", []Field{{Name: "x", Type: IntT, Limits: &l}})
		if len(errs) == 0 || s.Fields[0].Limits != nil {
			t.Errorf("%+v: %v", l, errs)
		}
	}
	if _, errs := NewSchema("S", "", []Field{{Name: "x", Type: IntT, Limits: &Limits{Check: &Check{}}}}); len(errs) == 0 {
		t.Error("a check that checks nothing was accepted")
	}
}

// TestLimitsAreToldOnce wants one error for one broken limit.
func TestLimitsAreToldOnce(t *testing.T) {
	five := 5.0
	f := &Field{Name: "n", Type: IntT, Limits: &Limits{MultipleOf: &five}}
	if errs := CheckLimits(f, IntOf(7)); len(errs) != 1 {
		t.Errorf("got %v", errs)
	}
}
