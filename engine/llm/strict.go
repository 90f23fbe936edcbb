package llm

import "encoding/json"

// The bounds of OpenAI's strict mode.
const (
	strictDepth      = 10
	strictProperties = 5000
)

// strictKeys are the schema keywords that strict mode takes; any other makes it refuse the
// whole request.
var strictKeys = map[string]bool{
	"type": true, "description": true, "title": true, "properties": true, "required": true, "additionalProperties": true,
	"items": true, "enum": true, "const": true, "anyOf": true, "$ref": true, "$defs": true,
	"minimum": true, "maximum": true, "exclusiveMinimum": true, "exclusiveMaximum": true, "multipleOf": true,
	"minItems": true, "maxItems": true,
}

// strict reports whether a schema keeps the rules of strict mode as it is: every object is
// closed and requires all of its properties, and nothing is used that the mode lacks.
func strict(schema json.RawMessage) bool {
	var root any
	if json.Unmarshal(schema, &root) != nil {
		return false
	}
	left := strictProperties
	return strictNode(root, 0, &left)
}

func strictNode(node any, depth int, left *int) bool {
	m, ok := node.(map[string]any)
	if !ok || depth > strictDepth {
		return false
	}
	for key := range m {
		if !strictKeys[key] {
			return false
		}
	}
	if m["type"] == "object" && !strictObject(m, depth, left) {
		return false
	}
	if items, ok := m["items"]; ok && !strictNode(items, depth+1, left) {
		return false
	}
	if any, ok := m["anyOf"].([]any); ok {
		for _, v := range any {
			if !strictNode(v, depth, left) {
				return false
			}
		}
	}
	defs, _ := m["$defs"].(map[string]any)
	for _, v := range defs {
		if !strictNode(v, depth, left) {
			return false
		}
	}
	return true
}

func strictObject(m map[string]any, depth int, left *int) bool {
	if m["additionalProperties"] != false {
		return false
	}
	props, _ := m["properties"].(map[string]any)
	required := map[string]bool{}
	names, _ := m["required"].([]any)
	for _, n := range names {
		if s, ok := n.(string); ok {
			required[s] = true
		}
	}
	if *left -= len(props); *left < 0 {
		return false
	}
	for name, p := range props {
		if !required[name] || !strictNode(p, depth+1, left) {
			return false
		}
	}
	return true
}
