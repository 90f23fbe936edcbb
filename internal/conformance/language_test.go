package conformance

import "testing"

// Promise 2.1 (language): `list[str]`, `dict[str, int]`, `str | None` and `A | B` are expressions
// that yield types; two of one structure are equal and the same dict key.
func TestPromise_2_1_TypesAreValues(t *testing.T) { t.Skip("not built: starlib") }

// Promise 2.2 (language): schemas, unions and enums are told apart by name and content, and take
// their name from the variable they are assigned to; where there is none, `_name=` is asked for.
func TestPromise_2_2_DeclarationsAreNominal(t *testing.T) { t.Skip("not built: starlib") }

// Promise 2.3 (language): a default or `T | None` takes a field out of what a model must send; all
// other fields are required.
func TestPromise_2_3_RequiredFields(t *testing.T) { t.Skip("not built: starlib") }

// Promise 2.4 (language): an instance is immutable, is compared by value, and is written as JSON in
// the declared order of its fields.
func TestPromise_2_4_Instances(t *testing.T) { t.Skip("not built: starlib") }

// Promise 2.5 (language): an agent's input and output are `str` unless it says otherwise, and `run=`
// or `prompt=` without skills makes its one skill.
func TestPromise_2_5_AgentDefaults(t *testing.T) { t.Skip("not built: starlib") }

// Promise 2.6 (language): `then par branch loop forum each` mean the same as functions, as methods
// and as operators.
func TestPromise_2_6_OneMeaning(t *testing.T) { t.Skip("not built: starlib") }

// Promise 2.7 (language): an operator extends an unnamed left operand made by the same operator; a
// function never does.
func TestPromise_2_7_Flattening(t *testing.T) { t.Skip("not built: starlib") }

// Promise 2.8 (language): a prompt is dedented and otherwise literal, braces too; a `template` is
// checked against its input type.
func TestPromise_2_8_Prompts(t *testing.T) { t.Skip("not built: starlib") }

// Promise 2.9 (language): `main` may be a node, whose input is converted by its type, or a function,
// whose parameters are its input.
func TestPromise_2_9_MainNode(t *testing.T) { t.Skip("not built: starlib") }

// Promise 2.10 (language): `load()` takes names from other files below the script's directory; files
// that load each other in a circle are an error that shows the circle.
func TestPromise_2_10_Load(t *testing.T) { t.Skip("not built: starlib") }

// Promise 2.11 (language): `file()` reads below the script's directory and nowhere else, not through
// a symbolic link either.
func TestPromise_2_11_File(t *testing.T) { t.Skip("not built: starlib") }

// Promise 2.12 (language): `fmt`, `print`, `fail`, `json` and the text helpers do what their
// documentation shows.
func TestPromise_2_12_Helpers(t *testing.T) { t.Skip("not built: starlib") }

// Promise 2.13 (language): the language reference, the help, the suggestions, the stub and the
// unpacking of arguments all come from one table of builtins.
func TestPromise_2_13_OneTable(t *testing.T) { t.Skip("not built: starlib") }

// Promise 2.14 (language): the description, the schema or the prompt fragment of an agent's output
// type, and its skills' descriptions, stand in the system message that a model gets.
func TestPromise_2_14_SystemPrompt(t *testing.T) { t.Skip("not built: starlib") }
