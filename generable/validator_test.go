package generable_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"unicode/utf8"
)

// validator checks data against the part of JSON Schema in which types are written. It knows nothing of types, so it
// is a second opinion on them. It panics on an unknown keyword, because skipping it would be no check.
type validator struct{ root map[string]any }

func (d validator) valid(schema map[string]any, x any) bool {
	for key, arg := range schema {
		if !d.keyword(schema, key, arg, x) {
			return false
		}
	}
	return true
}

func (d validator) keyword(schema map[string]any, key string, arg, x any) bool {
	number := func(cmp func(x, bound float64) bool) bool {
		f, ok := x.(float64)
		return !ok || cmp(f, arg.(float64))
	}
	size := func(cmp func(n, bound int) bool) bool {
		bound := int(arg.(float64))
		switch x := x.(type) {
		case string:
			return !strings.HasSuffix(key, "Length") || cmp(utf8.RuneCountInString(x), bound)
		case []any:
			return !strings.HasSuffix(key, "Items") || cmp(len(x), bound)
		case map[string]any:
			return !strings.HasSuffix(key, "Properties") || cmp(len(x), bound)
		}
		return true
	}
	switch key {
	case "type":
		return hasJSONType(arg.(string), x)
	case "const":
		return reflect.DeepEqual(arg, x)
	case "enum":
		for _, v := range arg.([]any) {
			if reflect.DeepEqual(v, x) {
				return true
			}
		}
		return false
	case "minimum":
		return number(func(x, b float64) bool { return x >= b })
	case "maximum":
		return number(func(x, b float64) bool { return x <= b })
	case "exclusiveMinimum":
		return number(func(x, b float64) bool { return x > b })
	case "exclusiveMaximum":
		return number(func(x, b float64) bool { return x < b })
	case "minLength", "minItems", "minProperties":
		return size(func(n, b int) bool { return n >= b })
	case "maxLength", "maxItems", "maxProperties":
		return size(func(n, b int) bool { return n <= b })
	case "items":
		list, _ := x.([]any)
		for _, item := range list {
			if !d.valid(arg.(map[string]any), item) {
				return false
			}
		}
		return true
	case "properties":
		obj, _ := x.(map[string]any)
		for name, sub := range arg.(map[string]any) {
			if v, ok := obj[name]; ok && !d.valid(sub.(map[string]any), v) {
				return false
			}
		}
		return true
	case "required":
		if obj, ok := x.(map[string]any); ok {
			for _, name := range arg.([]any) {
				if _, ok := obj[name.(string)]; !ok {
					return false
				}
			}
		}
		return true
	case "additionalProperties":
		obj, _ := x.(map[string]any)
		props, _ := schema["properties"].(map[string]any)
		for name, v := range obj {
			if _, declared := props[name]; declared {
				continue
			}
			if sub, ok := arg.(map[string]any); ok {
				if !d.valid(sub, v) {
					return false
				}
			} else if !arg.(bool) {
				return false
			}
		}
		return true
	case "anyOf", "oneOf":
		n := 0
		for _, sub := range arg.([]any) {
			if d.valid(sub.(map[string]any), x) {
				n++
			}
		}
		return n == 1 || (key == "anyOf" && n > 1)
	case "$ref":
		defs := d.root["$defs"].(map[string]any)
		return d.valid(defs[strings.TrimPrefix(arg.(string), "#/$defs/")].(map[string]any), x)
	case "description", "default", "examples", "$defs":
		return true
	}
	panic(fmt.Sprintf("validator: keyword %q", key))
}

func hasJSONType(name string, x any) bool {
	switch x := x.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	case float64:
		return name == "number" || (name == "integer" && x == math.Trunc(x))
	}
	return false
}
