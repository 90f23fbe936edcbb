package project

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/internal/text"
)

// The tables of a project file. The project chooses the keys of [models].
const (
	Models = "models"
	Run    = "run"
	Test   = "test"
	Policy = "policy"
)

var tables = []string{Models, Run, Test, Policy}

// key is a key of a table: what its value must be, and its default. The keys of [run] and [test] are named after the
// flags whose defaults they set.
type key struct {
	table, name string
	kind        kind
	unset       string
}

// kind is what the value of a key must be.
type kind string

const (
	modelName kind = `a model in quotes, as in "provider/model"`
	progress  kind = `one of "auto", "tree", "plain", "json" and "none"`
	duration  kind = `a duration in quotes, as in "90s" or "2m"`
	count     kind = "a whole number that is not negative"
	positive  kind = "a whole number of 1 or more"
	dollars   kind = "an amount of money that is not negative"
	percent   kind = "a number from 0 to 100"
	rules     kind = `a list of rules in quotes, as in ["delete_*", "@once"]`
)

// keys are the keys of all tables except [models].
var keys = []key{
	{Run, "model", modelName, ""},
	{Run, "progress", progress, "auto"},
	{Run, "timeout", duration, "1h"},
	{Run, "max-model-calls", count, "1000"},
	{Run, "max-tool-calls", count, ""},
	{Run, "max-tokens", count, ""},
	{Run, "max-usd", dollars, ""},
	{Run, "max-steps", positive, "200000000"},
	{Run, "max-depth", count, "16"},
	{Run, "retries", count, "3"},
	{Run, "max-in-flight", positive, "8"},
	{Test, "lines", percent, ""},
	{Test, "edges", percent, ""},
	{Test, "timeout", duration, "1m"},
	{Test, "repeat", positive, "1"},
	{Policy, "ask", rules, ""},
	{Policy, "deny", rules, ""},
}

// keyOf returns a key of a table, or nil.
func keyOf(table, name string) *key {
	i := slices.IndexFunc(keys, func(k key) bool { return k.table == table && k.name == name })
	if i < 0 {
		return nil
	}
	return &keys[i]
}

// variable returns the name of the environment variable that sets a key of [run].
func (k *key) variable() string {
	return "AGENTSCRIPT_" + strings.ToUpper(strings.ReplaceAll(k.name, "-", "_"))
}

// text returns a TOML value in the form of a flag. wrong says why the key does not accept the value, and is "" if it
// does.
func (k *key) text(v any) (text, wrong string) {
	isText, inQuotes := v.(string)
	switch v := v.(type) {
	case string:
		text = isText
	case int64:
		text = strconv.FormatInt(v, 10)
	case float64:
		text = strconv.FormatFloat(v, 'f', -1, 64)
	}
	if inQuotes == k.number() || text == "" && !inQuotes {
		return "", fmt.Sprintf("%s is %s, not %s", k.name, k.kind, named(v))
	}
	return k.read(text)
}

// number reports whether the values of the key are numbers.
func (k *key) number() bool {
	return slices.Contains([]kind{count, positive, dollars, percent}, k.kind)
}

// read returns a text in the form of a flag. wrong says why the key does not accept it, and is "" if it does.
func (k *key) read(s string) (text, wrong string) {
	fits := false
	switch k.kind {
	case modelName:
		agent, _, one := strings.Cut(s, "=")
		fits = check("model", s) == nil && !(one && !strings.Contains(agent, "/"))
	case progress:
		fits = slices.Contains([]string{"auto", "tree", "plain", "json", "none"}, s)
	case duration:
		d, err := time.ParseDuration(s)
		fits = err == nil && d > 0
	case count, positive:
		n, err := strconv.ParseInt(s, 10, 64)
		if err == nil && n >= 0 && (k.kind == count || n > 0) {
			return strconv.FormatInt(n, 10), ""
		}
	case dollars, percent:
		n, err := strconv.ParseFloat(s, 64)
		if err == nil && n >= 0 && !math.IsInf(n, 0) && (k.kind == dollars || n <= 100) {
			return strconv.FormatFloat(n, 'f', -1, 64), ""
		}
	}
	if !fits {
		return "", fmt.Sprintf("%s is %s, not %s", k.name, k.kind, quotedUnless(k.number(), s))
	}
	return s, ""
}

func quotedUnless(number bool, s string) string {
	if _, err := strconv.ParseFloat(s, 64); number && err == nil {
		return s
	}
	return strconv.Quote(s)
}

// value returns a text that the key accepts as a JSON value, or nil for "".
func (k *key) value(text string) any {
	switch {
	case text == "":
		return nil
	case k.number():
		return json.Number(text)
	}
	return text
}

// named returns the name of the kind of a value that a key does not accept.
func named(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case bool, int64, float64:
		return fmt.Sprint(v)
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return "a date or a time"
}

// wrongRule says why a text is not a rule of a policy, and what to write instead. It returns "" if the text is a rule.
func wrongRule(rule string) (problem, help string) {
	_, err := policy.New(FileName, policy.Rules{Deny: []string{rule}})
	if e, ok := errors.AsType[*engine.Error](err); ok {
		return e.Message, e.Help
	}
	return "", ""
}

// never maps words in keys that no project file may have, by what they would do, to the reason.
var never = sync.OnceValue(func() map[string]string {
	return text.Synonyms(`
never: allow grant grants exec-allow net fs yes approve permissions = a project file grants nothing: whoever runs the script grants, with flags such as --allow-exec CMD
never: key keys secret secrets password env credentials bearer auth apikey = a project file names no key: keys come from the environment or the file of --env-file
never: server servers mcp url address host base proxy sampling endpoint = a project file names no server: a script names those that it uses, and a flag grants them
never: command commands cmd exec shell sh hook hooks run-before plugin plugins = a project file names no command: a script names those that it runs, and a flag grants them
`)["never"]
})

// whyNever returns why no project file may have a table or key with this name, or "" for an ordinary unknown name.
func whyNever(name string) string {
	for _, word := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '-' || r == '_' || r == '.' }) {
		if why := never()[word]; why != "" {
			return why
		}
	}
	return ""
}

// helpFor says what was probably meant by an unknown key of a table.
func helpFor(table, name string) string {
	var own []string
	for _, k := range keys {
		if k.table == table {
			own = append(own, k.name)
		}
	}
	dashed := strings.ReplaceAll(name, "_", "-")
	for _, k := range keys {
		if k.table != table && k.name == dashed {
			return fmt.Sprintf("%s is a key of [%s]", k.name, k.table)
		}
	}
	return cmp.Or(diag.DidYouMean(name, own), fmt.Sprintf("the keys of [%s] are %s", table, strings.Join(own, ", ")))
}
