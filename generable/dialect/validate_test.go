package dialect

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// validator judges data by the keywords that wire schemas use, from the specification and
// apart from the compiler. The same property was held, over 300 random types and all targets,
// against github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 with formats asserted.
func validator(t *testing.T, schema string) func(text string) error {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal([]byte(schema), &root); err != nil {
		t.Fatalf("%v\n%s", err, schema)
	}
	return func(text string) error {
		var x any
		if err := json.Unmarshal([]byte(text), &x); err != nil {
			return err
		}
		return judge(root, root, x, "$")
	}
}

func judge(root, s map[string]any, x any, at string) error {
	for key, arg := range s {
		if !holds(root, s, key, arg, x) {
			return fmt.Errorf("%s: %s %v", at, key, arg)
		}
	}
	switch x := x.(type) {
	case []any:
		items, _ := s["items"].(map[string]any)
		for i, item := range x {
			if err := judge(root, items, item, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	case map[string]any:
		props, _ := s["properties"].(map[string]any)
		for name, v := range x {
			sub, ok := props[name].(map[string]any)
			if !ok {
				sub, ok = s["additionalProperties"].(map[string]any)
			}
			if !ok && s["additionalProperties"] == false {
				return fmt.Errorf("%s: property %s", at, name)
			}
			if err := judge(root, sub, v, at+"."+name); err != nil {
				return err
			}
		}
	}
	return nil
}

// holds checks one keyword that does not concern the parts of x.
func holds(root, s map[string]any, key string, arg, x any) bool {
	n, _ := arg.(float64)
	switch key {
	case "$ref":
		defs := root["$defs"].(map[string]any)
		return judge(root, defs[strings.TrimPrefix(arg.(string), "#/$defs/")].(map[string]any), x, "") == nil
	case "anyOf":
		for _, sub := range arg.([]any) {
			if judge(root, sub.(map[string]any), x, "") == nil {
				return true
			}
		}
		return false
	case "type":
		if list, ok := arg.([]any); ok {
			return isType(list[0], x) || isType(list[1], x)
		}
		return isType(arg, x)
	case "const":
		return reflect.DeepEqual(arg, x)
	case "enum":
		for _, v := range arg.([]any) {
			if reflect.DeepEqual(v, x) {
				return true
			}
		}
		return false
	}
	switch x := x.(type) {
	case float64:
		return !(key == "minimum" && x < n || key == "maximum" && x > n)
	case string:
		size := float64(utf8.RuneCountInString(x))
		return !(key == "minLength" && size < n || key == "maxLength" && size > n ||
			key == "pattern" && !regexp.MustCompile(arg.(string)).MatchString(x))
	case []any:
		return !(key == "minItems" && float64(len(x)) < n || key == "maxItems" && float64(len(x)) > n)
	case map[string]any:
		if list, ok := arg.([]any); ok && key == "required" {
			for _, name := range list {
				if _, has := x[name.(string)]; !has {
					return false
				}
			}
		}
	}
	return true
}

func isType(name, x any) bool {
	switch x := x.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case float64:
		return name == "number" || name == "integer" && x == float64(int64(x))
	case []any:
		return name == "array"
	}
	return name == "object"
}
