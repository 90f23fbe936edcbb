package generable_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/gentest"
)

func TestCheckLimits(t *testing.T) {
	huge := generable.BigOf(new(big.Int).Lsh(big.NewInt(1), 80))
	f := func(typ *generable.Type, l generable.Limits) *generable.Field {
		return &gentest.Must(t)(generable.NewSchema("S", "", []generable.Field{{Name: "x", Type: typ, Limits: &l}})).Fields[0]
	}
	text := generable.OneOf(generable.StrT, generable.NoneT)
	even := &generable.Check{Says: "an even number", Holds: func(v generable.Value) bool { i, _ := v.AsInt(); return i%2 == 0 }}
	for _, tc := range []struct {
		field *generable.Field
		v     any
		want  []string
	}{
		{f(generable.FloatT, generable.Limits{Ge: gentest.Ptr(0.0), Le: gentest.Ptr(1.0)}), 0.0, nil},
		{f(generable.FloatT, generable.Limits{Ge: gentest.Ptr(0.0), Le: gentest.Ptr(1.0)}), 1.0, nil},
		{f(generable.FloatT, generable.Limits{Ge: gentest.Ptr(0.0), Le: gentest.Ptr(1.0)}), 1.0000001, []string{"x: want at most 1, got 1.0000001"}},
		{f(generable.IntT, generable.Limits{Ge: gentest.Ptr(0.5)}), 0, []string{"x: want at least 0.5, got 0"}},
		{f(generable.IntT, generable.Limits{Ge: gentest.Ptr(0.5)}), 1, nil},
		{f(generable.IntT, generable.Limits{Le: gentest.Ptr(9007199254740992.0)}), 9007199254740993, []string{"x: want at most 9.007199254740992e+15, got 9007199254740993"}},
		{f(generable.IntT, generable.Limits{Le: gentest.Ptr(1e30)}), huge, nil},
		{f(generable.IntT, generable.Limits{Le: gentest.Ptr(1e20)}), huge, []string{"x: want at most 1e+20, got 1208925819614629174706176"}},
		{f(generable.IntT, generable.Limits{Ge: gentest.Ptr(-1e20)}), -1 << 63, nil},
		{f(generable.IntT, generable.Limits{Gt: gentest.Ptr(0.0), Lt: gentest.Ptr(3.0)}), 0, []string{"x: want more than 0, got 0"}},
		{f(generable.IntT, generable.Limits{Gt: gentest.Ptr(0.0), Lt: gentest.Ptr(3.0)}), 3, []string{"x: want less than 3, got 3"}},
		{f(generable.FloatT, generable.Limits{Gt: gentest.Ptr(0.0), Lt: gentest.Ptr(3.0)}), 2.999, nil},
		{f(generable.IntT, generable.Limits{Check: even}), 4, nil},
		{f(generable.IntT, generable.Limits{Check: even}), 5, []string{"x: want an even number, got 5"}},
		{f(generable.OneOf(generable.IntT, generable.NoneT), generable.Limits{Check: even}), nil, nil},
		{f(generable.StrT, generable.Limits{MinLen: gentest.Ptr(2), MaxLen: gentest.Ptr(3)}), "é", []string{"x: want at least 2 characters, got 1 character"}},
		{f(generable.StrT, generable.Limits{MinLen: gentest.Ptr(2), MaxLen: gentest.Ptr(3)}), "日本語", nil},
		{f(generable.StrT, generable.Limits{MinLen: gentest.Ptr(2), MaxLen: gentest.Ptr(3)}), "abcd", []string{"x: want at most 3 characters, got 4 characters"}},
		{f(generable.ListOfType(generable.IntT), generable.Limits{MinLen: gentest.Ptr(1)}), []any{}, []string{"x: want at least 1 item, got 0 items"}},
		{f(generable.DictOfType(generable.IntT), generable.Limits{MaxLen: gentest.Ptr(1)}), dict("a", 1, "b", 2), []string{"x: want at most 1 entry, got 2 entries"}},
		{f(text, generable.Limits{MinLen: gentest.Ptr(2)}), nil, nil},
		{f(generable.StrT, generable.Limits{Pattern: "^[a-z]+$", MaxLen: gentest.Ptr(2)}), "ABC", []string{
			"x: want at most 2 characters, got 3 characters", `x: want text that matches ^[a-z]+$, got "ABC"`}},
		{f(generable.StrT, generable.Limits{Pattern: "b"}), "abc", nil}, // anywhere in the text
		{f(generable.StrT, generable.Limits{Format: "date"}), "2026-02-29", []string{`x: want a date such as 2026-01-31, got "2026-02-29"`}},
		{f(generable.OneOf(generable.IntT, generable.StrT), generable.Limits{Ge: gentest.Ptr(1.0), MinLen: gentest.Ptr(1)}), "x", nil},
		{f(generable.OneOf(generable.IntT, generable.StrT), generable.Limits{Ge: gentest.Ptr(1.0), MinLen: gentest.Ptr(1)}), 0, []string{"x: want at least 1, got 0"}},
		{&generable.Field{Name: "x", Type: generable.StrT, Limits: &generable.Limits{Pattern: "^a"}}, "b", []string{`x: want text that matches ^a, got "b"`}},
		{&generable.Field{Name: "a b", Type: generable.StrT}, "b", nil},
	} {
		wantErrors(t, generable.CheckLimits(tc.field, of(tc.v)), tc.want...)
	}
	if errs := generable.CheckLimits(&generable.Field{Name: "a b", Limits: &generable.Limits{Le: gentest.Ptr(0.0)}}, generable.IntOf(1)); errs[0].Path != `["a b"]` || errs[0].Offset != -1 {
		t.Errorf("got %+v", errs[0])
	}
}

