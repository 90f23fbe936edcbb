// Package operation has the names of the comparison operations in conditions of the format.
package operation

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine/predicate"
)

// The operations of conditions. Not, And and Or combine the output with the literal.
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

// Words lists all operations for messages.
var Words = []string{Equals, NotEquals, More, Less, MoreOrEqual, LessOrEqual, Not, And, Or}

// Tests maps operations to the tests of the language.
var Tests = map[string]predicate.Op{Equals: predicate.Eq, NotEquals: predicate.Ne, More: predicate.Gt, MoreOrEqual: predicate.Ge, Less: predicate.Lt, LessOrEqual: predicate.Le}

// Of returns the operation for a test, or false if the format has none.
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

// Orders reports whether an operation compares the order of two values.
func Orders(word string) bool {
	return word == More || word == Less || word == MoreOrEqual || word == LessOrEqual
}

// elsewhere maps words of other languages to operations.
var elsewhere = map[string]string{
	"=": Equals, "==": Equals, "===": Equals, "eq": Equals, "is": Equals, "equal_to": Equals,
	"!=": NotEquals, "!==": NotEquals, "<>": NotEquals, "ne": NotEquals, "neq": NotEquals, "is_not": NotEquals,
	">": More, "gt": More, "greater": More, "greater_than": More, "more_than": More, "above": More,
	"<": Less, "lt": Less, "less_than": Less, "smaller": Less, "below": Less,
	">=": MoreOrEqual, "=>": MoreOrEqual, "ge": MoreOrEqual, "gte": MoreOrEqual, "greater_or_equal": MoreOrEqual, "greater_than_or_equal": MoreOrEqual, "at_least": MoreOrEqual,
	"<=": LessOrEqual, "=<": LessOrEqual, "le": LessOrEqual, "lte": LessOrEqual, "less_than_or_equal": LessOrEqual, "at_most": LessOrEqual,
	"!": Not, "&&": And, "&": And, "||": Or, "|": Or,
}

// Meant returns the operation that a word of another language stands for, or false for an unknown word.
func Meant(word string) (string, bool) {
	op, ok := elsewhere[strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(word)))]
	return op, ok
}
