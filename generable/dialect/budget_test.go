package dialect

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript/generable"
)

// wide makes a schema of n fields of a type.
func wide(name string, n int, of func(i int) field) *generable.Type {
	fields := make([]field, n)
	for i := range fields {
		fields[i] = of(i)
		fields[i].Name = "f" + strconv.Itoa(i)
	}
	return schema(name, "", fields...)
}

func kinds(w *Wire) []string {
	var out []string
	for _, r := range w.Rewrites {
		if !slices.Contains(out, r.Kind) {
			out = append(out, r.Kind)
		}
	}
	return out
}

// Types that exceed a budget get a form that keeps it, and values still read back.
func TestBudgets(t *testing.T) {
	deep := generable.IntT
	for range 15 {
		deep = generable.ListOfType(deep)
	}
	var values []string
	for i := range 1200 {
		values = append(values, "value number "+strconv.Itoa(i))
	}
	large := good(generable.NewEnum("Large", "", values))
	small := func(i int) *generable.Type {
		return good(generable.NewEnum("E"+strconv.Itoa(i), "", values[i*30:i*30+30]))
	}
	inline := generable.OneOf(generable.IntT, generable.StrT)
	optionals := func(n int, t *generable.Type, def generable.Value) *generable.Type {
		return wide("Optionals", n, func(int) field { return field{Type: t, Optional: true, Default: def} })
	}
	rung := schema("Rung0", "", field{Name: "x", Type: generable.IntT})
	for i := range 12 {
		rung = schema("Rung"+strconv.Itoa(i+1), "", field{Name: "a", Type: rung}, field{Name: "b", Type: rung})
	}
	for _, row := range []struct {
		name, target string
		typ          *generable.Type
		want         string // a kind of rewrite that must occur
	}{
		{"lists deeper than 10", "openai", schema("Deep", "", field{Name: "x", Type: deep}), "json-text"},
		{"an enum of 1200 values", "openai", schema("S", "", field{Name: "x", Type: large}), "enum-as-text"},
		{"40 enums of 30 values", "openai", wide("S", 40, func(i int) field { return field{Type: small(i)} }), "enum-as-text"},
		{"1001 enums of one value", "openai", wide("S", 1001, func(i int) field {
			return field{Type: good(generable.NewEnum("E"+strconv.Itoa(i), "", values[i:i+1]))}
		}), "enum-as-text"},
		{"30 optional fields", "anthropic", optionals(30, generable.StrT, generable.StrOf("x")), "required-null"},
		{"45 optional fields", "anthropic", optionals(45, generable.StrT, generable.StrOf("x")), "list-of-one"},
		{"45 optional lists", "anthropic", optionals(45, generable.ListOfType(generable.IntT), generable.ListOf()), "text-or-blank"},
		{"45 fields that may be None", "anthropic", wide("S", 45, func(int) field { return field{Type: generable.OneOf(generable.IntT, generable.NoneT)} }), "list-of-one"},
		{"45 optional unions", "anthropic", optionals(45, generable.OneOf(generable.IntT, generable.StrT, generable.NoneT), generable.StrOf("d")), "union-as-lists"},
		{"20 unions", "anthropic", wide("S", 20, func(int) field { return field{Type: inline} }), "union-as-lists"},
		{"20 declared unions", "anthropic", wide("S", 20, func(i int) field {
			v := schema("V"+strconv.Itoa(i), "", field{Name: "x", Type: generable.IntT})
			w := schema("W"+strconv.Itoa(i), "", field{Name: "y", Type: generable.StrT})
			return field{Type: good(generable.NewUnion("U"+strconv.Itoa(i), "", "", []*generable.Type{v, w}))}
		}), "union-as-lists"},
		{"a ladder that doubles with each rung", "deepseek", rung, "json-text"},
		{"a ladder that doubles with each rung", "ollama", rung, ""},
	} {
		w, err := Compile(row.typ, row.target)
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		if row.want != "" && !slices.Contains(kinds(w), row.want) {
			t.Errorf("%s: rewritten by %v, want %s", row.name, kinds(w), row.want)
		}
		if found := lint(row.target, w.Schema); found != nil {
			t.Errorf("%s:\n%s", row.name, strings.Join(found, "\n"))
		}
		m := newMaker(1)
		for range 5 {
			if problem := roundTrip(w, m.value(row.typ, nil, 6), func(string) error { return nil }); problem != "" {
				t.Errorf("%s: %s", row.name, problem)
			}
		}
	}
}

