package sqlite

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/agentscript/agentscript/engine/model"
)

// What is written is read by readUsage, and what another version wrote by encoding/json.
func TestUsage(t *testing.T) {
	all := model.Usage{In: 1, Out: 2, Reasoning: 3, CacheRead: 4, CacheWrite: 5, Estimated: true, CostUSD: 0.25e-7, Unpriced: 6}
	if v := reflect.ValueOf(all); v.NumField() != 8 {
		t.Errorf("%d fields: each needs a row", v.NumField())
	}
	for _, want := range []model.Usage{all, {In: 1}, {Out: 7, CostUSD: 12}, {In: -1, CostUSD: 1e300}, {Unpriced: 1, CostUSD: -0.1}, {Estimated: true}} {
		text, err := usageText(want)
		if err != nil {
			t.Fatal(err)
		}
		var short model.Usage
		if !readUsage(text, &short) || short != want {
			t.Errorf("%s is read as %+v", text, short)
		}
		var general model.Usage
		if err := json.Unmarshal([]byte(text), &general); err != nil || general != want {
			t.Errorf("%s is read by others as %+v, %v", text, general, err)
		}
	}
	for _, cost := range []float64{math.NaN(), math.Inf(1)} {
		if text, err := usageText(model.Usage{CostUSD: cost}); err == nil {
			t.Errorf("%v is kept as %s", cost, text)
		}
	}
	for _, text := range []string{`{"in": 3, "out": 4}`, `{"in":3,"out":4,"later":[1,{"x":2}]}`, `{"out":4,"in":3}`, `{"in":3,"out":4,"more":"a,b"}`} {
		var want model.Usage
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		if got, err := usageOf(text); err != nil || got != want {
			t.Errorf("%s is read as %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"{", `{"in":"many"}`, `[1]`, `{"in":1`} {
		if _, err := usageOf(text); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}
