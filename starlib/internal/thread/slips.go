package thread

import (
	"regexp"
	"strings"
	"sync"
)

// slip is a mistake that the interpreter tells in its own words, and its remedy: an expansion
// of what the expression found.
type slip struct {
	says *regexp.Regexp
	help string
}

func slipOf(says, help string) slip { return slip{regexp.MustCompile(says), help} }

const (
	isNone   = "this is None: a function without return gives None"
	instance = "an instance is neither a list nor a dict: its fields are read one by one, x.name"
	toNumber = "a text becomes a number by int(s) or float(s)"
	toText   = "make it text: str(x)"
	emptied  = "it is empty: ask first, xs[0] if xs else None"
)

// slips are asked in their order; the first that fits is meant. They are made when a script
// has failed, so that those that do not need not wait.
var slips = sync.OnceValue(func() []slip {
	return []slip{
		// Numbers and texts.
		slipOf(`^int: invalid literal with base \d+: (-?\d+\.\d+)$`, `a text with a fraction is read by float: int(float("$1"))`),
		slipOf(`^int: invalid literal|^invalid float literal`, "the text is no number: ask first, s.isdigit(), or take the failure as a value in def main, attempt(float, s)"),
		slipOf(`division by zero$|modulo by zero$`, "ask first: a / b if b else 0"),
		slipOf(`^string (?:<|>|<=|>=) (?:int|float) not impl|^(?:int|float) (?:<|>|<=|>=) string not impl`, "a text and a number have no order: "+toNumber+"; a mixed list is sorted by sorted(xs, key = str)"),
		slipOf(`^(?:NoneType (?:<|>|<=|>=) \w+|\w+ (?:<|>|<=|>=) NoneType) not implemented`, "one side is None: a function without return gives None"),
		slipOf(`^unknown unary op: - string`, toNumber),
		slipOf(`^'in <string>' requires string`, "make it text: str(x) in s"),
		slipOf(`^join: in list, want string`, `join takes texts: ", ".join([str(x) for x in xs])`),
		slipOf(`^%\w format requires`, "%s takes any value; int(s) and float(s) make numbers of texts"),
		slipOf(`^not enough arguments for format string`, `several values are given as a tuple: "%s and %s" % (a, b)`),
		slipOf(`^too many arguments for format string`, "write one %s for each value"),
		slipOf(`^format: (?:tuple index out of range|keyword \w+ not found)`, "format gets a value for each {}, and one by name for each {name}"),
		slipOf(`^json\.decode: at offset`, "this is no JSON; what a model wrote is read leniently by T.decode(text) of a type"),

		// Lists, dicts and tuples.
		slipOf(`index -?\d+ out of range: empty`, emptied),
		slipOf(`argument is an empty sequence$`, "it is empty: ask first, max(xs) if xs else None"),
		slipOf(`index -?\d+ out of range`, "the first is xs[0], the last is xs[-1]; len(xs) tells how many there are"),
		slipOf(`^(?:list|tuple|string) index: got string`, `a list is indexed by numbers, xs[0]; by a name only a dict, d["key"], and an instance, x.name`),
		slipOf(`unhashable type: \w+$`, "a key does not change: use a str or a tuple, d[(a, b)]"),
		slipOf(`^index: value not in list|^remove: element not found`, "ask first: x in xs"),
		slipOf(`during iteration$`, "go over a copy: for x in list(xs)"),
		slipOf(`^string value does not support item assignment`, "a text does not change: make another, s.replace(old, new) or s[:i] + x + s[i:]"),
		slipOf(`^tuple value does not support item assignment`, "a tuple does not change: make a list, xs = list(t)"),
		slipOf(`^\w+ value does not support item assignment`, "only lists and dicts have items that can be set"),
		slipOf(`values to unpack|in sequence assignment$`, "write as many names on the left as there are values on the right: a, b = pair"),
		slipOf(`^(?:len: value of type NoneType has no len|NoneType value is not iterable)`, isNone),
		slipOf(`^(?:int|float) value is not iterable`, "to count, write for i in range(n)"),
		slipOf(`^len: value of type (?:int|float|bool) has no len`, "len is for texts, lists and dicts; the digits of a number are len(str(n))"),
		slipOf(`^len: value of type [A-Z]\w* has no len|^[A-Z]\w* value is not iterable`, instance),
		slipOf(`(?:got int|got float|got bool), want iterable$|is not iterable: (?:int|float|bool)$|is not iterable \(\w+\)$|^\w+: int value is not iterable`, "give it a list: [a, b]"),

		slipOf(`^duplicate key: (.+)$`, "leave one $1 out: a dict has one value for each key"),
		slipOf(`^(?:predicate (?:<|<=|>|>=) \w+|\w+ (?:<|<=|>|>=) predicate) not implemented`, "two conditions combine by &: gt(0) & lt(9)"),

		// Functions.
		slipOf(`^function (\w+) missing \d+ arguments? \((\w+)\)`, "write $1($2 = ...), or give the parameter a default"),
		slipOf(`^function (\w+) missing \d+ arguments? \(([\w, ]+)\)`, "write $1(...) with $2, or give them defaults"),
		slipOf(`^function (\w+) accepts (?:at most )?(\d+|no) `, "leave out what is too much, or add a parameter to def $1"),
		slipOf(`^function (\w+) got an unexpected keyword argument "?(\w+)"?`, "def $1 has no parameter $2: see how the others are called, or add it"),
		slipOf(`^invalid call of non-function \(string\)`, "this is a text; a function is written without quotes, and a type's name, type(x), is a text"),
		slipOf(`^invalid call of non-function \((?:list|tuple|dict)\)`, "items are read in brackets: xs[0], d[\"key\"]"),
		slipOf(`^invalid call of non-function \([A-Z]\w*\)`, "this is an instance already: its fields are x.name, a copy with changes is replace(x, name = ...)"),
		slipOf(`^local variable (\w+) referenced before assignment`, "assigning $1 anywhere in a function makes it a local name of all of it: use another name, or take the value as a parameter"),

		// Arguments of the interpreter's own functions.
		slipOf(`got (?:int|float|bool)(?: for \w+)?, want string$`, toText),
		slipOf(`got string(?: for \w+)?, want (?:int|float|int or float)$`, toNumber),
		slipOf(`got NoneType(?: for \w+)?, want \w+$`, isNone),
	}
})