// A type is refused if no form keeps the budgets; the error lists all that are exceeded.
func TestRefusals(t *testing.T) {
	huge := wide("Huge", 6000, func(i int) field { return field{Type: generable.StrT, Guide: strings.Repeat("x", 100)} })
	_, err := Compile(huge, "openai")
	var large *TooLarge
	if !errors.As(err, &large) {
		t.Fatalf("got %v", err)
	}
	if got := fmt.Sprint(large.Over); !strings.Contains(got, "properties 6000 of 5000") || !strings.Contains(got, "bytes") {
		t.Errorf("exceeded: %s", got)
	}
	if _, err := Compile(huge, "gemini"); err == nil {
		t.Error("a schema of more than half a megabyte was taken")
	}
	if _, err := Compile(generable.IntT, "gpt"); err == nil || !strings.Contains(err.Error(), "openai, anthropic") {
		t.Errorf("an unknown target: %v", err)
	}
	if _, err := Compile(generable.ListOfType(generable.RefTo("Nowhere")), "openai"); err == nil || !strings.Contains(err.Error(), "Nowhere") {
		t.Errorf("an undeclared type: %v", err)
	}
	if _, err := Compile(generable.ErrorT, "openai"); err == nil {
		t.Error("the error type was taken")
	}
}

// Budgets that several schemas of one request share can be lowered for each.
func TestSmallerBudgets(t *testing.T) {
	r, err := rulesOf("anthropic")
	if err != nil {
		t.Fatal(err)
	}
	r.budgets.optionals, r.budgets.unions = 2, 1
	w, err := compileUnder(samples()["optional"], r)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range w.Budget {
		if u.Over() {
			t.Error(u)
		}
	}
}

// A choice around a schema with a field of that same type is written once, and quickly.
func TestChoiceAroundItself(t *testing.T) {
	self := generable.RefTo("Node")
	maybe := generable.OneOf(self, generable.NoneT)
	node := schema("Node", "", field{Name: "next", Type: maybe}, generable.OmittedField(field{Name: "others", Type: generable.ListOfType(maybe)}))
	self.Bind(node)
	for _, target := range Targets() {
		w, err := Compile(maybe, target)
		if err != nil {
			t.Fatal(err)
		}
		if len(w.Schema) > 4000 && w.Target != "anthropic" && w.Target != "deepseek" {
			t.Errorf("%s: %d bytes\n%s", target, len(w.Schema), w.Schema)
		}
		if found := lint(target, w.Schema); found != nil {
			t.Errorf("%s:\n%s", target, strings.Join(found, "\n"))
		}
	}
}

// Equal types share a wire; types that differ only behind a name do not.
func TestCompilerKeeps(t *testing.T) {
	var c Compiler
	var wires [8]*Wire
	var wg sync.WaitGroup
	for i := range wires {
		wg.Go(func() { wires[i], _ = c.Compile(samples()["expr"], "openai") })
	}
	wg.Wait()
	for _, w := range wires {
		if w == nil || w != wires[0] {
			t.Error("the same type was compiled twice")
		}
	}
	if w, _ := c.Compile(samples()["expr"], "gemini"); w == wires[0] {
		t.Error("targets share a wire")
	}
	around := func(inner *generable.Type) *generable.Type {
		ref := generable.RefTo("B")
		a := schema("A", "", field{Name: "b", Type: ref})
		b := schema("B", "", field{Name: "x", Type: inner})
		ref.Bind(b)
		return a
	}
	x, _ := c.Compile(around(generable.IntT), "openai")
	y, _ := c.Compile(around(generable.StrT), "openai")
	if x == nil || y == nil || x.Schema == y.Schema {
		t.Error("types that differ behind a reference share a wire")
	}
	open := generable.RefTo("Later")
	if _, err := c.Compile(open, "openai"); err == nil {
		t.Error("an unbound reference was compiled")
	}
	open.Bind(samples()["record"])
	if _, err := c.Compile(open, "openai"); err != nil {
		t.Errorf("a reference bound later: %v", err)
	}
}

