package dialect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// subset is what a provider documents about the schemas that it accepts. It is written independently of the
// compiler's rules, as a second opinion on them.
type subset struct {
	keys                  string // keywords
	objectRoot, allNeeded bool
	openObjects           bool
	bareRef               bool // $ref without siblings
	cycles                string
	depth, properties     int
	optionals, unions     int
	chars, enums          int
	formats               string
	minItems, repeat      int
	ordered               bool
	anchored              bool
}

const common = "type description properties required additionalProperties items enum anyOf"

var openAISubset = subset{
	keys: common + " const $ref $defs pattern format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems", objectRoot: true, allNeeded: true,
	bareRef: true, cycles: "anywhere", depth: 10, properties: 5000, chars: 120_000, enums: 1000,
	formats: "date-time time date duration email hostname ipv4 ipv6 uuid",
}

var llamaSubset = subset{
	keys:        common + " const $ref $defs pattern format minimum maximum minLength maxLength minItems maxItems prefixItems",
	openObjects: true, cycles: "anywhere", formats: "date time date-time uuid", repeat: 2000, anchored: true,
}

var subsets = map[string]subset{
	"openai": openAISubset, "mistral": openAISubset, "openrouter": openAISubset,
	"anthropic": {
		keys: common + " const $ref $defs pattern format minItems", objectRoot: true, bareRef: true, optionals: 24, unions: 16, minItems: 1,
		formats: "date-time time date duration email hostname ipv4 ipv6 uuid uri",
	},
	"gemini": {
		keys: common + " $ref $defs format minimum maximum minItems maxItems prefixItems propertyOrdering", openObjects: true, bareRef: true,
		cycles: "optional", formats: "date-time date time", ordered: true,
	},
	"deepseek": {keys: common, objectRoot: true, allNeeded: true},
	"ollama":   llamaSubset, "compat": llamaSubset,
}

// linter finds what the provider does not accept in a schema.
type linter struct {
	subset
	defs     map[string]any
	found    []string
	used     subset
	optional map[string][]string // definition to those it refers to from optional places
	always   map[string][]string // and from required places
}

func lint(target, schema string) []string {
	l := &linter{subset: subsets[target], optional: map[string][]string{}, always: map[string][]string{}}
	var root map[string]any
	if err := json.Unmarshal([]byte(schema), &root); err != nil {
		return []string{err.Error()}
	}
	l.defs, _ = root["$defs"].(map[string]any)
	if (l.objectRoot || target == "compat") && root["type"] != "object" {
		l.say("root is no object")
	}
	l.schema(root, "#", 0, "", false)
	for name, def := range l.defs {
		l.schema(def, name, 0, name, false)
	}
	l.cyclic()
	l.over("depth", l.used.depth, l.depth)
	l.over("properties", l.used.properties, l.properties)
	l.over("optionals", l.used.optionals, l.optionals)
	l.over("unions", l.used.unions, l.unions)
	l.over("chars", l.used.chars, l.chars)
	l.over("enum values", l.used.enums, l.enums)
	return l.found
}

func (l *linter) say(format string, args ...any) {
	l.found = append(l.found, fmt.Sprintf(format, args...))
}

func (l *linter) over(what string, n, limit int) {
	if limit > 0 && n > limit {
		l.say("%s: %d of %d", what, n, limit)
	}
}

// schema checks one schema in definition def; left says that it may be left out.
func (l *linter) schema(x any, at string, depth int, def string, left bool) {
	m, ok := x.(map[string]any)
	if !ok {
		l.say("%s: %v is no schema", at, x)
		return
	}
	for key := range m {
		if !slices.Contains(strings.Fields(l.keys), key) {
			l.say("%s: keyword %s", at, key)
		}
	}
	if ref, ok := m["$ref"].(string); ok {
		l.ref(m, strings.TrimPrefix(ref, "#/$defs/"), at, def, left)
		return
	}
	l.literals(m, at)
	types, several := m["type"].([]any)
	list, isUnion := m["anyOf"].([]any)
	if len(list) > 1 || several {
		l.used.unions++
	}
	for i, v := range list {
		l.schema(v, fmt.Sprintf("%s|%d", at, i), depth, def, left)
	}
	if several {
		m["type"] = types[0]
		if len(types) != 2 || types[1] != "null" {
			l.say("%s: types %v", at, types)
		}
	}
	switch m["type"] {
	case "object":
		l.object(m, at, depth+1, def)
	case "array":
		l.used.depth = max(l.used.depth, depth+1)
		l.array(m, at, depth+1, def, left)
		if n, ok := m["minItems"].(float64); ok && l.subset.minItems > 0 && int(n) > l.subset.minItems {
			l.say("%s: minItems %v", at, n)
		}
	case "string":
		l.text(m, at)
	case nil:
		if !isUnion && !(l.openObjects && !l.ordered && m["properties"] == nil && m["items"] == nil) {
			l.say("%s: no type", at)
		}
	}
	for _, key := range []string{"minItems", "maxItems", "minLength", "maxLength"} {
		if n, ok := m[key].(float64); ok && l.repeat > 0 && int(n) > l.repeat {
			l.say("%s: %s %v", at, key, n)
		}
	}
}

