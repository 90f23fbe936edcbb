package prices_test

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine/llm/prices"
	"github.com/agentscript/agentscript/engine/model"
)

// TestCases compares our choice of the entry and our arithmetic with the results of the source's own program.
func TestCases(t *testing.T) {
	data, err := os.ReadFile("testdata/cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for dec := json.NewDecoder(strings.NewReader(string(data))); dec.More(); n++ {
		var c struct {
			Provider, Model               string
			When                          time.Time
			In, Read, Write, Out, Thought int
			ID                            *string
			USD                           *float64
		}
		if err := dec.Decode(&c); err != nil {
			t.Fatal(err)
		}
		m, ok := prices.Embedded().Find(c.Provider + "/" + c.Model)
		if ok != (c.ID != nil) || ok && m.ID != *c.ID {
			t.Errorf("%s/%s: found %q, %v", c.Provider, c.Model, m.ID, ok)
			continue
		}
		if !ok {
			continue
		}
		usd, known := m.Cost(model.Usage{In: c.In, Out: c.Out, Reasoning: c.Thought, CacheRead: c.Read, CacheWrite: c.Write}, c.When)
		if !known || math.Abs(usd-*c.USD) > 1e-9*math.Max(1, *c.USD) {
			t.Errorf("%s/%s at %s: $%v, %v; want $%v", c.Provider, c.Model, c.When, usd, known, *c.USD)
		}
	}
	if n < 300 {
		t.Errorf("only %d cases", n)
	}
}

func TestEmbeddedIsDatedAndKnowsWindows(t *testing.T) {
	e := prices.Embedded()
	if _, err := time.Parse(time.DateOnly, e.Date); err != nil || !strings.Contains(e.Source, "genai-prices") {
		t.Errorf("source %q of %q", e.Source, e.Date)
	}
	for _, p := range []string{"openai", "anthropic", "google", "mistral", "deepseek", "openrouter"} {
		if len(e.Models(p)) < 5 {
			t.Errorf("%s has %d models", p, len(e.Models(p)))
		}
	}
	if m, ok := e.Find("openai/gpt-5"); !ok || m.Window != 400000 {
		t.Errorf("gpt-5: %+v, %v", m, ok)
	}
}

func TestUnknownIsNotFree(t *testing.T) {
	for _, name := range []string{"openai/nosuch", "acme/x", "x", ""} {
		if m, ok := prices.Embedded().Find(name); ok {
			t.Errorf("%q is %q", name, m.ID)
		}
	}
	if _, known := (prices.Model{}).Cost(model.Usage{In: 1}, time.Now()); known {
		t.Error("a model without prices has none")
	}
}

func TestOwnPricesGoFirst(t *testing.T) {
	mine, err := prices.Embedded().With([]byte(`{"acme/Fast": {"input": 1, "output": 2}, "openai/gpt-5": {"input": 0, "output": 0}, "openai/gpt-5-mini": {"context": 1000}}`))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	m, ok := mine.Find("acme/fast")
	usd, known := m.Cost(model.Usage{In: 1_000_000, Out: 500_000, CacheRead: 10}, now)
	if !ok || !known || usd != 2 {
		t.Errorf("acme/fast costs %v, %v", usd, known)
	}
	m, _ = mine.Find("openai/gpt-5")
	if usd, known := m.Cost(model.Usage{In: 5}, now); usd != 0 || !known || m.Window != 400000 {
		t.Errorf("gpt-5 costs %v, %v and reads %d", usd, known, m.Window)
	}
	m, _ = mine.Find("openai/gpt-5-mini")
	if usd, known := m.Cost(model.Usage{In: 5_000_000}, now); usd <= 0 || !known || m.Window != 1000 {
		t.Errorf("gpt-5-mini costs %v, %v and reads %d", usd, known, m.Window)
	}
	if m, _ := prices.Embedded().Find("openai/gpt-5-mini"); m.Window == 1000 {
		t.Error("the embedded table was changed")
	}
}

func TestOwnPricesMisused(t *testing.T) {
	for file, want := range map[string]string{
		``:                                     "EOF",
		`[]`:                                   "provider/model",
		`{"gpt-5": {"input": 1, "output": 1}}`: "name it provider/model",
		`{"/b": {"input": 1, "output": 1}}`:    "name it provider/model",
		`{"a/": {"input": 1, "output": 1}}`:    "name it provider/model",
		`{"a/b": {"input": 1}}`:                "input and output",
		`{"a/b": {"in": 1}}`:                   "unknown field",
		`{"a/b": {"input": -1, "output": 1}}`:  "at least 0",
		`{"a/b": {"cache_read": 1}}`:           "need input and output",
		`{"a/b": {}} x`:                        "more after",
	} {
		if _, err := prices.Embedded().With([]byte(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", file, err, want)
		}
	}
}

func FuzzOwn(f *testing.F) {
	f.Add([]byte(`{"a/b": {"input": 1, "output": 2, "context": 3}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if table, err := prices.Embedded().With(data); err == nil {
			m, _ := table.Find("a/b")
			if usd, known := m.Cost(model.Usage{In: 1, Out: 1}, time.Now()); known && usd < 0 {
				t.Errorf("a call costs %v", usd)
			}
		}
	})
}

func BenchmarkFind(b *testing.B) {
	prices.Embedded()
	for b.Loop() {
		prices.Embedded().Find("openrouter/zz/nosuch")
	}
}
