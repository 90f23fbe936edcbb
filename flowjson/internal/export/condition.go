package export

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/flowjson/internal/operation"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

const conditionHelp = "write one test of the value, or of success or feedback of what verify returns: eq, ne, gt, ge, lt or le, or ~ in front of it"

// condition is a test that the format can express.
type condition struct {
	variable, operation string
	literal             generable.Value
	float               bool // the number is whole, but the agent returns a float

	pred   *predicate.Predicate // the equivalent predicate
	branch *flow.Node           // the branch, for a merge that compares a branch's name with itself
}

// opposites maps a test to the one that holds if it does not. That is correct for numbers and texts, which an order
// only compares with values of their kind.
var opposites = map[predicate.Op]predicate.Op{predicate.Eq: predicate.Ne, predicate.Ne: predicate.Eq, predicate.Gt: predicate.Le, predicate.Le: predicate.Gt,
	predicate.Lt: predicate.Ge, predicate.Ge: predicate.Lt}

// simple returns a predicate as a condition, or the reason why it is not one.
func simple(p *predicate.Predicate, t *generable.Type) (c *condition, why *reason) {
	none := func(format string, args ...any) (*condition, *reason) {
		return nil, &reason{"the condition " + text.Clip(p.String(), 60) + fmt.Sprintf(format, args...), conditionHelp}
	}
	test, op := p, p.Op()
	if op == predicate.Not {
		test = p.Operands()[0]
		opposite, ok := opposites[test.Op()]
		if !ok {
			return none("")
		}
		op = opposite
	}
	word, ok := operation.Of(op)
	if !ok {
		return none("")
	}
	c = &condition{operation: word}
	critique, field := isCritique(t), test.Field()
	switch {
	case critique && (field == "success" || field == "feedback"):
		c.variable = "output." + field
	case !critique && field == "":
		c.variable = "output"
	case field == "":
		return none(" on a whole verdict")
	default:
		return none(" on the field %q", field)
	}
	c.literal, _ = test.Value()
	if _, why := literalOf(c.literal); why != "" {
		return none(": %s", why)
	}
	switch order := op != predicate.Eq && op != predicate.Ne; {
	case test.IsExact() && c.isNumber():
		return none(": an int that is distinguished from a float")
	case c.literal.Kind() == generable.Str && order != test.IsFolded():
		_, why = none(": the format's order of texts takes capital letters for small ones, and equals does not")
		why.help = "compare by eq or ne without fold, or by an order with fold = True"
		return nil, why
	}
	c.pred = p
	return c, nil
}

// reason says what cannot be expressed, and what to do instead.
type reason struct{ what, help string }

// exact is the limit below which JSON readers that use floats represent every whole number.
const exact = 1 << 53

// literalOf returns the literal of a condition as JSON, or the reason why it cannot be written.
func literalOf(v generable.Value) (json.RawMessage, string) {
	switch v.Kind() {
	case generable.Str:
		s, _ := v.AsStr()
		return quoted(s), ""
	case generable.Bool:
		b, _ := v.AsBool()
		return strconv.AppendBool(nil, b), ""
	case generable.Int, generable.Float:
		n, ok := v.AsNumber()
		if !ok || math.Abs(n) >= exact || math.IsNaN(n) {
			return nil, "a number of that size"
		}
		if i, ok := v.AsInt(); ok {
			return strconv.AppendInt(nil, i, 10), ""
		}
		return encoded(n, ""), ""
	}
	return nil, "a comparison with " + v.TypeName()
}

func (c *condition) file() *fileCondition {
	value, _ := literalOf(c.literal)
	switch {
	case c.float:
		value = fmt.Appendf(nil, `{"type":"double","data":%s}`, value)
	case readsAsNumber(c.literal):
		value = fmt.Appendf(nil, `{"type":"string","data":%s}`, value)
	}
	return &fileCondition{c.variable, c.operation, value}
}

func (c *condition) isNumber() bool {
	_, ok := number(c.literal)
	return ok
}

// number returns the number that a literal is, and whether it is one.
func number(v generable.Value) (n float64, ok bool) {
	if v.Kind() != generable.Int && v.Kind() != generable.Float {
		return 0, false
	}
	return v.AsNumber()
}

// readsAsNumber reports whether a quoted text would be taken for a number returned by an agent.
func readsAsNumber(v generable.Value) bool {
	s, ok := v.AsStr()
	if !ok {
		return false
	}
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}