// slipHelp is the remedy for what the interpreter says, "" when it is none of the slips.
func slipHelp(msg string) string {
	for _, s := range slips() {
		if m := s.says.FindStringSubmatchIndex(msg); m != nil {
			return string(s.says.ExpandString(nil, s.help, msg, m))
		}
	}
	return ""
}

// Methods of other languages, by the type that they are asked of.
var ForeignMethods = map[string]map[string]string{
	"str": {
		"len": "len(s)", "length": "len(s)", "size": "len(s)", "contains": "x in s", "includes": "x in s", "has": "x in s",
		"append": "s + x", "add": "s + x", "concat": "s + x", "trim": "s.strip()", "ltrim": "s.lstrip()", "rtrim": "s.rstrip()",
		"toUpperCase": "s.upper()", "to_upper": "s.upper()", "uppercase": "s.upper()", "toLowerCase": "s.lower()", "to_lower": "s.lower()", "lowercase": "s.lower()", "casefold": "s.lower()",
		"substring": "s[a:b]", "substr": "s[a:b]", "slice": "s[a:b]", "indexOf": "s.find(x)", "startsWith": "s.startswith(x)", "endsWith": "s.endswith(x)", "replaceAll": "s.replace(old, new)",
		"isnumeric": "s.isdigit()", "isdecimal": "s.isdigit()", "zfill": `fmt(s, "0>5")`, "ljust": `fmt(s, "<10")`, "rjust": `fmt(s, ">10")`, "center": `fmt(s, "^10")`,
		"reverse": `"".join(reversed(list(s.elems())))`, "toString": "s itself, which is a str", "decode": "json.decode(s), or T.decode(s) of a type",
	},
	"list": {
		"len": "len(xs)", "length": "len(xs)", "size": "len(xs)", "add": "xs.append(x)", "push": "xs.append(x)", "push_back": "xs.append(x)", "concat": "xs + ys",
		"sort": "ys = sorted(xs)", "reverse": "ys = reversed(xs)", "copy": "list(xs)", "contains": "x in xs", "includes": "x in xs", "has": "x in xs",
		"map": "[f(x) for x in xs]", "filter": "[x for x in xs if f(x)]", "forEach": "for x in xs:", "count": "len([x for x in xs if x == y])",
		"join": `", ".join(xs)`, "first": "xs[0]", "last": "xs[-1]", "get": "xs[i] if i < len(xs) else None", "indexOf": "xs.index(x)", "keys": "range(len(xs))", "items": "enumerate(xs)", "values": "xs itself",
		"sum": `sum(xs) of numbers, or "".join(xs) of texts`,
	},
	"dict": {
		"has_key": "k in d", "has": "k in d", "contains": "k in d", "copy": "dict(d)", "len": "len(d)", "length": "len(d)", "size": "len(d)",
		"iteritems": "d.items()", "entries": "d.items()", "append": `d["key"] = value`, "add": `d["key"] = value`, "put": `d["key"] = value`, "set": `d["key"] = value`, "remove": `d.pop("key")`, "delete": `d.pop("key")`,
		"fromkeys": "{k: None for k in ks}",
	},
	"tuple": {"append": "t + (x,)", "len": "len(t)", "sort": "sorted(t)", "add": "t + (x,)"},
}

