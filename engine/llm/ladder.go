package llm

import (
	"strings"
	"sync"

	"github.com/agentscript/agentscript/engine"
)

// rung is how firmly a call holds the model to its types, from the firmest on.
type rung uint8

const (
	rungStrict rung = iota // schemas of the answer and of the arguments of calls
	rungLoose              // the schema of the answer; the arguments are described only
	rungJSON               // the provider's JSON mode
	rungPrompt             // the prompt alone, which says it in any case
)

// ladder remembers what models turned out not to take, so that each is asked once.
type ladder struct {
	mu   sync.Mutex
	down map[rungKey]rung
}

// rungKey is a model and the types that it was to be held to: another type may be taken.
type rungKey struct{ provider, model, types string }

func (l *ladder) at(k rungKey) rung {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.down[k]
}

func (l *ladder) lower(k rungKey, to rung) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down == nil {
		l.down = map[rungKey]rung{}
	}
	if to > l.down[k] {
		l.down[k] = to
	}
}

func (c *call) rungKey() rungKey {
	var types strings.Builder
	if o := c.req.Output; o != nil && o.Type != nil {
		types.WriteString(o.Type.ID())
	}
	for i := range c.req.Tools {
		if p := c.req.Tools[i].Params; p != nil {
			types.WriteString("/" + p.ID())
		}
	}
	return rungKey{c.provider, c.model, types.String()}
}

// lowered takes the next rung when the provider refused the one that was tried, and reports
// whether there is one. A script that demands a schema gets the refusal.
func (c *call) lowered(err *engine.Error) bool {
	next := c.refusedRung(err)
	if next <= c.rung || c.req.Output != nil && c.req.Output.Structured == engine.StructuredConstrained && next > rungLoose {
		return false
	}
	c.rung = next
	c.ladder.lower(c.rungKey(), next)
	if c.refused != nil {
		c.refused(err)
	}
	return true
}

// refusedRung is the rung to go to after a refusal that speaks of a schema, 0 after any other.
func (c *call) refusedRung(err *engine.Error) rung {
	switch err.Kind {
	case engine.KindUnsupported, engine.KindBadRequest, engine.KindServer:
	default:
		return 0
	}
	if err.Model == nil || err.Model.Status < 400 {
		return 0
	}
	text := strings.ToLower(err.Message + " " + err.Model.Code)
	says := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	schema := says("response_format", "json_schema", "schema", "output_config", "output_format", "grammar", "structured output", "strict")
	switch {
	case err.Kind == engine.KindServer && !says("schema"): // of a server that means the request all the same
		return 0
	case !schema && !(c.rung < rungPrompt && c.held && says("json_object", "json mode", "response mime", "format")):
		return 0
	case c.rung < rungLoose && len(c.tools) > 0 && says("tool", "function", "strict"):
		return rungLoose
	case !c.held:
		if len(c.tools) > 0 {
			return rungLoose
		}
		return 0
	case c.rung < rungJSON && c.form != nil:
		return rungJSON
	default:
		return rungPrompt
	}
}
