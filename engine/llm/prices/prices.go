// Package prices returns the prices and context windows of models. The table is built from a maintained public source
// and states its date; a user's own file takes precedence. A model in neither has no price, which is never treated as
// free.
package prices

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentscript/agentscript/engine/model"
)

//go:embed prices.jsonl.gz
var embedded []byte

// Table holds models and their prices. It is immutable and safe for concurrent use.
type Table struct {
	// Source names the table's source, and Date the day of its prices (2006-01-02).
	Source, Date string

	providers map[string]*provider
	own       map[string]Model // from a user's file, by full name
}

type provider struct {
	models []Model
	also   []string // providers whose models it sells at their prices
}

// Model is the table's entry for one model.
type Model struct {
	ID     string // the table's name for it; a model string may be longer
	Window int    // context window, in tokens; 0 if unknown
	match  rule
	prices []price
}

var embeddedTable = sync.OnceValues(func() (*Table, error) {
	lines, err := gzip.NewReader(bytes.NewReader(embedded))
	if err != nil {
		return nil, err
	}
	return parse(lines)
})

// Embedded returns the table embedded in the program. It is read on the first call.
func Embedded() *Table {
	t, err := embeddedTable()
	if err != nil {
		return &Table{Source: "none: " + err.Error()} // a test ensures that this does not happen
	}
	return t
}

func parse(data io.Reader) (*Table, error) {
	t := &Table{providers: map[string]*provider{}}
	var at *provider
	lines := bufio.NewScanner(data)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var row struct {
			Source, Version, Date string
			Provider              string
			Also                  []string
			ID                    string
			Match                 rule
			Window                int
			Prices                []price
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		switch {
		case row.Source != "":
			t.Source, t.Date = row.Source+" "+row.Version, row.Date
		case row.Provider != "":
			at = &provider{also: row.Also}
			t.providers[row.Provider] = at
		case at == nil:
			return nil, fmt.Errorf("line %d: a model before any provider", n)
		default:
			at.models = append(at.models, Model{ID: row.ID, Window: row.Window, match: row.Match, prices: row.Prices})
		}
	}
	return t, lines.Err()
}

// Find returns the entry of a model named "provider/model". It ignores case, and finds a date with or without dashes.
func (t *Table) Find(name string) (Model, bool) {
	name = strings.ToLower(strings.TrimSpace(name))
	if m, ok := t.own[name]; ok {
		return m, true
	}
	prefix, id, _ := strings.Cut(name, "/")
	if m, ok := t.find(prefix, id, nil); ok {
		return m, true
	}
	if apart := datesApart(id); apart != id {
		return t.find(prefix, apart, nil)
	}
	return Model{}, false
}

func (t *Table) find(provider, id string, seen []string) (Model, bool) {
	p := t.providers[provider]
	if p == nil || slices.Contains(seen, provider) {
		return Model{}, false
	}
	for _, m := range p.models {
		if m.match.fits(id) {
			return m, true
		}
	}
	for _, other := range p.also {
		if m, ok := t.find(other, id, append(seen, provider)); ok {
			return m, true
		}
	}
	return Model{}, false
}

// Models lists the ids of a provider's models in the table's order.
func (t *Table) Models(providerName string) []Model {
	if p := t.providers[providerName]; p != nil {
		return slices.Clone(p.models)
	}
	return nil
}

// Cost returns the cost of a call in US dollars, and whether it is known.
func (m Model) Cost(u model.Usage, at time.Time) (usd float64, known bool) {
	p := m.at(at)
	if p == nil || p.In == nil && p.Request == nil {
		return 0, false
	}
	fresh := max(u.In-u.CacheRead-u.CacheWrite, 0)
	usd = float64(fresh)*p.In.of(u.In) + float64(u.CacheRead)*p.Read.or(p.In).of(u.In) + float64(u.CacheWrite)*p.Write.or(p.In).of(u.In)
	thought := min(u.Reasoning, u.Out)
	usd += float64(u.Out-thought)*p.Out.of(u.In) + float64(thought)*p.Thought.or(p.Out).of(u.In)
	usd /= 1e6
	if p.Request != nil {
		usd += p.Request.of(0) / 1e3
	}
	return usd, true
}

// Rates are the prices per million tokens in US dollars, for a short prompt.
type Rates struct {
	In         float64 `json:"input"`
	Out        float64 `json:"output"`
	CacheRead  float64 `json:"cache_read"`
	CacheWrite float64 `json:"cache_write"`
}

// Rates returns the prices per million tokens at a time, and whether they are known.
func (m Model) Rates(at time.Time) (Rates, bool) {
	p := m.at(at)
	if p == nil || p.In == nil {
		return Rates{}, false
	}
	return Rates{p.In.of(0), p.Out.of(0), p.Read.or(p.In).of(0), p.Write.or(p.In).of(0)}, true
}