// array checks items; llama.cpp reads prefixItems as exactly these items, and not together with items.
func (l *linter) array(m map[string]any, at string, depth int, def string, left bool) {
	first, isTuple := m["prefixItems"].([]any)
	for i, x := range first {
		l.schema(x, fmt.Sprintf("%s[%d]", at, i), depth, def, left)
	}
	if items, has := m["items"]; has || !isTuple {
		l.schema(items, at+"[]", depth, def, left)
	}
	if n := float64(len(first)); isTuple && !l.ordered && (m["items"] != nil || m["minItems"] != n || m["maxItems"] != n) {
		l.say("%s: a tuple of an open length", at)
	}
}

func (l *linter) ref(m map[string]any, name, at, def string, left bool) {
	if _, ok := l.defs[name]; !ok {
		l.say("%s: no definition %s", at, name)
	}
	if l.bareRef && len(m) > 1 {
		l.say("%s: siblings of $ref", at)
	}
	if left {
		l.optional[def] = append(l.optional[def], name)
	} else {
		l.always[def] = append(l.always[def], name)
	}
}

func (l *linter) object(m map[string]any, at string, depth int, def string) {
	l.used.depth = max(l.used.depth, depth)
	props, _ := m["properties"].(map[string]any)
	need, _ := m["required"].([]any)
	for name, p := range props {
		l.used.properties++
		l.used.chars += len(name)
		left := !slices.Contains(need, any(name))
		if left {
			l.used.optionals++
			if l.allNeeded {
				l.say("%s.%s: not required", at, name)
			}
		}
		l.schema(p, at+"."+name, depth, def, left)
	}
	switch open := m["additionalProperties"].(type) {
	case bool:
		if open && !l.openObjects {
			l.say("%s: open", at)
		}
	case map[string]any:
		if !l.openObjects {
			l.say("%s: open", at)
		}
		l.schema(open, at+"{}", depth, def, true)
	default:
		l.say("%s: not closed", at)
	}
	if order, _ := m["propertyOrdering"].([]any); l.ordered && len(props) > 1 && len(order) != len(props) {
		l.say("%s: ordering %v", at, order)
	}
}

// literals checks the listed values.
func (l *linter) literals(m map[string]any, at string) {
	values, _ := m["enum"].([]any)
	if one, ok := m["const"]; ok {
		values = []any{one}
	}
	for _, v := range values {
		switch v.(type) {
		case bool:
			if l.ordered || !strings.Contains(l.keys, "const") {
				l.say("%s: the literal %v", at, v)
			}
		case []any, map[string]any:
			if !l.openObjects || l.ordered {
				l.say("%s: the literal %v", at, v)
			}
		}
	}
}

func (l *linter) text(m map[string]any, at string) {
	values, _ := m["enum"].([]any)
	if one, ok := m["const"]; ok {
		values = []any{one}
	} else {
		l.used.enums += len(values)
	}
	chars := 0
	for _, v := range values {
		s, _ := v.(string)
		chars += len(s)
	}
	l.used.chars += chars
	if l.enums > 0 && len(values) > 250 && chars > 15000 {
		l.say("%s: an enum of %d characters", at, chars)
	}
	if f, ok := m["format"].(string); ok && !slices.Contains(strings.Fields(l.formats), f) {
		l.say("%s: format %s", at, f)
	}
	p, ok := m["pattern"].(string)
	if !ok {
		return
	}
	if l.subset.anchored && (!strings.HasPrefix(p, "^") || !strings.HasSuffix(p, "$") || strings.Contains(p, `\d`) || strings.Contains(p, `\w`)) {
		l.say("%s: pattern %s", at, p)
	}
	if strings.Contains(p, "(?=") || strings.Contains(p, "(?!") || strings.Contains(p, "(?<") || strings.Contains(p, "(?i") {
		l.say("%s: pattern %s", at, p)
	}
}

// cyclic finds definitions that lead back to themselves by references that must not.
func (l *linter) cyclic() {
	edges := func(def string) []string {
		switch l.cycles {
		case "anywhere":
			return nil
		case "optional":
			return l.always[def]
		}
		return append(slices.Clone(l.always[def]), l.optional[def]...)
	}
	for name := range l.defs {
		seen := map[string]bool{}
		var down func(def string)
		down = func(def string) {
			for _, to := range edges(def) {
				if to == name {
					l.say("%s leads back to itself", name)
					return
				}
				if !seen[to] {
					seen[to] = true
					down(to)
				}
			}
		}
		down(name)
	}
}