func TestFormats(t *testing.T) {
	table := map[string]struct{ good, bad []string }{
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
	}
	for name, texts := range table {
		errs := checkFormat(name, texts.bad[len(texts.bad)-1])
		if len(errs) == 0 {
			t.Fatalf("no format %s", name)
		}
		_, example, _ := strings.Cut(errs[0].Expected, " such as ")
		for _, s := range append(texts.good, example) {
			if len(checkFormat(name, s)) > 0 {
				t.Errorf("%s refuses %q", name, s)
			}
		}
		for _, s := range texts.bad {
			if len(checkFormat(name, s)) == 0 {
				t.Errorf("%s accepts %q", name, s)
			}
		}
	}
	if len(generable.FormatNames()) != len(table) {
		t.Errorf("names: %v", generable.FormatNames())
	}
}

// A check of the host that panics does not hold; the error reports the panic.
func TestChecksThatPanic(t *testing.T) {
	limits := generable.Limits{Check: &generable.Check{Says: "a good number", Holds: func(generable.Value) bool { panic("boom") }}}
	const want = "want a good number, got 1; the check panicked: boom"
	typ, errs := generable.Limited(generable.IntT, limits)
	if errs != nil {
		t.Fatal(errs)
	}
	if _, errs := typ.Convert(generable.IntOf(1)); errs.Error() != want {
		t.Errorf("converted: %v", errs)
	}
	if r := lenient.Decode(typ, "1", generable.Options{}); r.OK || !strings.Contains(r.Errors.Error(), "panicked: boom") {
		t.Errorf("decoded: %+v", r)
	}
	_, errs = generable.NewSchema("S", "", []generable.Field{{Name: "x", Type: generable.IntT, Limits: &limits, Optional: true, Default: generable.IntOf(1)}})
	if !strings.Contains(errs.Error(), "panicked: boom") {
		t.Errorf("declared: %v", errs)
	}
}

// checkFormat reports why a text does not have the named format.
func checkFormat(name, text string) generable.FieldErrors {
	return generable.CheckLimits(&generable.Field{Limits: &generable.Limits{Format: name}}, generable.StrOf(text))
}

// Formats and patterns must not take more than linear time, whatever a model writes.
func TestFormatsAreLinear(t *testing.T) {
	size := 1 << 20
	if testing.Short() {
		size = 1 << 17
	}
	long := map[string]string{
		"digits": strings.Repeat("1", size), "dots": strings.Repeat("a.", size/2), "at": strings.Repeat("a@", size/2),
		"time": "12:30:00." + strings.Repeat("1", size), "duration": "P" + strings.Repeat("1", size) + "Y", "uri": "a:" + strings.Repeat("%41", size/4),
	}
	for _, name := range generable.FormatNames() {
		for _, s := range long {
			checkFormat(name, s)
		}
	}
	generable.CheckLimits(&generable.Field{Limits: &generable.Limits{Pattern: "^(a+)+$"}}, generable.StrOf(strings.Repeat("a", 1<<16)+"!"))
}

// TestLimitsWithoutRoom requires that bounds without a number between them are refused.
func TestLimitsWithoutRoom(t *testing.T) {
	for _, l := range []generable.Limits{
		{Gt: gentest.Ptr(1.0), Lt: gentest.Ptr(1.0)}, {Gt: gentest.Ptr(1.0), Le: gentest.Ptr(1.0)}, {Ge: gentest.Ptr(1.0), Lt: gentest.Ptr(1.0)}, {Ge: gentest.Ptr(2.0), Lt: gentest.Ptr(1.0)},
		{Gt: gentest.Ptr(2.0), Ge: gentest.Ptr(0.0), Le: gentest.Ptr(2.0)},
	} {
		s, errs := generable.NewSchema("S", "", []generable.Field{{Name: "x", Type: generable.IntT, Limits: &l}})
		if len(errs) == 0 || s.Fields[0].Limits != nil {
			t.Errorf("%+v: %v", l, errs)
		}
	}
	if _, errs := generable.NewSchema("S", "", []generable.Field{{Name: "x", Type: generable.IntT, Limits: &generable.Limits{Check: &generable.Check{}}}}); len(errs) == 0 {
		t.Error("a check that checks nothing was accepted")
	}
}

// TestLimitsAreToldOnce requires one error for one broken limit.
func TestLimitsAreToldOnce(t *testing.T) {
	five := 5.0
	f := &generable.Field{Name: "n", Type: generable.IntT, Limits: &generable.Limits{MultipleOf: &five}}
	if errs := generable.CheckLimits(f, generable.IntOf(7)); len(errs) != 1 {
		t.Errorf("got %v", errs)
	}
}
