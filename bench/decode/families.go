package main

import "strings"

// family makes texts of about n bytes that are designed to make a decoder slow or to crash it.
type family struct {
	name string
	make func(n int) string
}

func repeat(unit string) func(int) string { return wrap("", unit, "") }

func wrap(open, unit, end string) func(int) string {
	return func(n int) string { return open + strings.Repeat(unit, max(1, n/len(unit))) + end }
}

// halves makes texts whose first half opens and whose second half closes.
func halves(open, end string) func(int) string {
	return func(n int) string {
		k := max(1, n/(len(open)+len(end)))
		return strings.Repeat(open, k) + strings.Repeat(end, k)
	}
}

var families = []family{
	{"[ and nothing else", repeat("[")},
	{"{ and nothing else", repeat("{")},
	{"objects never closed", repeat(`{"a":`)},
	{"lists in lists, closed", halves("[", "]")},
	{"objects closed as lists", halves(`{"a":[`, "}")},
	{"objects between prose", repeat(`{"a":1} and then `)},
	{"an object per line", repeat("{\"a\":1}\n")},
	{"many fences", repeat("```json\n{\"a\":1}\n```\n")},
	{"fences never closed", repeat("```json\n{\"a\": \"x\n")},
	{"braces in prose", repeat("see [note] and {this} too, ")},
	{"reasoning never closed", repeat("<think>{\"a\":1} ")},
	{"unescaped inner quotes", wrap(`{"a": "`, `he said "hi" and `, `"}`)},
	{"inner quotes before commas", wrap(`{"a": "`, `x", y "z, `, `"}`)},
	{"apostrophes in single quotes", wrap(`{'a': '`, `it's `, `'}`)},
	{"no end quotes", wrap(`{`, `"k": "v, `, `}`)},
	{"no start quotes", wrap(`{`, `k": v", `, `}`)},
	{"nothing but quotes", wrap(`{"a":`, `"`, `}`)},
	{"keys without values", wrap(`{`, `"a", `, `}`)},
	{"strings added with +", wrap(`{"a": "x"`, ` + "y"`, `}`)},
	{"an escaped document", wrap(`{`, `\"a\": \"b\", `, `}`)},
	{"backslashes in a string", wrap(`["`, `\`, ``)},
	{"calls of calls", wrap(`[`, `f(`, `]`)},
	{"comments", wrap(`[`, "/* x */ 1, // y\n", `]`)},
	{"numbers without commas", wrap(`[`, `1 `, `]`)},
	{"JSON in strings", wrap(`[`, `"{\"a\":\"[1]\"}",`, `]`)},
}
