// Package operation has the words by which conditions of the format compare.
package operation

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine/predicate"
)

// The operations of conditions. Not, And and Or combine the output with the value beside them.
const (
	Equals      = "equals"
	NotEquals   = "not_equals"
	More        = "more"
	Less        = "less"
	MoreOrEqual = "more_or_equal"
	LessOrEqual = "less_or_equal"
	Not         = "not"
	And         = "and"
	Or          = "or"
)

// Words are all operations, as messages list them.
var Words = []string{Equals, NotEquals, More, Less, MoreOrEqual, LessOrEqual, Not, And, Or}

// Tests are the operations that are tests of the language.
var Tests = map[string]predicate.Op{Equals: predicate.Eq, NotEquals: predicate.Ne, More: predicate.Gt, MoreOrEqual: predicate.Ge, Less: predicate.Lt, LessOrEqual: predicate.Le}

// Of returns the operation of a test, false where the format has none.
func Of(op predicate.Op) (word string, ok bool) {
	i := slices.IndexFunc(Words, func(word string) bool {
		test, ok := Tests[word]
		return ok && test == op
	})
	if i < 0 {
		return "", false
	}
	return Words[i], true
}

// Orders reports whether an operation asks which of two values is the larger.
func Orders(word string) bool {
	return word == More || word == Less || word == MoreOrEqual || word == LessOrEqual
}

// elsewhere are the words of other languages for operations.
var elsewhere = map[string]string{
	"=": Equals, "==": Equals, "===": Equals, "eq": Equals, "is": Equals, "equal_to": Equals,
	"!=": NotEquals, "!==": NotEquals, "<>": NotEquals, "ne": NotEquals, "neq": NotEquals, "is_not": NotEquals,
	">": More, "gt": More, "greater": More, "greater_than": More, "more_than": More, "above": More,
	"<": Less, "lt": Less, "less_than": Less, "smaller": Less, "below": Less,
	">=": MoreOrEqual, "=>": MoreOrEqual, "ge": MoreOrEqual, "gte": MoreOrEqual, "greater_or_equal": MoreOrEqual, "greater_than_or_equal": MoreOrEqual, "at_least": MoreOrEqual,
	"<=": LessOrEqual, "=<": LessOrEqual, "le": LessOrEqual, "lte": LessOrEqual, "less_than_or_equal": LessOrEqual, "at_most": LessOrEqual,
	"!": Not, "&&": And, "&": And, "||": Or, "|": Or,
}

// Meant returns the operation that a word of another language stands for, false for a word of none.
func Meant(word string) (string, bool) {
	op, ok := elsewhere[strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(word)))]
	return op, ok
}
