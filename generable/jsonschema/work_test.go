package jsonschema

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// schemaOf writes n rows of a form between a beginning and an end. A row may use its number and that of the next; N
// in the end is n.
func schemaOf(begin, row, end string, n int) string {
	var b strings.Builder
	b.WriteString(begin)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, row, i, i+1)
	}
	b.WriteString(strings.ReplaceAll(end, "N", strconv.Itoa(n)))
	return b.String()
}

// The work of reading a schema, and the memory it takes, grow in proportion to its text: a text that is four times as
// long must not need six times the work.
func TestFromSchemaWorkIsLinear(t *testing.T) {
	for _, c := range []struct {
		name, begin, row, end string
		n                     int
	}{
		{"texts", `{"enum": [`, `"value number %d %d"`, `]}`, 15_000},
		{"texts, one empty", `{"enum": ["",`, `"value number %d %d"`, `]}`, 15_000},
		{"notes", `{"oneOf": [`, `{"const": "v%d %d", "title": "t"}`, `]}`, 10_000},
		{"enums that both hold", `{"type": "string", "allOf": [{"enum": ["a"]}, {"enum": ["a", `, `"value %d %d"`, `]}]}`, 15_000},
		{"allOf of properties", `{"allOf": [`, `{"type": "object", "properties": {"p%d": {"type": "integer", "maximum": %d}}, "required": ["q"]}`, `]}`, 1_200},
		{"allOf of one property", `{"allOf": [`, `{"type": "object", "properties": {"p": {"minimum": %d, "title": "%d"}}}`, `]}`, 1_200},
		{"allOf of items", `{"allOf": [`, `{"type": "array", "items": {"minimum": %d, "title": "%d"}}`, `]}`, 1_200},
		{"allOf of choices", `{"type": "integer", "allOf": [`, `{"anyOf": [{"minimum": %d, "title": "%d"}]}`, `]}`, 1_200},
		{"allOf of required", `{"allOf": [`, `{"required": ["p%d %d"]}`, `]}`, 1_200},
		{"chain", `{"$ref": "#/$defs/d0", "$defs": {`, `"d%d": {"type": "object", "allOf": [{"$ref": "#/$defs/d%d"}, {"properties": {"p%[1]d": {"type": "integer"}}}]}`, `, "dN": {}}}`, 400},
		{"chain of siblings", `{"$ref": "#/$defs/d0", "$defs": {`, `"d%d": {"$ref": "#/$defs/d%d", "required": ["p%[1]d"]}`, `, "dN": {}}}`, 400},
		{"required", `{"type": "object", "required": [`, `"p%d %d"`, `]}`, 10_000},
		{"tags", `{"oneOf": [`, `{"properties": {"k": {"const": "v%d"}, "a%d": {}}, "required": ["k"]}`, `]}`, 1_500},
		{"unknown keywords", `{`, `"minLengh%d %d": 1`, `}`, 5_000},
		{"missing definitions", `{"properties": {`, `"p%d": {"$ref": "#/$defs/x%d"}`, `}, "$defs": {"y": {}}}`, 5_000},
		{"one title", `{"properties": {`, `"p%d %d": {"title": "T", "type": "array", "items": {"$ref": "#/properties/p%[1]d %[2]d"}}`, `}}`, 3_000},
	} {
		if testing.Short() {
			c.n /= 5
		}
		read := func(n int) (work, room, size float64) {
			text := schemaOf(c.begin, c.row, c.end, n)
			schema := lenient.Decode(generable.AnyT, text, generable.Options{Level: generable.Strict}).Value
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			im := newImporter(schema, Options{Lenient: true})
			typ := im.read()
			runtime.ReadMemStats(&after)
			if bad := c.name == "missing definitions"; typ == nil || bad != (len(im.errs) > 0) {
				t.Errorf("%s: %v, errors %v", c.name, typ, im.errs)
			}
			return float64(im.work + im.looked + 1), float64(after.TotalAlloc - before.TotalAlloc), float64(len(text))
		}
		work1, room1, size1 := read(c.n)
		work4, room4, size4 := read(4 * c.n)
		if work4 > 6*work1 || work4 > size4 || room4 > 6*room1 || room4 > 100*size4 {
			t.Errorf("%s: work %.0f and %.0f, bytes taken %.0f and %.0f for texts of %.0f and %.0f bytes", c.name, work1, work4, room1, room4, size1, size4)
		}
	}
}

// A schema whose alternatives lead back to it, each time together with their sibling keywords, is nested too deep. It
// is followed down once and not along every path.
func TestTooDeepIsToldOnce(t *testing.T) {
	const text = `{"oneOf": [{"$ref": "#"}, "x", {"$ref": "#"}], "properties": {"a b": {"$ref": "#/$defs/B"}, "a_b": {"type": "integer"}, "type": true}, "type": "object"}`
	for _, lenientRead := range []bool{false, true} {
		im := newImporter(lenient.Decode(generable.AnyT, text, generable.Options{Level: generable.Strict}).Value, Options{Lenient: lenientRead})
		if im.read(); len(im.errs) == 0 {
			t.Error("it is read")
		}
		if limit := 20 * generable.MaxTypeDepth; im.work > limit {
			t.Errorf("work %d for a schema nested too deep, want at most %d", im.work, limit)
		}
	}
}
