package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/engine/model"
)

// wrongForm says which part of an answer has the wrong type.
func wrongForm(what string, err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return &malformed{fmt.Sprintf("the answer does not have the form of a %s: %s is a JSON %s", what, wrong.Field, wrong.Value)}
	}
	return &malformed{"the answer does not have the form of a " + what}
}

// arguments returns the arguments of a call, sent as JSON in a string or as an object.
func arguments(raw json.RawMessage) string {
	if len(raw) == 0 || raw[0] == 'n' {
		return ""
	}
	if raw[0] != '"' {
		var b bytes.Buffer
		_ = json.Compact(&b, raw) // raw is valid JSON
		return b.String()
	}
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}

// count is a number of tokens. Null, fractions and strings are converted; a value that cannot be a number of tokens is
// noCount.
type count int

const noCount count = -1

func (c *count) UnmarshalJSON(data []byte) error {
	var n json.Number
	if json.Unmarshal(bytes.Trim(data, `"`), &n) != nil || n == "" {
		return nil
	}
	*c = noCount
	if f, err := n.Float64(); err == nil && f >= 0 && f <= model.MaxUsage {
		*c = count(f)
	}
	return nil
}

// tokens returns a usage, nil if input or output is not a count. Other invalid counts are 0.
func tokens(in, out, reasoning, read, written count) *model.Usage {
	if in == noCount || out == noCount {
		return nil
	}
	return &model.Usage{In: int(in), Out: int(out), Reasoning: int(max(reasoning, 0)), CacheRead: int(max(read, 0)), CacheWrite: int(max(written, 0))}
}

// cost is an amount of money. Perplexity sends it in an object with its components. Anything else is 0, which means
// unknown.
type cost float64

func (c *cost) UnmarshalJSON(data []byte) error {
	var parts struct {
		Total json.RawMessage `json:"total_cost"`
	}
	if json.Unmarshal(data, &parts) == nil && parts.Total != nil {
		data = parts.Total
	}
	var f float64
	if json.Unmarshal(data, &f) == nil && f > 0 && f <= model.MaxCostUSD {
		*c = cost(f)
	}
	return nil
}

// loose is a string that some servers send as null or as a number.
type loose string

func (l *loose) UnmarshalJSON(data []byte) error {
	if s := strings.TrimSpace(string(data)); s != "null" {
		*l = loose(text(data))
	}
	return nil
}
