package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/flowjson"
)

// conditionRows are the rows of the format's own test of conditions: an operation, an output as a model writes it, a
// literal of the file, and whether the condition holds. v: marks the output of a verify.
const conditionRows = `
equals true true T
equals true false F
equals 42 42 T
equals 42 100 F
equals "hello" "hello" T
equals "hello" "world" F
equals 3.14 3.14 T
equals v:success:true true T
equals v:feedback:Great! "Great!" T
equals 42 42.0 F
not_equals true false T
not_equals true true F
not_equals 42 100 T
not_equals "hello" "world" T
more 100 50 T
more 25 50 F
more 50 50 F
more 5.0 3.14 T
more "banana" "apple" T
more 100 50.5 T
less 25 50 T
less 100 50 F
less 50 50 F
less 2.0 3.14 T
less "apple" "banana" T
more_or_equal 100 50 T
more_or_equal 50 50 T
more_or_equal 25 50 F
more_or_equal 3.14 3.14 T
less_or_equal 25 50 T
less_or_equal 50 50 T
less_or_equal 100 50 F
less_or_equal 3.14 3.14 T
not true false T
not true true F
not false true T
and true true T
and true false F
and false true F
and false false F
or true true T
or true false T
or false true T
or false false F
`

// moreRows are what that test leaves out: case, different kinds, literals in quotes.
const moreRows = `
equals "EN" "en" F
more_or_equal "EN" "en" T
less_or_equal "EN" "en" T
more "EN" "en" F
less "Apple" "banana" T
equals "42" 42 F
not_equals "hello" 42 T
more "hello" 42 F
equals 42 "42" T
equals true "TRUE" T
not false false F
`

// conditionFlow returns a flow whose first agent leads to yes if the condition holds, and otherwise to no.
func conditionFlow(operation, output, literal string) (text string, r flowRun) {
	kind, variable, answer := "task", "input.data", output
	if part, of := strings.CutPrefix(output, "v:"); of {
		name, value, _ := strings.Cut(part, ":")
		kind, variable = "verify", "input."+name
		answer = fmt.Sprintf(`{"success": %v, "feedback": %q}`, value == "true", value)
	}
	text = fmt.Sprintf(`{"id": "f", "version": "1", "agents": [
 {"name": "a", "type": %q, "params": {"task": "A"}}, {"name": "yes", "type": "task", "params": {"task": "Y"}}, {"name": "no", "type": "task", "params": {"task": "N"}}],
 "transitions": [{"from": "a", "to": "yes", "condition": {"variable": %q, "operation": %q, "value": %s}}, {"from": "a", "to": "no"}]}`, kind, variable, operation, literal)
	return text, flowRun{answers: flowAnswers("a", answer)}
}

// Promise 29.3 (flows): the 44 rows of the upstream's own test of conditions hold with its conditions, and all but one,
// an int that equals a float, hold in either mode. Letter case, values of different kinds and quoted literals behave as
// in the upstream's implementation.
func TestPromise_29_3_Conditions(t *testing.T) {
	rows := strings.Split(strings.TrimSpace(conditionRows), "\n")
	if len(rows) != 44 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, compat := range []string{"", flowjson.Upstream} {
		all := rows
		if compat != "" {
			all = append(all[:len(all):len(all)], strings.Split(strings.TrimSpace(moreRows), "\n")...)
		}
		for _, row := range all {
			f := strings.Fields(row)
			holds := f[3] == "T"
			if compat == "" && row == "equals 42 42.0 F" {
				holds = true // the numbers are equal
			}
			if compat == "" {
				f[1] = strings.Trim(f[1], `"`) // a text is taken literally
			}
			text, r := conditionFlow(f[0], f[1], f[2])
			r.compat = compat
			next := map[bool]string{true: "yes", false: "no"}[holds]
			r.answers[next], r.asked, r.result = []string{next}, "a "+next, next
			if compat == "" && constantRow(f) {
				_, found := flowjson.Check("f.json", text, flowjson.Options{})
				if found.HasErrors() || !strings.Contains(found.Error()+fmt.Sprint(found), "AS911") {
					t.Errorf("%s: a condition that always or never holds is a warning: %v", row, found)
				}
			}
			t.Run(compat+" "+row, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "f.json")
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				runFlow(t, file, r)
			})
		}
	}
}

// constantRow reports whether the condition of a row always or never holds.
func constantRow(f []string) bool {
	return f[0] == "and" && f[2] == "false" || f[0] == "or" && f[2] == "true"
}
