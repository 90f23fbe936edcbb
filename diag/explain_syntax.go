package diag

// syntaxEntries explains AS1xx.
func syntaxEntries() []Entry {
	return []Entry{
		{SyntaxError, "syntax error",
			"The file is not Starlark. Starlark looks like Python and leaves much of it out; where a construct of Python is recognised, a more special code says what to write instead. " +
				"A syntax error ends the checking of its file, since nothing after it can be trusted. " +
				"The caret stands on the token that could not be understood; the mistake may lie just before it, such as a bracket that was never closed.",
			"total = (1 + 2\nprint(total)\n",
			"total = (1 + 2)\nprint(total)\n"},
		{FString, "f-string",
			"Starlark has no f-strings. Use the `format` method: `\"{}\".format(x)`, with a name where a value is used twice. " +
				"Numbers are formatted by `fmt(x, \".1f\")`. Prompts that take fields of the agent's input are written as `template(\"… {{field}} …\")`, which is checked against the input type.",
			"def greet(name):\n    return f\"hello {name}\"\n",
			"def greet(name):\n    return \"hello {}\".format(name)\n"},
		{TryExcept, "try and except",
			"Starlark has no exceptions to catch. In `def main`, `attempt(f, x)` calls f and gives a value with `.ok`, `.value` and `.error`. " +
				"It calls nodes as well, and a second try is a second call. " +
				"A model's answer that cannot be decoded is handled by `on_bad_output`.",
			"def compile(path):\n    return \"compiled \" + path\n\ndef main(path):\n    try:\n        return compile(path)\n    except Exception as e:\n        return \"failed\"\n",
			"def compile(path):\n    return \"compiled \" + path\n\ndef main(path):\n    result = attempt(compile, path)\n    return result.value if result.ok else \"failed\"\n"},
		{ClassStatement, "class",
			"Starlark has no classes. Data is declared with `schema`: each field is a keyword with a type or a `field(...)`, and the type takes its name from the variable it is assigned to. " +
				"Behaviour goes into functions that take such values.",
			"class Finding:\n    text: str\n    line: int = 0\n",
			"Finding = schema(\"One finding\", text = str, line = field(int, default = 0))\n"},
		{ImportStatement, "import",
			"Starlark has no import statement. `load(\"lib/reviewers.star\", \"reviewer\")` brings names of another file into this one; `load(\"x.star\", mine = \"theirs\")` renames. " +
				"Python packages cannot be used: a script sees the builtins of agentscript, which need no loading, and what the host grants.",
			"from lib.reviewers import reviewer\n",
			"load(\"lib/reviewers.star\", \"reviewer\")\n"},
		{IsOperator, "is",
			"Starlark has no identity operator. Write `x == None` and `x != None`. To ask for the type of a value use `isinstance(x, T)`.",
			"def main(x = \"\"):\n    return x is None\n",
			"def main(x = \"\"):\n    return x == None\n"},
		{PowerOperator, "power operator",
			"Starlark has no `**` operator; `**` only spreads a dict over keyword arguments. Multiply, shift (`1 << n` is the n-th power of two), or write a helper that multiplies in a loop.",
			"area = 3 ** 2\n",
			"area = 3 * 3\n"},
		{FormatSpec, "format specification",
			"The `%` operator and the `format` method of Starlark know no width, precision or alignment: `%s %d %r %x %o %c %e %f %g` and `{}` stand alone. " +
				"Format the number first: `fmt(x, \".1f\")` takes Python's format specifications.",
			"def rounded(x):\n    return \"%.1f\" % x\n",
			"def rounded(x):\n    return fmt(x, \".1f\")\n"},
		{TypeAnnotation, "type annotation",
			"Starlark has no type annotations, neither on parameters nor on variables. The types of a tool are given to `tool(f, {\"path\": str})`, " +
				"or a parameter declares itself by a default that is a type or a `field(...)`: `def compile(path = str)`. The result type of a tool is `returns =`.",
			"def compile(path: str) -> str:\n    return path\n",
			"def compile(path = str):\n    return path\n"},
		{AdjacentStrings, "adjacent strings",
			"Starlark does not join neighbouring string literals. Put `+` between them, or use one triple-quoted string; prompts are dedented, so it may be indented like the code around it.",
			"prompt = (\"Review the code. \"\n          \"Be strict.\")\n",
			"prompt = (\"Review the code. \" +\n          \"Be strict.\")\n"},
		{ChainedComparison, "chained comparison",
			"Comparisons do not chain in Starlark. Write both of them and join them with `and`.",
			"def fair(n):\n    return 50 <= n < 80\n",
			"def fair(n):\n    return 50 <= n and n < 80\n"},
		{PythonOnly, "construct of another language",
			"Starlark leaves this construct out: `with`, `async`, `await`, `yield`, `raise`, `global`, `nonlocal`, `del`, `assert`, `:=`, decorators, a star in an assignment; and it is not C or JavaScript: `&&`, `||`, `!x`, `null`, `true`, `x++`. " +
				"The help of the message shows what to write instead. `raise` becomes `fail(\"…\")`, which ends the run or is caught by `attempt`; nodes run concurrently through `par` and `each` rather than `async`.",
			"def check(n):\n    assert n > 0, \"n must be positive\"\n",
			"def check(n):\n    if not n > 0:\n        fail(\"n must be positive\")\n"},
	}
}
