package dialect

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/internal/lazy"
	"github.com/agentscript/agentscript/internal/text"
)

// ruleset is the part of JSON Schema that a target accepts, and its budgets. A limit of 0 means no limit.
type ruleset struct {
	target  string   // as in the model's name, "openai"
	aliases []string // other names of the target

	objectRoot bool // the root is an object without anyOf
	requireAll bool // every property is required; a property that may be absent is null
	dropNull   bool // a property that may be absent is not also nullable: both would count
	dicts      bool // additionalProperties may be a schema
	untyped    bool // {} means any value
	constants  bool // const is allowed; otherwise an enum of one value is used
	literals   literalRule
	tuples     tupleRule
	ordering   bool // propertyOrdering sets the order of properties

	refs      bool          // $defs and $ref
	recursion recursionRule // where a $ref may lead back
	refBeside besideRule    // how a description next to $ref is handled
	nullArray nullForm      // how null is added to a schema

	intBounds, numBounds bool // minimum and maximum of integers, of numbers
	pairedBounds         bool // an integer bound far from 0 needs the opposite bound
	exclusive            bool // exclusiveMinimum and exclusiveMaximum of numbers
	multiples            bool // multipleOf
	lengths              bool // minLength, maxLength
	maxItems             bool // maxItems
	minItems             int  // the greatest minItems allowed
	maxRepeat            int  // the greatest length or number of items that the target counts
	patterns             patternRule
	formats              string // of strings, separated by blanks
	keyChars             string // characters allowed in a property's name besides letters and digits; "" allows all
	keyLen               int
	plainNames           bool // names and listed texts must not contain quotes or line breaks

	budgets budgets
}

// recursionRule says where a schema may refer to one that contains it.
type recursionRule uint8

const (
	noRecursion        recursionRule = iota // it is unrolled
	optionalRecursion                       // in properties that are not required
	unboundedRecursion                      // anywhere
)

// besideRule says how a description next to a $ref is handled.
type besideRule uint8

const (
	besideDropped besideRule = iota // it goes into the prompt
	besideWrapped                   // the $ref moves into an anyOf
)

// nullForm says how null is added to a schema.
type nullForm uint8

const (
	nullAnyOf   nullForm = iota // anyOf of the schema and null
	nullScalars                 // "type": ["string", "null"], for scalars
	nullTypes                   // the same for all schemas that have a type
)

// literalRule says which values an enum may list.
type literalRule uint8

const (
	numberLiterals literalRule = iota // texts and numbers
	scalarLiterals                    // also true and false
	allLiterals                       // any value
)

// tupleRule says where prefixItems is allowed.
type tupleRule uint8

const (
	noTuples    tupleRule = iota
	fixedTuples           // for lists with exactly that many items
	openTuples            // with items for those after them
)

// patternRule says which regular expressions a target accepts.
type patternRule uint8

const (
	noPatterns       patternRule = iota
	portablePatterns             // what every dialect of regular expressions reads alike
	anchoredPatterns             // portable patterns in ^…$ without classes such as \d
)

// budgets are a target's budgets for one schema; 0 means unlimited.
type budgets struct {
	depth      int // nested objects and arrays
	properties int
	optionals  int // properties that are not required
	unions     int // schemas with anyOf or several types
	enumValues int // of all enums
	enumChars  int // of an enum with more than 250 values
	chars      int // of all names, enum values and constants
	name       int // of the schema's name
	bytes      int // of the schema's text
	grammar    bool
	// StrictTools is how many schemas a request may hold its tools to. The caller must keep this limit, and that of
	// the sums of Optionals and Unions over these schemas.
	strictTools int
}

// Bounds that no provider documents.
const (
	unrollDepth      = 4       // how often a type may contain itself before it becomes JSON text
	defaultMaxDepth  = 60      // of schemas, if the provider documents no limit
	maxSchemaBytes   = 1 << 19 // of any schema: larger requests are useless
	unrolledBytes    = 1 << 17 // of schemas with unrolled recursion
	grammarCeiling   = 100_000 // bytes of schema that llama.cpp's converter is known to handle
	grammarFloor     = 32 << 10
	maxGrammar       = 1 << 20
	grammarPerSchema = 4             // bytes of grammar kept per byte of schema, between floor and maximum
	bigEnum          = 250           // values of an enum beyond which its characters count
	safeInt          = 1<<53 - 1     // the greatest integer that every JSON reader holds exactly
	anyCount         = math.MaxInt32 // of items
)

// openAI is what OpenAI documents for its strict mode.
var openAI = ruleset{
	target: "openai", objectRoot: true, requireAll: true, constants: true, literals: scalarLiterals,
	refs: true, recursion: unboundedRecursion, refBeside: besideWrapped, nullArray: nullScalars,
	intBounds: true, numBounds: true, exclusive: true, multiples: true, maxItems: true, minItems: anyCount, patterns: portablePatterns,
	formats: "date-time time date duration email hostname ipv4 ipv6 uuid", plainNames: true,
	budgets: budgets{depth: 10, properties: 5000, enumValues: 1000, enumChars: 15000, chars: 120_000, name: 64, bytes: maxSchemaBytes},
}

// llamaCpp is what llama.cpp converts to grammars; Ollama and most servers of open models use it.
var llamaCpp = ruleset{
	target: "ollama", aliases: []string{"llama.cpp"}, dicts: true, untyped: true, constants: true, literals: allLiterals, tuples: fixedTuples,
	refs: true, recursion: unboundedRecursion, refBeside: besideDropped, nullArray: nullScalars,
	intBounds: true, pairedBounds: true, lengths: true, maxItems: true, minItems: 2000, maxRepeat: 2000, patterns: anchoredPatterns,
	formats: "date time date-time uuid",
	budgets: budgets{depth: defaultMaxDepth, name: 64, bytes: grammarCeiling, grammar: true},
}

