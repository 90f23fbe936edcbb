package wire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/lazy"
)

// tooShort is the error of a request whose answer limit is below the provider's minimum.
type tooShort struct{ limit, thoughts int }

func (t *tooShort) Error() string {
	return fmt.Sprintf("the call cannot fit: its budget leaves %d tokens for the answer, and thinking alone takes %d", t.limit, t.thoughts)
}

// bound writes the limit that budgets set into a request, replacing the request's limit and that of the host's members.
func (p *Plan) bound(b *Body) error {
	if p.MaxOut <= 0 {
		return nil
	}
	object, names := p.Dialect.limit()
	at := b
	if object != "" {
		at = newBody()
		if own, err := ParseBody(b.values[object]); err == nil {
			at = own
		}
	}
	limit := max(p.MaxOut/answers(b, at), 1)
	written := false
	for _, name := range names {
		if raw, ok := at.values[name]; ok {
			if n, err := strconv.ParseFloat(string(raw), 64); err != nil || n <= 0 || n > float64(limit) {
				at.Set(name, limit)
			}
			written = true
		}
	}
	if _, most := answerMost(p.Model); !written && (most == 0 || limit < most) {
		at.Set(names[0], limit)
	}
	if object != "" && at.Len() > 0 {
		b.Set(object, at)
	}
	var thinking struct {
		Budget int `json:"budget_tokens"`
	}
	if json.Unmarshal(b.values["thinking"], &thinking) == nil && thinking.Budget >= limit {
		return &tooShort{limit, thinking.Budget}
	}
	return nil
}

// answers returns how many answers a request asks for; each may use the whole limit.
func answers(bodies ...*Body) int {
	most := 1
	for _, b := range bodies {
		for _, name := range []string{"n", "best_of", "candidateCount", "candidate_count"} {
			if n, err := strconv.ParseFloat(strings.Trim(string(b.values[name]), `"`), 64); err == nil && n > 1 { // some servers accept "2" as 2
				most = max(most, int(min(n, 1<<20)))
			}
		}
	}
	return most
}

// ExtraUse reports how members that a script adds to its requests affect a call's use: how many answers they request,
// whether they set their own limit, and the factor by which they raise the price of tokens at most.
func ExtraUse(extra json.RawMessage) (count int, limits bool, dearer float64) {
	bodies := []*Body{}
	if b, err := ParseBody(extra); err == nil {
		bodies = append(bodies, b)
		for _, key := range b.keys {
			if inner, err := ParseBody(b.values[key]); err == nil {
				bodies = append(bodies, inner)
			}
		}
	}
	dearer = 1
	for _, b := range bodies {
		for _, key := range b.keys {
			limits = limits || slices.Contains(limitNames, key)
			if more := dearerService[key+" "+string(b.values[key])]; more > dearer {
				dearer = more
			}
		}
	}
	return answers(bodies...), limits, dearer
}

// limitNames are the members of all dialects that limit an answer.
var limitNames = []string{"max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "num_predict"}

// dearerService lists the members that select a more expensive service, and the maximum factor over the price table.
// Sources: the providers' price pages, November 2026.
var dearerService = map[string]float64{
	`service_tier "priority"`: 2, `serviceTier "priority"`: 2, `speed "fast"`: 6, `inference_geo "us"`: 1.1,
}

// cutOff turns a failure by the answer's limit into one by the budget that set the limit.
func (p *Plan) cutOff(f *failure) *failure {
	if !p.Short {
		return f
	}
	cut := engine.CutOffBy(p.MaxOut)
	f.kind, f.what, f.help = cut.Kind, cut.Message, cut.Help
	return f
}

var (
	statusSaid = lazy.Regexp(`\(status \d+`) // written by us
	limitFacts = lazy.Regexp(`context length (?:is|of)\s+(\d+)|(\d+) (?:input tokens|in the messages|of text input)|(\d+)`)
)

// LongestTaken reads from a provider's refusal the longest answer limit that it accepts, 0 if it refused something
// else. always says that this applies to all requests.
func LongestTaken(message string, limit int) (n int, always bool) {
	text := statusSaid().ReplaceAllString(strings.ToLower(message), "")
	if !Speaks(text, AboutLimit) {
		return 0, false
	}
	window, in := 0, 0
	for _, m := range limitFacts().FindAllStringSubmatch(text, -1) {
		number := func(i int) int {
			v, _ := strconv.Atoi(m[i]) // of digits; one that is too large is ignored
			return v
		}
		switch {
		case m[1] != "":
			window = number(1)
		case m[2] != "":
			in = number(2)
		case number(3) >= leastTaken && number(3) < limit:
			n = max(n, number(3))
		}
	}
	if window > 0 {
		if n = window - in; in == 0 || n >= limit {
			n = min(limit, window) / 2
		}
	}
	switch {
	case n >= leastTaken && n < limit:
	case limit > 2*leastTaken:
		n = limit / 2
	default:
		return 0, false
	}
	return n, window == 0
}

// leastTaken is the smallest limit that is tried.
const leastTaken = 256
