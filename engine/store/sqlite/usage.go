package sqlite

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/engine/model"
)

// usageText returns the stored form of a usage.
func usageText(u model.Usage) (string, error) {
	if u == (model.Usage{}) {
		return "", nil
	}
	if math.IsNaN(u.CostUSD) || math.IsInf(u.CostUSD, 0) {
		_, err := json.Marshal(u) // returns the error that describes it
		return "", err
	}
	text := make([]byte, 0, 96) // written by hand: json.Marshal costs more than writing the row
	number := func(name string, n int) {
		text = append(text, name...)
		text = strconv.AppendInt(text, int64(n), 10)
	}
	number(`{"in":`, u.In)
	number(`,"out":`, u.Out)
	for _, more := range []struct {
		name string
		n    int
	}{{`,"reasoning":`, u.Reasoning}, {`,"cache_read":`, u.CacheRead}, {`,"cache_write":`, u.CacheWrite}, {`,"unpriced":`, u.Unpriced}} {
		if more.n != 0 {
			number(more.name, more.n)
		}
	}
	if u.Estimated {
		text = append(text, `,"estimated":true`...)
	}
	if u.CostUSD != 0 {
		text = append(text, `,"cost_usd":`...)
		text = strconv.AppendFloat(text, u.CostUSD, 'g', -1, 64)
	}
	return string(append(text, '}')), nil
}

// usageOf returns the usage that a row holds.
func usageOf(column any) (u model.Usage, err error) {
	text, _ := column.(string)
	if text == "" || readUsage(text, &u) {
		return u, nil
	}
	err = json.Unmarshal([]byte(text), &u)
	return u, err
}

// readUsage reads a text in the form that usageText writes, and reports whether it had that form. json.Unmarshal
// would account for a fifth of the cost of loading a run.
func readUsage(text string, u *model.Usage) bool {
	text, begins := strings.CutPrefix(text, "{")
	text, ends := strings.CutSuffix(text, "}")
	if !begins || !ends {
		return false
	}
	var read model.Usage
	for member := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(member, ":")
		var err error
		switch name {
		case `"in"`:
			read.In, err = strconv.Atoi(value)
		case `"out"`:
			read.Out, err = strconv.Atoi(value)
		case `"reasoning"`:
			read.Reasoning, err = strconv.Atoi(value)
		case `"cache_read"`:
			read.CacheRead, err = strconv.Atoi(value)
		case `"cache_write"`:
			read.CacheWrite, err = strconv.Atoi(value)
		case `"unpriced"`:
			read.Unpriced, err = strconv.Atoi(value)
		case `"cost_usd"`:
			read.CostUSD, err = strconv.ParseFloat(value, 64)
		case `"estimated"`:
			read.Estimated, err = strconv.ParseBool(value)
		default:
			return false
		}
		if err != nil {
			return false
		}
	}
	*u = read
	return true
}