func TestPatterns(t *testing.T) {
	for p, want := range map[string][2]bool{
		"^[a-z]+$": {true, true}, "[a-z]": {true, false}, `^\d+$`: {true, false}, `^a\.b$`: {true, true}, "^a|b$": {true, false},
		"^(a|b){2,3}$": {true, true}, "(?i)^a$": {false, false}, "^(?:a)$": {true, false}, "^(?P<n>a)$": {false, false},
		"^[[:alpha:]]$": {false, false}, `^\pL$`: {false, false}, "^é$": {false, false}, "^a{2000}$": {true, false}, "^a+?$": {true, false},
		`^a\$`: {true, false}, "^[]a]$": {false, false}, "^a{,3}$": {false, false}, `^a\`: {false, false}, `^a\+?$`: {true, true}, "": {true, false},
		`^\0$`: {false, false}, `^\9$`: {false, false},
	} {
		if got := [2]bool{portable(p), portable(p) && anchored(p)}; got != want {
			t.Errorf("%s: portable, anchored %v, want %v", p, got, want)
		}
	}
}

// These are all kinds of rewrites; each of them occurs.
func TestRewriteKinds(t *testing.T) {
	kinds := []string{"wrapped", "dict-as-pairs", "json-text", "recursion-as-text", "union-as-lists", "integer-as-text", "tuple-as-object", "tuple-as-list",
		"literals", "unique", "check", "enum-as-text", "renamed", "required-null", "absent-mark", "null-left-out", "list-of-one", "text-or-blank", "cyclic-optional", "one-of", "const-as-enum", "bounds", "length", "pattern", "format", "default", "examples", "description-in-prompt", "ref-in-any-of",
	}
	seen := map[string]bool{}
	note := func(typ *generable.Type) {
		for _, r := range Report(typ) {
			for _, rw := range r.Wire.Rewrites {
				seen[rw.Kind] = true
				if !slices.Contains(kinds, rw.Kind) {
					t.Errorf("%s is no kind of rewrite", rw.Kind)
				}
			}
		}
	}
	for _, typ := range samples() {
		note(typ)
	}
	inline := generable.OneOf(generable.IntT, generable.StrT)
	note(wide("S", 20, func(int) field { return field{Type: inline} }))
	note(wide("S", 45, func(int) field {
		return field{Type: generable.ListOfType(generable.IntT), Optional: true, Default: generable.ListOf()}
	}))
	var values []string
	for i := range 1200 {
		values = append(values, strconv.Itoa(i)+"x")
	}
	note(good(generable.NewEnum("Large", "", values)))
	for _, kind := range kinds {
		if !seen[kind] {
			t.Errorf("no schema is rewritten by %s", kind)
		}
	}
}

// Types that contain each other are nested less until the schema keeps its budgets; no other part becomes text.
func TestNestedRecursion(t *testing.T) {
	refs := make([]*generable.Type, 7)
	for i := range refs {
		refs[i] = generable.RefTo("R" + strconv.Itoa(i))
	}
	for i, ref := range refs {
		ref.Bind(wide("R"+strconv.Itoa(i), len(refs), func(i int) field { return field{Type: generable.ListOfType(refs[i])} }))
	}
	w := compile(t, refs[0], "deepseek")
	if got := kinds(w); !slices.Contains(got, "recursion-as-text") || slices.Contains(got, "json-text") {
		t.Errorf("rewritten by %v", got)
	}
}

// The names of definitions are those of the types, cut to 48 characters.
func TestDefinitionNames(t *testing.T) {
	long := strings.Repeat("Long", 20)
	self := generable.RefTo(long)
	self.Bind(schema(long, "", field{Name: "next", Type: generable.OneOf(self, generable.NoneT)}))
	if w := compile(t, self, "openai"); !strings.Contains(w.Schema, `"$defs":{"`+long[:48]+`":`) {
		t.Error(w.Schema)
	}
}