// ForeignFields are what others call the fields of what sh and http give.
var ForeignFields = map[string]map[string]string{
	"HTTPResponse": {"body": "p.text", "content": "p.text", "data": "p.text", "json": "json.decode(p.text)", "status_code": "p.status", "code": "p.status", "ok": "p.status < 400"},
	"Completed":    {"output": "out.stdout", "out": "out.stdout", "err": "out.stderr", "returncode": "out.code", "exit_code": "out.code", "exitcode": "out.code", "status": "out.code", "rc": "out.code", "ok": "out.code == 0", "text": "out.stdout"},
}

// attributeHelp is the remedy for an attribute that the interpreter's own types do not have.
func attributeHelp(typ, name string) string {
	if meant := ForeignMethods[typ][name]; meant != "" {
		return "write " + meant
	}
	switch typ {
	case "int", "float", "bool":
		return "numbers and truth values have no methods: str(n) makes text, fmt(n, \".1f\") formats"
	case "dict":
		return "an entry of a dict is d[\"" + name + "\"]"
	case "tuple":
		return "an item of a tuple is t[0]"
	case "NoneType":
		return isNone
	}
	return ""
}

// operandHelp is the remedy for an operator that its operands do not have: type, operator, type.
func operandHelp(left, op, right string) string {
	number := func(t string) bool { return t == "int" || t == "float" }
	switch {
	case left == "NoneType" || right == "NoneType":
		return "one side is None: a function without return gives None"
	case left == "node" || right == "node":
		return "nodes are composed by >>, / and *, or by then, par and forum"
	case op == "in" || op == "not in":
		return "in asks a text, a list, a dict or a set"
	case left == "secret" || right == "secret":
		return `what stands before a secret is its prefix: secret("NAME", prefix = "Bearer ")`
	case op == "+" && left == "string":
		return `make it text: "..." + str(n), or "... {}".format(n)`
	case op == "+" && right == "string":
		return `make it text: str(n) + "..."; a number that is text is int(s) or float(s)`
	case op == "+" && left == "list" && right == "tuple":
		return "make both lists: xs + list(t)"
	case op == "+" && left == "list":
		return "a list takes one more item as xs + [x]"
	case op == "+" && right == "list":
		return "make it a list as well: [x] + xs"
	case op == "+" && left == "dict" && right == "dict":
		return "dicts are joined by |: a | b"
	case op == "-" && left == "list" && right == "list":
		return "write [x for x in a if x not in b]"
	case op == "-" && left == "string" && right == "string":
		return `write s.replace(part, ""), or s.removesuffix(part)`
	case op == "*" && (left == "string" || left == "list") && right == "float":
		return "repeat by a whole number: int(n)"
	case left == "string" && (number(right) || right == "string"), right == "string" && number(left):
		return toNumber
	case isInstance(left) || isInstance(right):
		return "operators take what the fields hold: x.name"
	}
	return ""
}

// isInstance reports whether the interpreter's name of a type is that of a schema.
func isInstance(typ string) bool { return typ != "" && strings.ToLower(typ[:1]) != typ[:1] }
