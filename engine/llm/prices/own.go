package prices

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
)

// ownPrice is an entry of a user's file.
type ownPrice struct {
	In     *float64 `json:"input"`
	Out    *float64 `json:"output"`
	Read   *float64 `json:"cache_read"`
	Write  *float64 `json:"cache_write"`
	Window int      `json:"context"`
}

// With returns a table in which the models of a file take precedence over t's: a JSON object of
//
//	{"openai/gpt-5": {"input": 1.25, "output": 10, "cache_read": 0.125, "context": 400000}}
//
// with prices per million tokens in US dollars. input and output must both be given; an entry with neither only sets a
// context window.
func (t *Table) With(file []byte) (*Table, error) {
	dec := json.NewDecoder(bytes.NewReader(file))
	dec.DisallowUnknownFields()
	rows := map[string]ownPrice{}
	if err := dec.Decode(&rows); err != nil {
		return nil, fmt.Errorf("prices: %w; write {\"provider/model\": {\"input\": 1.25, \"output\": 10}}, in US dollars for a million tokens", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("prices: there is more after the object")
	}
	next := *t
	next.own = maps.Collect(maps.All(t.own))
	var wrong []string
	for name, row := range rows {
		if problem := row.problem(name); problem != "" {
			wrong = append(wrong, fmt.Sprintf("%s: %s", name, problem))
			continue
		}
		old, _ := t.Find(name)
		m := Model{ID: name, Window: cmp.Or(row.Window, old.Window), prices: old.prices}
		if row.In != nil {
			m.prices = []price{{In: fixed(row.In), Out: fixed(row.Out), Read: fixed(row.Read), Write: fixed(row.Write)}}
		}
		next.own[strings.ToLower(name)] = m
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		return nil, fmt.Errorf("prices: %s", strings.Join(wrong, "; "))
	}
	return &next, nil
}

func (p *ownPrice) problem(name string) string {
	if provider, model, ok := strings.Cut(name, "/"); !ok || provider == "" || model == "" {
		return "name it provider/model"
	}
	if (p.In == nil) != (p.Out == nil) {
		return "set input and output, or neither"
	}
	if p.In == nil && (p.Read != nil || p.Write != nil) {
		return "prices of the cache need input and output"
	}
	for _, f := range []*float64{p.In, p.Out, p.Read, p.Write} {
		if f != nil && (*f < 0 || math.IsInf(*f, 0)) {
			return "a price is at least 0"
		}
	}
	if p.Window < 0 {
		return "context is a number of tokens"
	}
	return ""
}

func fixed(f *float64) *rate {
	if f == nil {
		return nil
	}
	return &rate{base: *f}
}