// rules is the table of targets, in the order of [Targets]. It is read-only.
var rules = []ruleset{
	openAI,
	{
		target: "anthropic", objectRoot: true, dropNull: true, constants: true, literals: scalarLiterals,
		refs: true, recursion: noRecursion, refBeside: besideDropped, nullArray: nullAnyOf,
		minItems: 1, patterns: portablePatterns,
		formats:  "date-time time date duration email hostname ipv4 ipv6 uri uuid",
		keyChars: "_.-", keyLen: 64,
		budgets: budgets{depth: defaultMaxDepth, optionals: 24, unions: 16, name: 64, bytes: unrolledBytes, strictTools: 20},
	},
	{
		target: "gemini", aliases: []string{"google", "googleai"}, dicts: true, ordering: true, tuples: openTuples,
		refs: true, recursion: optionalRecursion, refBeside: besideDropped, nullArray: nullTypes,
		intBounds: true, numBounds: true, maxItems: true, minItems: anyCount,
		formats: "date-time date time",
		budgets: budgets{depth: defaultMaxDepth, bytes: maxSchemaBytes},
	},
	// Mistral documents no subset; its clients send what OpenAI accepts.
	openAI.as("mistral"),
	{
		target: "deepseek", objectRoot: true, requireAll: true,
		budgets: budgets{depth: defaultMaxDepth, name: 64, bytes: unrolledBytes},
	},
	// The subset depends on the route; OpenAI's is the one that all routes share.
	openAI.as("openrouter"),
	llamaCpp,
	llamaCpp.rooted("compat"),
}

func (r ruleset) as(target string) ruleset {
	r.target, r.aliases = target, nil
	return r
}

// rooted returns the rules for servers behind OpenAI's interface, some of which accept only an object as the root.
func (r ruleset) rooted(target string) ruleset {
	r = r.as(target)
	r.objectRoot = true
	return r
}

// Targets lists the names of the targets.
func Targets() []string {
	return text.Each(rules, func(r ruleset) string { return r.target })
}

// TargetOf returns the name of the target with the given name or alias.
func TargetOf(name string) (string, error) {
	r, err := rulesOf(name)
	return r.target, err
}

// rulesOf returns the rules of a target, given its name or an alias.
func rulesOf(target string) (ruleset, error) {
	for i := range rules {
		if rules[i].target == target || slices.Contains(rules[i].aliases, target) {
			return rules[i], nil
		}
	}
	return ruleset{}, fmt.Errorf("no schema dialect is known for %q: want one of %s", target, strings.Join(Targets(), ", "))
}

func (r *ruleset) takesFormat(name string) bool {
	return slices.Contains(strings.Fields(r.formats), name)
}

// takesPattern reports whether the target's schema may contain a pattern.
func (r *ruleset) takesPattern(p string) bool {
	switch r.patterns {
	case portablePatterns:
		return portable(p)
	case anchoredPatterns:
		return portable(p) && anchored(p)
	}
	return false
}

// portable reports whether a pattern means the same in every dialect of regular expressions: no flags, no named
// groups, no named classes, no escapes other than those of punctuation and \d \w \s and their opposites, only ASCII.
func portable(p string) bool {
	class := false
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c >= 0x80 || c < ' ':
			return false
		case c == '\\':
			if i++; i == len(p) {
				return false
			}
			e := p[i]
			letter := e >= 'a' && e <= 'z' || e >= 'A' && e <= 'Z' || e >= '0' && e <= '9'
			if letter && strings.IndexByte("dDwWsSntr", e) < 0 {
				return false
			}
		case class:
			class = c != ']'
			if c == '[' || c == '&' || c == '~' { // [:alpha:], and set operators of some dialects
				return false
			}
		case c == '[':
			class = true
			rest := strings.TrimPrefix(p[i+1:], "^")
			if strings.HasPrefix(rest, "]") {
				return false
			}
		case c == '{' && strings.HasPrefix(p[i+1:], ","):
			return false
		case c == '(' && strings.HasPrefix(p[i+1:], "?") && !strings.HasPrefix(p[i+1:], "?:"):
			return false
		}
	}
	return !class
}

// anchored reports whether a portable pattern is simple enough for grammars: in ^…$, without choices outside groups,
// classes such as \d or lazy repetition.
func anchored(p string) bool {
	if len(p) < 2 || p[0] != '^' || p[len(p)-1] != '$' || p[len(p)-2] == '\\' {
		return false
	}
	depth, class := 0, false
	body := p[1 : len(p)-1]
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c == '\\':
			i++
			if e := body[i]; e >= 'a' && e <= 'z' || e >= 'A' && e <= 'Z' {
				return false
			}
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '(':
			if strings.HasPrefix(body[i:], "(?") {
				return false
			}
			depth++
		case c == ')':
			depth--
		case c == '|' && depth == 0, c == '^', c == '$':
			return false
		case c == '?' && i > 0 && strings.IndexByte("*+?}", body[i-1]) >= 0 && (i < 2 || body[i-2] != '\\'):
			return false
		case c == '{' && !smallCount().MatchString(body[i:]):
			return false
		}
	}
	return true
}

// smallCount matches a repetition of small numbers such as {2,30}.
var smallCount = lazy.Regexp(`^\{[0-9]{1,3}(,[0-9]{0,3})?\}`)
