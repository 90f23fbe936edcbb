package spec

import (
	"encoding/json"

	"github.com/agentscript/agentscript/flowjson/internal/operation"
	"github.com/agentscript/agentscript/flowjson/internal/tree"
)

// Schema returns the JSON Schema of the format, draft 2020-12, for editors. It is built from the tables that files are
// read against. It checks the form of a flow; Check decides whether the flow is sound.
func Schema() []byte {
	agent := objectSchema(agentFields)
	agent["allOf"] = cases("type", agentTypes, func(kind string) schema {
		return schema{"properties": schema{"params": objectSchema(paramFields[kind])}}
	})
	tool := objectSchema(toolFields)
	tool["properties"].(schema)["type"] = schema{"type": "string", "description": "mcp or local.", "pattern": "^([mM][cC][pP]|[lL][oO][cC][aA][lL])$"}
	tool["allOf"] = []schema{
		{"if": typed("^[lL]"), "then": schema{"properties": schema{"parameters": objectSchema(localFields)}}},
		{"if": typed("^[mM]"), "then": schema{"properties": schema{"parameters": schema{"type": "object", "required": []string{"transport"},
			"properties": schema{"transport": schema{"enum": transports}},
			"allOf":      cases("transport", transports, func(name string) schema { return objectSchema(transportFields[name]) })}}}},
	}
	root := objectSchema(flowFields)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "A flow of agents"
	members := root["properties"].(schema)
	for key, items := range map[string]schema{"agents": agent, "tools": tool, "transitions": objectSchema(edgeFields)} {
		members[key].(schema)["items"] = items
	}
	members["agents"].(schema)["minItems"] = 1
	root["required"] = []string{"id", "version", "agents"}
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(err) // no schema contains such values
	}
	return append(out, '\n')
}

type schema = map[string]any

// typed returns the condition that a type matches.
func typed(pattern string) schema {
	return schema{"properties": schema{"type": schema{"pattern": pattern}}}
}

// cases returns the schemas that apply by the value of a member.
func cases(key string, words []string, then func(string) schema) []schema {
	var out []schema
	for _, w := range words {
		out = append(out, schema{"if": schema{"properties": schema{key: schema{"const": w}}, "required": []string{key}}, "then": then(w)})
	}
	return out
}

var kindNames = map[tree.Kind]string{tree.Null: "null", tree.Bool: "boolean", tree.Number: "number", tree.String: "string", tree.Array: "array", tree.Object: "object"}

func objectSchema(fields []field) schema {
	members, required := schema{}, []string{}
	for _, f := range fields {
		members[f.name] = fieldSchema(f)
		if f.needed {
			required = append(required, f.name)
		}
	}
	return schema{"type": "object", "properties": members, "required": required}
}

func fieldSchema(f field) schema {
	s := schema{}
	if f.doc != "" {
		s["description"] = f.doc
	}
	list := false
	var kinds []string
	for _, k := range f.kinds {
		kinds, list = append(kinds, kindNames[k]), list || k == tree.Array
	}
	switch {
	case f.words != nil:
		s["enum"] = f.words
		return s
	case !f.needed && !list && kinds != nil: // null means absent
		kinds = append(kinds, "null")
	}
	if len(kinds) == 1 {
		s["type"] = kinds[0]
	} else if kinds != nil {
		s["type"] = kinds
	}
	switch {
	case f.of != nil && list:
		s["items"] = objectSchema(f.of)
	case f.of != nil:
		members := objectSchema(f.of)
		s["properties"], s["required"] = members["properties"], members["required"]
	case list:
		s["items"] = schema{"type": "string"}
	}
	if f.name == "operation" {
		s["examples"] = operation.Words
	}
	return s
}
